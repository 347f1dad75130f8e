#pragma once
// What the library can hold in a tensor, as a run-time value: vertices and buffers are untyped, handles are not.

#include <einparallel/notation/compiled.hpp>

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

/// A number of 16 bits, which is stored and sent as such: binary16 of IEEE 754, or the upper half of a float.
/// Arithmetic is that of float, which holds every value: a half is a float where it is read, and a float is rounded to
/// the nearest one, ties to even, where it is written.
template <char Kind>
class half_type {
public:
    half_type() = default;
    /// The nearest one, rounded once.
    ///@{
    constexpr half_type(float x) : bits_(Kind == 'B' ? brain_of(x) : binary_of(x)) {}  // NOLINT
    constexpr half_type(double x) : half_type(odd(x)) {}                               // NOLINT
    template <class T>
        requires std::is_integral_v<T>
    constexpr half_type(T x) : half_type(odd(double_of(x))) {}  // NOLINT(google-explicit-constructor)
    ///@}

    /// The same number.
    constexpr operator float() const {  // NOLINT(google-explicit-constructor)
        const auto sign = std::uint32_t(bits_ & 0x8000U) << 16U;
        const auto rest = std::uint32_t(bits_ & 0x7fffU);
        if constexpr (Kind == 'B') {
            return std::bit_cast<float>(sign | rest << 16U);
        } else if (rest < 0x400) {  // subnormal
            return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(float(rest) * 0x1p-24F));
        } else {
            return std::bit_cast<float>(sign | ((rest << 13U) + (rest >= 0x7c00 ? 0x70000000U : 0x38000000U)));
        }
    }

    /// As it is stored.
    [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
    /// The one that is stored so.
    static constexpr half_type of_bits(std::uint16_t bits) {
        half_type made{};
        made.bits_ = bits;
        return made;
    }

private:
    /// A double from which a half is rounded as from x itself.
    template <class T>
    static constexpr double double_of(T x) {
        if constexpr (sizeof(T) < 8) {
            return double(x);
        } else {
            constexpr T tail = 4096;  // a double may lack so many of the last values
            T most = x / tail;
            if (most * tail == x || (most < 0 ? -1 : 1) * double(most) < 0x1p41) {
                return double(x);
            }
            most = most % 2 != 0 ? most : most < 0 ? most - 1 : most + 1;
            return double(most) * double(tail);
        }
    }
    /// A float from which a half is rounded as from x itself: an odd one where there is none for x.
    static constexpr float odd(double x) {
        const auto near = float(x);
        if (double(near) == x || x != x) {
            return near;
        }
        auto bits = std::bit_cast<std::uint32_t>(near);
        bits -= (x < 0 ? double(near) < x : double(near) > x) ? 1U : 0U;
        return std::bit_cast<float>(bits | 1U);
    }
    static constexpr std::uint16_t brain_of(float x) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        return std::uint16_t(x != x ? bits >> 16U | 0x40U : (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
    }
    static constexpr std::uint16_t binary_of(float x) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        const std::uint32_t sign = bits >> 16U & 0x8000U;
        const std::uint32_t rest = bits & 0x7fffffffU;
        if (x != x) {
            return std::uint16_t(sign | 0x7e00U | (rest >> 13U & 0x3ffU));
        }
        if (rest >= 0x477ff000U) {  // 65520 and more
            return std::uint16_t(sign | 0x7c00U);
        }
        if (rest < 0x38800000U) {  // a multiple of 2^-24, as the last bits of a sum with a half
            return std::uint16_t(sign |
                                 (std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + 0.5F) - 0x3f000000U));
        }
        return std::uint16_t(sign | (rest + 0xfffU + (rest >> 13U & 1U) - 0x38000000U) >> 13U);
    }

    std::uint16_t bits_;
};

using float16 = half_type<'f'>;   ///< 5 bits of exponent, 11 of precision: up to 65,504
using bfloat16 = half_type<'B'>;  ///< 8 bits of exponent, 8 of precision: as far as float

}  // namespace einparallel

