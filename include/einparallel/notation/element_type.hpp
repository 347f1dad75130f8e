#pragma once
// What the library can hold in a tensor, as a run-time value: vertices and buffers are untyped, handles are not.

#include <einparallel/notation/compiled.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace einparallel {

namespace detail {

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::bool_constant<std::is_same_v<T, float> || std::is_same_v<T, double>> {};

/// The type of the real part.
template <class T>
struct real_part : std::type_identity<T> {};
template <class R>
struct real_part<std::complex<R>> : std::type_identity<R> {};
template <class T>
using real_part_t = typename real_part<T>::type;

template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> || is_complex<T>::value ||
                                   (std::is_integral_v<T> && std::is_same_v<T, std::remove_cv_t<T>> && sizeof(T) <= 8);

/// The type of an arithmetic expression on two elements: std::common_type, with complex against real of another
/// precision.
template <class A, class B>
constexpr auto arithmetic_result() {
    using X = real_part_t<A>;
    using Y = real_part_t<B>;
    if constexpr (std::is_same_v<A, B> || (!is_complex<A>::value && !is_complex<B>::value)) {
        return std::common_type<A, B>();
    } else if constexpr (std::is_integral_v<A> || std::is_integral_v<B>) {
        return std::type_identity<std::complex<std::conditional_t<std::is_integral_v<A>, Y, X>>>();
    } else {
        return std::type_identity<std::complex<std::common_type_t<X, Y>>>();
    }
}
template <class A, class B>
using arithmetic_t = typename decltype(arithmetic_result<A, B>())::type;

/// x as an element of type To; between complex types part by part.
template <class To, class From>
EINPARALLEL_HOST_DEVICE constexpr To converted(From x) {
    if constexpr (std::is_same_v<To, From>) {
        return x;
    } else if constexpr (is_complex<To>::value && is_complex<From>::value) {
        using Real = typename To::value_type;
        return To(Real(x.real()), Real(x.imag()));
    } else if constexpr (is_complex<To>::value) {
        return To(static_cast<typename To::value_type>(x));
    } else {
        return static_cast<To>(x);
    }
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
    constexpr char kind = std::is_same_v<T, bool>        ? 'b'
                          : std::is_floating_point_v<T>  ? 'f'
                          : detail::is_complex<T>::value ? 'c'
                          : std::is_signed_v<T>          ? 'i'
                                                         : 'u';
    return {kind, sizeof(T)};
}

namespace detail {

/// NumPy's short name of an element type: f8, c16, i4.
inline std::string name_of_element(element_type element) {
    return element.kind + std::to_string(element.bytes);
}

/// visit(std::type_identity<T>()) for the T that has this run-time value.
constexpr void with_element(element_type type, const auto& visit) {
    const auto among = [&]<class... T>(std::type_identity<T>... types) {
        static_cast<void>(((element_type_of<T>() == type && (visit(types), true)) || ...));
    };
    among(std::type_identity<float>(), std::type_identity<double>(), std::type_identity<std::complex<float>>(),
          std::type_identity<std::complex<double>>(), std::type_identity<bool>(), std::type_identity<std::int8_t>(),
          std::type_identity<std::int16_t>(), std::type_identity<std::int32_t>(), std::type_identity<std::int64_t>(),
          std::type_identity<std::uint8_t>(), std::type_identity<std::uint16_t>(), std::type_identity<std::uint32_t>(),
          std::type_identity<std::uint64_t>());
}

/// Some T has this run-time value.
constexpr bool is_element_type(element_type type) {
    bool found = false;
    with_element(type, [&](auto /*identity*/) { found = true; });
    return found;
}

}  // namespace detail

}  // namespace einparallel
