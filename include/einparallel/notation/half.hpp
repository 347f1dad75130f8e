#pragma once
// Numbers that are stored in fewer bits than a float, and computed with as floats.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace einparallel {

namespace detail {

/// The bit format of a half type: from the highest bit on a sign, an exponent and a mantissa.
template <class Bits, int Exponent, int Mantissa, bool HasInfinity = true>
struct stored_format {
    using bits = Bits;
    static constexpr bool has_infinity = HasInfinity;
    static constexpr int mantissa = Mantissa;
    static constexpr int bias = (1 << (Exponent - 1)) - 1;
    static constexpr int shift = 23 - Mantissa;  ///< bits by which a mantissa is shifted to that of a float
    static constexpr std::uint32_t sign_bit = 1U << (8 * sizeof(Bits) - 1);
    static constexpr std::uint32_t smallest_normal = 1U << Mantissa;
    /// The lowest bits, without the sign, that are no finite number: infinity, or the only NaN.
    static constexpr std::uint32_t infinite = HasInfinity ? ((1U << Exponent) - 1) << Mantissa : sign_bit - 1;
    static constexpr std::uint32_t quiet_nan = infinite | 1U << (Mantissa - 1);
    /// The difference of the exponent biases of float and this type, at the exponent bits of a float.
    static constexpr std::uint32_t less = std::uint32_t(127 - bias) << 23U;
    /// The smallest positive number, and a float whose last bit has this value. Both are 0 in the format with the bias
    /// of float.
    ///@{
    static constexpr float smallest =
        bias == 127 ? 0 : std::bit_cast<float>(std::uint32_t(128 - bias - Mantissa) << 23U);
    static constexpr float large = std::bit_cast<float>(std::uint32_t(bias == 127 ? 0 : 151 - bias - Mantissa) << 23U);
    ///@}
};

template <char Kind>
struct half_format;
template <>
struct half_format<'f'> : stored_format<std::uint16_t, 5, 10> {};
template <>
struct half_format<'B'> : stored_format<std::uint16_t, 8, 7> {};
template <>
struct half_format<'E'> : stored_format<std::uint8_t, 4, 3, false> {};
template <>
struct half_format<'F'> : stored_format<std::uint8_t, 5, 2> {};

}  // namespace detail

/// A number that is stored and sent in few bits. Arithmetic is that of float, which holds every value of this type.
/// Reading converts it to float. Writing rounds a float to the nearest value, ties to even. What is too large becomes
/// an infinity, or a NaN where the type has no infinity.
template <char Kind>
class half_type {
    using format = detail::half_format<Kind>;

public:
    using bits_type = typename format::bits;
    static constexpr char kind = Kind;  ///< as in element_type

    half_type() = default;
    /// Rounds a number, once, to the nearest one of this type.
    ///@{
    constexpr half_type(float x) : bits_(nearest(x)) {}   // NOLINT(google-explicit-constructor)
    constexpr half_type(double x) : half_type(odd(x)) {}  // NOLINT(google-explicit-constructor)
    template <class T>
        requires std::is_integral_v<T>
    constexpr half_type(T x) : half_type(odd(double_of(x))) {}  // NOLINT(google-explicit-constructor)
    ///@}

    /// The same number as a float.
    constexpr operator float() const {  // NOLINT(google-explicit-constructor)
        const std::uint32_t sign = (std::uint32_t(bits_) & format::sign_bit) << (32 - 8 * sizeof(bits_type));
        const std::uint32_t rest = std::uint32_t(bits_) & ~format::sign_bit;
        if constexpr (format::bias == 127) {
            return std::bit_cast<float>(sign | rest << format::shift);
        } else if (rest < format::smallest_normal) {
            return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(float(rest) * format::smallest));
        } else if (rest >= format::infinite) {
            const bool is_infinite = format::has_infinity && rest == format::infinite;
            return std::bit_cast<float>(sign | (is_infinite ? 0x7f800000U : 0x7fc00000U | rest << format::shift));
        } else {
            return std::bit_cast<float>(sign | ((rest << format::shift) + format::less));
        }
    }

    /// The bits in which it is stored.
    [[nodiscard]] constexpr bits_type bits() const { return bits_; }
    /// The number that is stored in these bits.
    static constexpr half_type of_bits(bits_type bits) {
        half_type made{};
        made.bits_ = bits;
        return made;
    }