/// @cond doxygen finds no place for it
// Those of a half; what is not said here is as of float.
template <char Kind>
class std::numeric_limits<einparallel::half_type<Kind>> : public std::numeric_limits<float> {
    using half = einparallel::half_type<Kind>;
    static constexpr bool is_brain = Kind == 'B';
    static constexpr half either(std::uint16_t brain, std::uint16_t binary) {
        return half::of_bits(is_brain ? brain : binary);
    }

public:
    static constexpr int digits = is_brain ? 8 : 11, digits10 = is_brain ? 2 : 3, max_digits10 = is_brain ? 4 : 5;
    static constexpr int min_exponent = is_brain ? -125 : -13, max_exponent = is_brain ? 128 : 16;
    static constexpr int min_exponent10 = is_brain ? -37 : -4, max_exponent10 = is_brain ? 38 : 4;
    static constexpr half min() { return either(0x0080, 0x0400); }
    static constexpr half max() { return either(0x7f7f, 0x7bff); }
    static constexpr half lowest() { return either(0xff7f, 0xfbff); }
    static constexpr half epsilon() { return either(0x3c00, 0x1400); }
    static constexpr half round_error() { return either(0x3f00, 0x3800); }
    static constexpr half infinity() { return either(0x7f80, 0x7c00); }
    static constexpr half quiet_NaN() { return either(0x7fc0, 0x7e00); }
    static constexpr half signaling_NaN() { return either(0x7fa0, 0x7d00); }
    static constexpr half denorm_min() { return half::of_bits(1); }
};
/// @endcond

namespace einparallel {

namespace detail {

/// Types, in an order.
template <class... T>
struct type_list {
    static constexpr std::size_t size = sizeof...(T);
};

/// Elements that are computed with as floats.
using half_elements = type_list<float16, bfloat16>;
template <class T>
inline constexpr bool is_half =
    []<class... Half>(type_list<Half...> /*all*/) { return (std::is_same_v<T, Half> || ...); }(half_elements());

/// The type in which elements of type T are computed with.
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

/// The type of the real part.
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

/// The integer type of so many bytes.
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

/// The common type of two elements. Of integers the smallest that holds both; of a signed one and an unsigned one of 64
/// bits the signed one, modulo 2⁶⁴. Of an integer and a real number the real one, of a real and a complex number the
/// complex one of the larger precision; float for halves.
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

/// Types that may be elements: float, double, their std::complex, float16, bfloat16, integers of up to 64 bits and
/// bool.
template <class T>
concept Element = detail::is_element<T>;

/// Kind of number, in NumPy's one-letter code (io reads it from files): b bool, i signed, u unsigned, f real, c
/// complex; and B for bfloat16, which NumPy has not. Together with its size in bytes it names an element type.
struct element_type {
    char kind = 'f';          ///< as in NumPy: f, c, i, u, b; or B
    std::uint32_t bytes = 0;  ///< of one element

    friend constexpr bool operator==(const element_type&, const element_type&) = default;
};

/// The run-time value for T.
template <Element T>
constexpr element_type element_type_of() {
    constexpr char kind = std::is_same_v<T, bool>        ? 'b'
                          : std::is_same_v<T, bfloat16>  ? 'B'
                          : std::is_floating_point_v<T>  ? 'f'
                          : detail::is_half<T>           ? 'f'
                          : detail::is_complex<T>::value ? 'c'
                          : std::is_signed_v<T>          ? 'i'
                                                         : 'u';
    return {kind, sizeof(T)};
}

namespace detail {

/// visit(std::type_identity<T>()) for the T of a list that has this run-time value, if one has.
template <class... T>
constexpr void with_element_among(type_list<T...> /*list*/, element_type type, const auto& visit) {
    static_cast<void>(((element_type_of<T>() == type && (visit(std::type_identity<T>()), true)) || ...));
}
constexpr void with_half(element_type type, const auto& visit) {
    with_element_among(half_elements(), type, visit);
}
constexpr bool is_half_type(element_type type) {
    bool found = false;
    with_half(type, [&](auto /*identity*/) { found = true; });
    return found;
}

/// The type that elements of this one are computed with.
constexpr element_type computed(element_type element) {
    return is_half_type(element) ? element_type_of<float>() : element;
}

/// NumPy's short name of an element type: f8, c16, i4; B2.
inline std::string name_of_element(element_type element) {
    return element.kind + std::to_string(element.bytes);
}

/// All element types.
using all_elements =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>, bool, std::int8_t,
              std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
constexpr void with_element(element_type type, const auto& visit) {
    with_element_among(all_elements(), type, visit);
}

/// Some T has this run-time value.
constexpr bool is_element_type(element_type type) {
    bool found = false;
    with_element(type, [&](auto /*identity*/) { found = true; });
    return found;
}

}  // namespace detail

}  // namespace einparallel
