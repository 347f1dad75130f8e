#pragma once
// Quotients and remainders of integers, without a signal: where an integer is divided by zero the result is 0 and the
// thread remembers it, for whoever computes the statement.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operations/reductions.hpp>

#include <type_traits>

namespace einparallel::detail {

/// True where this thread has divided an integer by zero since the last time this was checked.
[[gnu::visibility("default")]] inline constinit thread_local bool divided_by_zero = false;

/// True where b is not 0; else, on the host, sets divided_by_zero.
template <class T>
EINPARALLEL_HOST_DEVICE constexpr bool is_divisor(T b) {
#if !defined(__CUDA_ARCH__)
    if (b == T(0)) {
        divided_by_zero = true;
    }
#endif
    return b != T(0);
}

/// a / b, rounded towards zero, modulo 2ⁿ: the least integer divided by −1 is itself. 0 where b is 0.
template <class T>
EINPARALLEL_HOST_DEVICE constexpr T quotient(T a, T b) {
    if (!is_divisor(b)) {
        return T(0);
    }
    if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) {
            return T(wrapping<T>(0) - wrapping<T>(a));
        }
    }
    return T(a / b);
}
/// a − b · (a / b), which has the sign of a. 0 where b is 0.
template <class T>
EINPARALLEL_HOST_DEVICE constexpr T remainder(T a, T b) {
    if (!is_divisor(b)) {
        return T(0);
    }
    if constexpr (std::is_signed_v<T>) {
        return b == T(-1) ? T(0) : T(a % b);
    } else {
        return T(a % b);
    }
}

}  // namespace einparallel::detail
