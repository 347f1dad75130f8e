#pragma once
// Numbers of an element type that is known at run time, for oracles: integers modulo 2ⁿ, others in long double, rounded
// to the type. The rule for types is written down here once more, from examples/pages/arithmetic.md.

#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <iomanip>
#include <limits>
#include <ostream>
#include <type_traits>

namespace einparallel::testing {

__extension__ using whole = __int128;
__extension__ using natural = unsigned __int128;

constexpr bool is_integer(element_type type) {
    return type.kind == 'b' || type.kind == 'i' || type.kind == 'u';
}

/// The common type of two.
constexpr element_type common_type(element_type a, element_type b) {
    for (element_type* each : {&a, &b}) {
        if (each->bytes <= 2 && (each->kind == 'f' || (each->kind >= 'A' && each->kind <= 'Z'))) {
            *each = {'f', 4};
        }
    }
    if (a == b || b.kind == 'b') {
        return a;
    }
    if (a.kind == 'b') {
        return b;
    }
    if (is_integer(a) && is_integer(b)) {
        const bool is_signed = a.kind == 'i' || b.kind == 'i';
        const auto needs = [&](element_type of) { return is_signed && of.kind == 'u' ? 2 * of.bytes : of.bytes; };
        return {is_signed ? 'i' : 'u', std::min<std::uint32_t>(8, std::max(needs(a), needs(b)))};
    }
    const auto bytes = [](element_type of) { return is_integer(of) ? 0 : of.kind == 'c' ? of.bytes / 2 : of.bytes; };
    const std::uint32_t real = std::max(bytes(a), bytes(b));
    return a.kind == 'c' || b.kind == 'c' ? element_type{'c', 2 * real} : element_type{'f', real};
}

/// The type in which nothing is rounded that is of this one.
constexpr element_type unrounded(element_type type) {
    return is_integer(type) ? type : type.kind == 'c' ? element_type{'c', 32} : element_type{'f', 16};
}

/// A floating-point format.
struct number_format {
    int digits;        ///< of precision
    int smallest;      ///< smallest normal numbers are in [.5, 1) · 2^smallest
    long double most;  ///< the largest number
    bool has_infinity = true;

    [[nodiscard]] long double smallest_half() const { return std::ldexp(1.0L, smallest - digits - 1); }
};
inline number_format format_of(char kind, std::size_t bytes) {
    switch (kind) {
        case 'B':
            return {8, -125, 0x1.FEp127L};
        case 'E':
            return {4, -5, 448, false};
        case 'F':
            return {3, -13, 57344};
        default:
            return bytes == 2   ? number_format{11, -13, 65504}
                   : bytes == 4 ? number_format{24, -125, std::numeric_limits<float>::max()}
                   : bytes == 8 ? number_format{53, -1021, std::numeric_limits<double>::max()}
                                : number_format{64, -16381, std::numeric_limits<long double>::max()};
    }
}

/// The nearest number of a floating-point type, ties to even; a `bytes` of 16 is long double.
inline long double rounded(char kind, std::size_t bytes, long double x) {
    if (bytes >= 4) {
        return bytes == 4   ? static_cast<long double>(static_cast<float>(x))
               : bytes == 8 ? static_cast<long double>(static_cast<double>(x))
                            : x;
    }
    const number_format format = format_of(kind, bytes);
    if (x == 0 || std::isnan(x) || (std::isinf(x) && format.has_infinity)) {
        return x;
    }
    int exponent = 0;
    std::frexp(x, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent, format.smallest) - format.digits);
    const long double made = std::nearbyint(x / unit) * unit;
    const long double beyond = format.has_infinity ? std::numeric_limits<long double>::infinity()
                                                   : std::numeric_limits<long double>::quiet_NaN();
    return std::fabs(made) > format.most ? std::copysign(beyond, x) : made;
}

/// A number of a type. Operations are of two of one type, and of this type.
struct number {
    element_type type;
    whole integer = 0;
    std::complex<long double> value{};
};

