#pragma once
// Sum and product of every element type, without what C++ adds on its own: promotion, undefined overflow, Annex G.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// The semiring of Σ of products over T. Integers wrap around; bool is (or, and); a complex product is the four real
/// ones, as BLAS computes it (no recovery of infinities).
template <Element T>
struct sum_of_products {
    static constexpr T zero = T{};
    static constexpr T one = T(1);

    static constexpr T plus(T left, T right) {
        if constexpr (std::is_same_v<T, bool>) {
            return left || right;
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(wide(left) + wide(right));
        } else {
            return left + right;
        }
    }

    static constexpr T times(T left, T right) {
        if constexpr (std::is_same_v<T, bool>) {
            return left && right;
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(wide(left) * wide(right));
        } else if constexpr (is_complex<T>::value) {
            return T(left.real() * right.real() - left.imag() * right.imag(),
                     left.real() * right.imag() + left.imag() * right.real());
        } else {
            return left * right;
        }
    }

    /// `count` times `value` summed up.
    static constexpr T repeated(T value, long long count) {
        if constexpr (std::is_same_v<T, bool>) {
            return value && count > 0;
        } else if constexpr (std::is_integral_v<T>) {
            return times(value, static_cast<T>(count));
        } else if constexpr (is_complex<T>::value) {
            return value * static_cast<typename T::value_type>(count);
        } else {
            return value * static_cast<T>(count);
        }
    }

private:
    /// Unsigned and at least as wide as unsigned int, so that neither promotion nor overflow is signed.
    template <std::integral I>
    static constexpr auto wide(I value) {
        if constexpr (sizeof(I) < sizeof(unsigned)) {
            return static_cast<unsigned>(value);
        } else {
            return static_cast<std::make_unsigned_t<I>>(value);
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
