#pragma once
// What the library can hold in a tensor, as a run-time value: vertices and buffers are untyped, handles are not.

#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel {

namespace detail {

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::bool_constant<std::is_same_v<T, float> || std::is_same_v<T, double>> {};

template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> || is_complex<T>::value ||
                                   (std::is_integral_v<T> && std::is_same_v<T, std::remove_cv_t<T>> && sizeof(T) <= 8);

/// Two numbers that a computation may take for one another: 0.0 and −0.0 are not, a NaN and itself are.
template <class T>
bool same_bits(const T& a, const T& b) {
    using bytes = std::array<unsigned char, sizeof(T)>;
    return std::bit_cast<bytes>(a) == std::bit_cast<bytes>(b);
}

}  // namespace detail

/// Types that may be elements: float, double, their std::complex, integers of up to 64 bits and bool.
template <class T>
concept Element = detail::is_element<T>;

/// Kind of number, in NumPy's one-letter code (io reads it from files): b bool, i signed, u unsigned, f real, c
/// complex. Together with its size in bytes it names an element type.
struct element_type {
    char kind = 'f';        ///< as in NumPy: f, c, i, u, b
    std::size_t bytes = 0;  ///< of one element

    friend constexpr bool operator==(const element_type&, const element_type&) = default;
};

/// The run-time value for T.
template <Element T>
constexpr element_type element_type_of() {
    if constexpr (std::is_same_v<T, bool>) {
        return {'b', sizeof(T)};
    } else if constexpr (std::is_integral_v<T>) {
        return {std::is_signed_v<T> ? 'i' : 'u', sizeof(T)};
    } else if constexpr (std::is_floating_point_v<T>) {
        return {'f', sizeof(T)};
    } else {
        return {'c', sizeof(T)};
    }
}

}  // namespace einparallel
