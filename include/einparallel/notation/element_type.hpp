#pragma once
// The element types that a tensor can hold, also as run-time values: vertices and buffers are untyped, handles are
// typed.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/half.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace einparallel {

namespace detail {

/// An ordered list of types.
template <class... T>
struct type_list {
    static constexpr std::size_t size = sizeof...(T);
};

/// True for the half types, which operations compute with as floats.
template <class T>
inline constexpr bool is_half = false;
template <char Kind>
inline constexpr bool is_half<half_type<Kind>> = true;
using half_elements = type_list<float16, bfloat16, float8_e4m3, float8_e5m2>;
/// The half types that matrix products read directly. The other half types become floats when a product packs them.
using multiplied_halves = type_list<float16, bfloat16>;

/// The type in which operations compute with elements of type T: float for a half type, else T.
template <class T>
using computed_t = std::conditional_t<is_half<T>, float, T>;
template <class T>
EINPARALLEL_HOST_DEVICE constexpr computed_t<T> computed(T x) {
    return x;
}

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::bool_constant<std::is_same_v<T, float> || std::is_same_v<T, double>> {};

/// The type of the real part of a T; T itself where it is not complex.
template <class T>
struct real_part : std::type_identity<T> {};
template <class R>
struct real_part<std::complex<R>> : std::type_identity<R> {};
template <class T>
using real_part_t = typename real_part<T>::type;

template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> || is_complex<T>::value ||
                                   is_half<T> ||
                                   (std::is_integral_v<T> && std::is_same_v<T, std::remove_cv_t<T>> && sizeof(T) <= 8);

/// The integer type of `Bytes` bytes, or of 8 bytes where `Bytes` is larger than 4.
template <std::size_t Bytes, bool IsSigned>
constexpr auto integer_of() {
    if constexpr (Bytes == 1) {
        return std::type_identity<std::conditional_t<IsSigned, std::int8_t, std::uint8_t>>();
    } else if constexpr (Bytes == 2) {
        return std::type_identity<std::conditional_t<IsSigned, std::int16_t, std::uint16_t>>();
    } else if constexpr (Bytes == 4) {
        return std::type_identity<std::conditional_t<IsSigned, std::int32_t, std::uint32_t>>();
    } else {
        return std::type_identity<std::conditional_t<IsSigned, std::int64_t, std::uint64_t>>();
    }
}

/// The common type of an A and a B. Two integers give the smallest integer type that holds both; a signed integer and
/// an unsigned one of 64 bits give the signed type of 64 bits, modulo 2⁶⁴. An integer and a real number give the real
/// type. A real and a complex number give the complex type of the larger precision. Half types count as float.
template <class A, class B>
constexpr auto arithmetic_result() {
    using X = real_part_t<A>;
    using Y = real_part_t<B>;
    if constexpr (is_half<A> || is_half<B>) {
        return arithmetic_result<computed_t<A>, computed_t<B>>();
    } else if constexpr (std::is_same_v<A, B> || std::is_same_v<B, bool>) {
        return std::type_identity<A>();
    } else if constexpr (std::is_same_v<A, bool>) {
        return std::type_identity<B>();
    } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
        constexpr bool is_signed = std::is_signed_v<A> || std::is_signed_v<B>;
        constexpr auto needs = [](std::size_t bytes, bool own) { return own == is_signed ? bytes : 2 * bytes; };
        return integer_of<std::max(needs(sizeof(A), std::is_signed_v<A>), needs(sizeof(B), std::is_signed_v<B>)),
                          is_signed>();
    } else if constexpr (!is_complex<A>::value && !is_complex<B>::value) {
        return std::common_type<A, B>();
    } else if constexpr (std::is_integral_v<A> || std::is_integral_v<B>) {
        return std::type_identity<std::complex<std::conditional_t<std::is_integral_v<A>, Y, X>>>();
    } else {
        return std::type_identity<std::complex<std::common_type_t<X, Y>>>();
    }
}
template <class A, class B>
using arithmetic_t = typename decltype(arithmetic_result<A, B>())::type;

