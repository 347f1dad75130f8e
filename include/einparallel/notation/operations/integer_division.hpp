#pragma once
// Quotients and remainders of integers, without a signal: where an integer is divided by zero the result is 0 and the
// thread remembers it, for whoever computes the statement.

#include <einparallel/notation/compiled.hpp>

#include <type_traits>

namespace einparallel::detail {

/// Whether this thread divided an integer by zero since somebody asked.
[[gnu::visibility("default")]] inline constinit thread_local bool divided_by_zero = false;

/// a / b towards zero, modulo 2ⁿ: the least integer by −1 is itself.
template <class T>
EINPARALLEL_HOST_DEVICE constexpr T quotient(T a, T b) {
    if (b == T(0)) {
#if !defined(__CUDA_ARCH__)
        divided_by_zero = true;
#endif
        return T(0);
    }
    if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) {
            using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
            return T(U(0) - U(a));
        }
    }
    return T(a / b);
}
/// a − b · (a / b), which has the sign of a.
template <class T>
EINPARALLEL_HOST_DEVICE constexpr T remainder(T a, T b) {
    if (b == T(0)) {
#if !defined(__CUDA_ARCH__)
        divided_by_zero = true;
#endif
        return T(0);
    }
    if constexpr (std::is_signed_v<T>) {
        return b == T(-1) ? T(0) : T(a % b);
    } else {
        return T(a % b);
    }
}

}  // namespace einparallel::detail