private:
    /// A double that is rounded to the same half as the integer x.
    template <class T>
    static constexpr double double_of(T x) {
        if constexpr (sizeof(T) < 8) {
            return double(x);
        } else {
            constexpr T tail = 4096;  // a double may lack so many of the last values
            T most = x / tail;
            const bool is_negative = double(most) < 0;
            if (most * tail == x || (is_negative ? -1 : 1) * double(most) < 0x1p41) {
                return double(x);
            }
            most = most % 2 != 0 ? most : is_negative ? most - 1 : most + 1;
            return double(most) * double(tail);
        }
    }
    /// A float that is rounded to the same half as x. Its last bit is 1 where no float equals x (rounding to odd).
    static constexpr float odd(double x) {
        const auto near = float(x);
        if (double(near) == x || x != x) {
            return near;
        }
        auto bits = std::bit_cast<std::uint32_t>(near);
        bits -= (x < 0 ? double(near) < x : double(near) > x) ? 1U : 0U;
        return std::bit_cast<float>(bits | 1U);
    }
    static constexpr bits_type nearest(float x) {
        const auto all = std::bit_cast<std::uint32_t>(x);
        const std::uint32_t sign = all >> (32 - 8 * sizeof(bits_type)) & format::sign_bit;
        const std::uint32_t rest = all & 0x7fffffffU;
        if (x != x) {
            return bits_type(sign | format::quiet_nan | (rest >> format::shift & (format::smallest_normal - 1)));
        }
        if (format::bias != 127 &&
            rest < format::less + (1U << 23U)) {  // a multiple of the smallest: a sum's last bits
            const float sum = std::bit_cast<float>(rest) + format::large;
            return bits_type(sign | (std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(format::large)));
        }
        const std::uint32_t half_way = (1U << (format::shift - 1)) - 1;
        const std::uint32_t rounded = (rest - format::less + half_way + (rest >> format::shift & 1U)) >> format::shift;
        return bits_type(sign | (rounded < format::infinite ? rounded : format::infinite));
    }

    bits_type bits_;
};

using float16 = half_type<'f'>;   ///< 5 bits of exponent, 11 of precision: up to 65,504
using bfloat16 = half_type<'B'>;  ///< 8 bits of exponent, 8 of precision: the range of float
/// 4 bits of exponent, 4 of precision: up to 448. It has no infinity; what is larger than 464 becomes a NaN (E4M3FN).
using float8_e4m3 = half_type<'E'>;
using float8_e5m2 = half_type<'F'>;  ///< 5 bits of exponent, 3 of precision: up to 57,344

}  // namespace einparallel

/// @cond doxygen does not know where it belongs
// What is not defined here is as in float.
template <char Kind>
class std::numeric_limits<einparallel::half_type<Kind>> : public std::numeric_limits<float> {
    using half = einparallel::half_type<Kind>;
    using format = einparallel::detail::half_format<Kind>;
    static constexpr half of(std::uint32_t bits) { return half::of_bits(typename half::bits_type(bits)); }

public:
    static constexpr bool has_infinity = format::has_infinity, has_signaling_NaN = format::has_infinity;
    static constexpr int digits = format::mantissa + 1;
    static constexpr int digits10 = (digits - 1) * 30103 / 100000, max_digits10 = 2 + digits * 30103 / 100000;
    static constexpr int min_exponent = 2 - format::bias, max_exponent = format::bias + (format::has_infinity ? 1 : 2);
    static constexpr int min_exponent10 = -((format::bias - 1) * 30103 / 100000),
                         max_exponent10 = max_exponent * 30103 / 100000;
    static constexpr half min() { return of(format::smallest_normal); }
    static constexpr half max() { return of(format::infinite - 1); }
    static constexpr half lowest() { return of(format::sign_bit | (format::infinite - 1)); }
    static constexpr half epsilon() { return half(1.0F / float(1U << format::mantissa)); }
    static constexpr half round_error() { return half(0.5F); }
    static constexpr half infinity() { return format::has_infinity ? of(format::infinite) : half(0.0F); }
    static constexpr half quiet_NaN() { return of(format::quiet_nan); }
    static constexpr half signaling_NaN() {
        return has_signaling_NaN ? of(format::infinite | format::smallest_normal / 4) : quiet_NaN();
    }
    static constexpr half denorm_min() { return of(1); }
};
/// @endcond