/// x as an element of type To. Between complex types, the real and the imaginary part are converted separately.
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

/// Types that may be elements: float, double, their std::complex, float16, bfloat16, float8_e4m3, float8_e5m2, integers
/// of up to 64 bits and bool.
template <class T>
concept Element = detail::is_element<T>;

/// An element type as a run-time value: a kind of number and a size in bytes. The kinds are NumPy's one-letter codes b
/// bool, i signed, u unsigned, f real and c complex. B, E and F stand for bfloat16, float8_e4m3 and float8_e5m2, for
/// which NumPy has no codes.
struct element_type {
    char kind = 'f';          ///< as in NumPy: f, c, i, u, b; or B, E, F
    std::uint32_t bytes = 0;  ///< of one element

    friend constexpr bool operator==(const element_type&, const element_type&) = default;
};

/// The element_type that stands for T.
template <Element T>
constexpr element_type element_type_of() {
    if constexpr (detail::is_half<T>) {
        return {T::kind, sizeof(T)};
    } else {
        constexpr char kind = std::is_same_v<T, bool>        ? 'b'
                              : std::is_floating_point_v<T>  ? 'f'
                              : detail::is_complex<T>::value ? 'c'
                              : std::is_signed_v<T>          ? 'i'
                                                             : 'u';
        return {kind, sizeof(T)};
    }
}

namespace detail {

/// Calls visit(std::type_identity<T>()) for the T of the list that `type` stands for, if the list has it.
template <class... T>
constexpr void with_element_among(type_list<T...> /*list*/, element_type type, const auto& visit) {
    static_cast<void>(((element_type_of<T>() == type && (visit(std::type_identity<T>()), true)) || ...));
}
constexpr void with_half(element_type type, const auto& visit) {
    with_element_among(half_elements(), type, visit);
}
template <class... T>
constexpr bool is_element_among(type_list<T...> /*list*/, element_type type) {
    return ((element_type_of<T>() == type) || ...);
}
constexpr bool is_half_type(element_type type) {
    return is_element_among(half_elements(), type);
}
/// True for the half types that matrix products read directly (multiplied_halves).
constexpr bool is_multiplied_half(element_type type) {
    return is_element_among(multiplied_halves(), type);
}

/// The type in which operations compute with elements of type `element`: float for a half type, else `element`.
constexpr element_type computed(element_type element) {
    return is_half_type(element) ? element_type_of<float>() : element;
}

/// NumPy's short name of an element type: f8, c16, i4; B2, E1, F1.
inline std::string name_of_element(element_type element) {
    return element.kind + std::to_string(element.bytes);
}

/// The C++ name of an element type, for sentences: double, complex<float>, int32, float16.
inline std::string written_element(element_type element) {
    switch (element.kind) {
        case 'b':
            return "bool";
        case 'B':
            return "bfloat16";
        case 'E':
            return "float8_e4m3";
        case 'F':
            return "float8_e5m2";
        case 'c':
            return element.bytes == 8 ? "complex<float>" : "complex<double>";
        case 'f':
            return element.bytes == 8 ? "double" : element.bytes == 4 ? "float" : "float16";
        default:
            return (element.kind == 'i' ? "int" : "uint") + std::to_string(8 * element.bytes);
    }
}

/// All element types except the half types.
using whole_elements =
    type_list<float, double, std::complex<float>, std::complex<double>, bool, std::int8_t, std::int16_t, std::int32_t,
              std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
constexpr void with_element(element_type type, const auto& visit) {
    with_half(type, visit);
    with_element_among(whole_elements(), type, visit);
}

/// True where `type` stands for an element type of the library.
constexpr bool is_element_type(element_type type) {
    return is_half_type(type) || is_element_among(whole_elements(), type);
}

}  // namespace detail

}  // namespace einparallel