inline number number_in(element_type type, whole integer) {
    if (type.kind == 'b') {
        return {type, integer != 0 ? 1 : 0, {}};
    }
    const auto bits = static_cast<unsigned>(8 * type.bytes);
    const natural wrapped = static_cast<natural>(integer) << (128 - bits);
    return {
        type,
        type.kind == 'i' ? static_cast<whole>(wrapped) >> (128 - bits) : static_cast<whole>(wrapped >> (128 - bits)),
        {}};
}
inline number number_in(element_type type, std::complex<long double> value) {
    const std::size_t bytes = type.kind == 'c' ? type.bytes / 2 : type.bytes;
    return {type, 0, {rounded(type.kind, bytes, value.real()), rounded(type.kind, bytes, value.imag())}};
}

/// The number as one of another type. @pre a real one is not made an integer
inline number as(element_type type, const number& x) {
    if (is_integer(type)) {
        return number_in(type, x.integer);
    }
    return number_in(type, is_integer(x.type) ? static_cast<long double>(x.integer) : x.value);
}

template <class T>
number number_of(T x) {
    const element_type type = element_type_of<T>();
    if constexpr (std::is_integral_v<T>) {
        return {type, x, {}};
    } else if constexpr (detail::is_complex<T>::value) {
        return {type, 0, {x.real(), x.imag()}};
    } else {
        return {type, 0, static_cast<long double>(static_cast<detail::computed_t<T>>(x))};
    }
}
template <class T>
T element_of(const number& x) {
    const number as_it_is = as(element_type_of<T>(), x);
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(as_it_is.integer);
    } else if constexpr (detail::is_complex<T>::value) {
        using Real = typename T::value_type;
        return {static_cast<Real>(as_it_is.value.real()), static_cast<Real>(as_it_is.value.imag())};
    } else {
        return static_cast<T>(static_cast<double>(as_it_is.value.real()));
    }
}

inline number operator+(const number& a, const number& b) {
    return is_integer(a.type) ? number_in(a.type, a.integer + b.integer) : number_in(a.type, a.value + b.value);
}
inline number operator-(const number& a, const number& b) {
    return is_integer(a.type) ? number_in(a.type, a.integer - b.integer) : number_in(a.type, a.value - b.value);
}
inline number operator*(const number& a, const number& b) {
    if (is_integer(a.type)) {
        return number_in(a.type, static_cast<whole>(static_cast<natural>(a.integer) * static_cast<natural>(b.integer)));
    }
    // Without C's recovery of infinities.
    return number_in(a.type, {a.value.real() * b.value.real() - a.value.imag() * b.value.imag(),
                              a.value.real() * b.value.imag() + a.value.imag() * b.value.real()});
}
/// @pre b is not 0
inline number operator/(const number& a, const number& b) {
    return is_integer(a.type) ? number_in(a.type, a.integer / b.integer) : number_in(a.type, a.value / b.value);
}
inline number operator%(const number& a, const number& b) {
    return number_in(a.type, a.integer % b.integer);
}

/// As numbers, of any two real types.
inline bool operator<(const number& a, const number& b) {
    if (is_integer(a.type) && is_integer(b.type)) {
        return a.integer < b.integer;
    }
    return as({'f', 16}, a).value.real() < as({'f', 16}, b).value.real();
}
/// NaN is the same as NaN.
inline bool operator==(const number& a, const number& b) {
    const auto same = [](long double x, long double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return a.integer == b.integer && same(a.value.real(), b.value.real()) && same(a.value.imag(), b.value.imag());
}
inline long double magnitude(const number& x) {
    return std::abs(as({'c', 32}, x).value);
}

inline std::ostream& operator<<(std::ostream& out, const number& x) {
    out << detail::name_of_element(x.type) << ' ' << std::setprecision(21);
    if (!is_integer(x.type)) {
        return out << x.value;
    }
    return x.integer < 0 ? out << static_cast<long long>(x.integer) : out << static_cast<unsigned long long>(x.integer);
}

}  // namespace einparallel::testing
