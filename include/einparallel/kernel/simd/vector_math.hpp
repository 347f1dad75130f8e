// Elementary functions of rows of float and double, within some units in the last digit. Compiled for every instruction
// set: this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_MATH)
#define EINPARALLEL_DETAIL_VECTOR_MATH

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/math_constants.hpp>
#include <einparallel/kernel/simd/vector_lanes.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/operations/op_code.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where vector_math has the function of this op_code for T.
template <op_code Code, class T>
inline constexpr bool has_vector_math =
    (std::is_same_v<T, float> || std::is_same_v<T, double>)&&operation_of(Code).in_vectors;

/// Elementary functions for float and double with the instructions of Set.
template <class T, instruction_set Set>
struct vector_math;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_math<T, instruction_set::EINPARALLEL_DETAIL_SET>
    : private vector_lanes<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using constants = math_constants<T>;
    using code = vector_lanes<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    using of_double = vector_math<double, instruction_set::EINPARALLEL_DETAIL_SET>;
    using code::absolute, code::any, code::at_least, code::at_most, code::bias, code::bits, code::fraction, code::high;
    using code::in_double, code::kept, code::lanes, code::mantissa, code::number, code::outside, code::polynomial;
    using code::power_of_two, code::quotient, code::read, code::root, code::rounded, code::rounding, code::scaled;
    using code::sign_bit, code::unsigned_bits, code::with_sign, code::write;
    using integer = typename code::integer;
    using integers = typename code::integers;
    using natural = typename code::natural;
    using naturals = typename code::naturals;
    using vector = typename code::vector;

    /// into[i] = f(x[i]) or f(x[i], y[i]). `into` may be the same memory as x or y; y is null for functions of one
    /// argument. Errors are within 2 units in the last digit for exp, expm1, log, log1p, logaddexp, power, erf and
    /// sigmoid, and within 4 for tanh, sin, cos, silu and gelu.
    /// @pre has_vector_math<Code, T>
    template <op_code Code>
    [[gnu::noinline]] EINPARALLEL_DETAIL_TARGET static void row(T* into, const T* x, const T* y, index count) {
        constexpr bool binary = arity_of(Code) == 2;
        index at = 0;
        for (; at + lanes <= count; at += lanes) {
            const vector a = read(x + at, lanes, T(1));
            const vector b = binary ? read(y + at, lanes, T(1)) : a;
            integers rare{};  // not 0 in lanes that the C library computes
            vector value = apply<Code>(a, b, rare);
            if constexpr (Code == op_code::log || Code == op_code::log1p || Code == op_code::sin ||
                          Code == op_code::cos || Code == op_code::power) {
                value = any(rare) ? mended<Code>(value, a, b, rare) : value;
            }
            write(into + at, value, lanes);
        }
        if (at < count) {
            T rest[lanes];
            T others[lanes];
            write(rest, read(x + at, count - at, T(1)), lanes);
            write(others, binary ? read(y + at, count - at, T(1)) : vector{}, lanes);
            row<Code>(rest, rest, others, lanes);
            write(into + at, read(rest, lanes, T(1)), count - at);
        }
    }
    template <op_code Code>
    [[gnu::noinline]] EINPARALLEL_DETAIL_TARGET static vector mended(vector value, vector x, vector y, integers rare) {
        for (index lane = 0; lane < lanes; ++lane) {
            value[lane] = rare[lane] != 0 ? standard<Code>(x[lane], y[lane]) : value[lane];
        }
        return value;
    }
    template <op_code Code>
    EINPARALLEL_DETAIL_TARGET static vector apply(vector x, vector y, [[maybe_unused]] integers& rare) {
        if constexpr (Code == op_code::exp) {
            return exponential(x);
        } else if constexpr (Code == op_code::shifted_exponential) {
            return exponential(x - y);
        } else if constexpr (Code == op_code::logaddexp) {
            return logarithm_of_two(x, y);
        } else if constexpr (Code == op_code::expm1) {
            return in_double(
                x, x, [](auto of, auto) EINPARALLEL_DETAIL_TARGET { return of_double::exponential_less_one(of); });
        } else if constexpr (Code == op_code::log) {
            return logarithm(x, rare);
        } else if constexpr (Code == op_code::log1p) {
            rare |= ((x > T(-1)) & (x <= std::numeric_limits<T>::max())) ? integers{} : integers{} - 1;
            return in_double(
                x, x, [](auto of, auto) EINPARALLEL_DETAIL_TARGET { return of_double::logarithm_of_one_and(of); });
        } else if constexpr (Code == op_code::tanh) {
            return hyperbolic_tangent(x);
        } else if constexpr (Code == op_code::sigmoid || Code == op_code::silu) {
            return logistic<Code == op_code::silu>(x);
        } else if constexpr (Code == op_code::erf) {
            return error_function(x);
        } else if constexpr (Code == op_code::gelu) {
            return gaussian_unit(x);
        } else if constexpr (Code == op_code::sqrt) {
            return code::root(x);
        } else if constexpr (Code == op_code::power) {
            return power(x, y, rare);
        } else {
            return circular<Code == op_code::cos>(x, rare);
        }
    }
    template <op_code Code>
    static T standard(T x, [[maybe_unused]] T y) {
        if constexpr (Code == op_code::log) {
            return std::log(x);
        } else if constexpr (Code == op_code::log1p) {
            return std::log1p(x);
        } else if constexpr (Code == op_code::power) {
            return std::pow(x, y);
        } else {
            return Code == op_code::sin ? std::sin(x) : std::cos(x);
        }
    }

    EINPARALLEL_DETAIL_TARGET static vector exponential(vector x) {
        vector whole;
        const vector rest = reduced(at_least(at_most(x, constants::highest), constants::lowest), whole);
        return scaled(T(1) + expm1_of_small(rest), whole);
    }

    /// exp(x) − 1 as 2^k (exp(r) − 1) + (2^k − 1), with the sign of x even at 0. Beyond ±40 it is exp(x) − 1 as
    /// written: there one of the two terms makes no difference.
    EINPARALLEL_DETAIL_TARGET static vector exponential_less_one(vector x) {
        vector whole;
        const vector less_one = expm1_of_small(reduced(at_least(at_most(x, T(40)), T(-40)), whole));
        const vector scale = power_of_two(unsigned_bits(whole + rounding));
        const vector near = with_sign(absolute(scale * less_one + kept(scale - T(1))), x);
        return absolute(x) <= T(40) ? near : exponential(x) - T(1);
    }

    /// tanh |x| = E / (E + 2) with E = exp(2 |x|) − 1.
    EINPARALLEL_DETAIL_TARGET static vector hyperbolic_tangent(vector x) {
        const vector size = at_most(absolute(x), constants::tanh_limit);
        vector whole;
        const vector less_one = expm1_of_small(reduced(size + size, whole));
        const vector scale = power_of_two(unsigned_bits(whole + rounding));
        const vector twice = scale * less_one + kept(scale - T(1));
        return with_sign(quotient(twice, twice + T(2)), x);
    }

    /// 1 / (1 + exp(−x)), or x times this. The factor x comes before the last scaling, which may underflow.
    template <bool TimesArgument>
    EINPARALLEL_DETAIL_TARGET static vector logistic(vector x) {
        const vector down = at_least(-absolute(x), constants::lowest);
        vector whole;
        const vector less_one = expm1_of_small(reduced(down, whole));
        const vector e = scaled(T(1) + less_one, whole);
        const vector sum = kept(T(1) + e);
        if constexpr (TimesArgument) {
            const vector below = scaled(down + down * less_one, whole);
            return undefined_below(quotient(x < T(0) ? below : x, sum), x);
        } else {
            const vector value = quotient(x < T(0) ? e : vector{} + T(1), sum);
            const vector inverse = x < T(0) ? T(1) - value : value;
            return value - kept(value * (inverse * (e - kept(sum - T(1)))));  // what the sum has lost
        }
    }

    /// log(x) + `rest`, which is small. x = 2^k (1 + f) and log(1 + f) = 2 atanh(s) = f − s (f − …) with s = f / (2 +
    /// f).
    EINPARALLEL_DETAIL_TARGET static vector logarithm(vector x, integers& rare, vector rest = vector{}) {
        rare |= outside(bits(x));
        vector exponent;
        const vector f = fraction(x, exponent);
        const vector s = quotient(f, T(2) + f);
        const vector square = s * s;
        const vector correction = s * (f - square * polynomial(constants::log, square));
        return exponent * constants::ln_two_high + (f - (correction - (exponent * constants::ln_two_low + rest)));
    }

    /// log(1 + x) as log u + c / u, where u is 1 + x rounded, and c is what the rounding has lost. It has the sign of x
    /// even at 0.
    EINPARALLEL_DETAIL_TARGET static vector logarithm_of_one_and(vector x) {
        const vector sum = kept(T(1) + x);
        const vector lost = x >= T(1) ? T(1) - kept(sum - x) : x - kept(sum - T(1));
        integers known{};
        return with_sign(absolute(logarithm(sum, known, lost / sum)), x);
    }

    /// log(exp(x) + exp(y)). For equal x and y, even infinite ones, it is x + log 2.
    EINPARALLEL_DETAIL_TARGET static vector logarithm_of_two(vector x, vector y) {
        const vector larger = x < y ? y : x;
        const vector difference = x == y ? vector{} : x < y ? x - y : y - x;
        const vector value = larger + logarithm_of_one_and(exponential(difference));
        return difference == difference ? value : difference;
    }

    /// sin or cos for |x| <= 2^20, by the distance of |x| from the nearest multiple of π/2. The multiple is subtracted
    /// in terms whose products with up to 20 bits are exact.
    template <bool Cosine>
    EINPARALLEL_DETAIL_TARGET static vector circular(vector x, integers& rare) {
        const vector size = absolute(x);
        rare |= size <= T(0x1p20) ? integers{} : integers{} - 1;
        const vector raised = kept(size * T(0x1.45f306dc9c883p-1) + rounding);
        const integers quadrant = bits(raised) + integer{Cosine};
        const vector rest =
            in_double(size, kept(raised - rounding), [](auto from, auto count) EINPARALLEL_DETAIL_TARGET {
                from = of_double::kept(from - count * 0x1.921fb544p+0);
                if constexpr (sizeof(T) == 4) {
                    return from - count * 0x1.0b4611a626331p-34;
                } else {
                    from = of_double::kept(from - count * 0x1.0b4611a6p-34);
                    return (from - count * 0x1.3198a2ep-69) - count * 0x1.b839a252049c1p-104;
                }
            });
        const vector square = rest * rest;
        const vector sine = rest + rest * square * polynomial(constants::sin, square);
        const vector cosine = (T(1) - square * T(0.5)) + square * square * polynomial(constants::cos, square);
        const vector value = (quadrant & 1) != 0 ? cosine : sine;
        const integers sign = (quadrant << (int(sizeof(T)) * 8 - 2)) ^ (Cosine ? integers{} : bits(x));
        return number(bits(value) ^ (sign & sign_bit));
    }

    /// erf(x). Where |x| >= 1 its size is 1 − 2 Φ(−√2 |x|).
    EINPARALLEL_DETAIL_TARGET static vector error_function(vector x) {
        const vector size = at_most(absolute(x), constants::erf_limit);
        const vector w = size * T(0x1.6a09e667f3bcdp+0);
        const vector twice = T(2) * exponential(-size * size) * quotient(tail_polynomial(w), T(1) + T(2) * w);
        return with_sign(size < T(1) ? small_error_function(size) : T(1) - twice, x);
    }

    /// x Φ(x) = x − x Φ(−x), where Φ(−w) = exp(−w²/2) P(t) / (1 + 2 w). Here w²/2 is a²/2 and a small rest; a is the
    /// upper half of the digits of w, so that a²/2 is exact. Near 0, Φ(x) = (1 + erf(x / √2)) / 2 has fewer roundings.
    EINPARALLEL_DETAIL_TARGET static vector gaussian_unit(vector x) {
        const vector w = at_most(absolute(x), constants::gelu_limit);
        const vector upper = high(w);
        vector whole;
        const vector rest = reduced(upper * upper * T(-0.5), whole) + (upper - w) * (upper + w) * T(0.5);
        const vector less_one = expm1_of_small(rest);
        vector one{};
        one += T(1);                                                   // nvcc crashes on this as an initial value
        const vector ratio = T(0.5) - quotient(one, T(2) + T(4) * w);  // w / (1 + 2 w)
        const vector tail = ratio * tail_polynomial(w);
        const vector missing = scaled(tail + tail * less_one, whole);
        const vector far = x < T(0) ? -missing : x - missing;
        const vector near = x * (T(0.5) + T(0.5) * small_error_function(x * T(0x1.6a09e667f3bcdp-1)));
        return undefined_below(w < T(0.625) ? near : far, x);
    }

    /// x^y as exp2(y log2 |x|), with the sign of x where y is odd. For double the logarithm has a second term with the
    /// digits that a large result needs; for float it is computed in double.
    EINPARALLEL_DETAIL_TARGET static vector power(vector x, vector y, integers& rare) {
        const integer large = ((bias + mantissa - 2) << mantissa);
        const integers size = bits(absolute(x));
        rare |= outside(size) | (bits(absolute(y)) >= large);
        const vector raised = kept(y + rounding);
        const integers odd = bits(raised) << (int(sizeof(T)) * 8 - 1);
        rare |= (bits(x) < 0) & (kept(raised - rounding) != y);
        vector value;
        if constexpr (sizeof(T) == 8) {
            value = power_of_positive(number(size), y, rare);
        } else {
            value = in_double(number(size), y, [](auto of, auto exponent) EINPARALLEL_DETAIL_TARGET {
                typename of_double::integers none{};
                return of_double::exponential(exponent * of_double::logarithm(of, none));
            });
        }
        return number(bits(value) ^ (bits(x) & odd));
    }
    EINPARALLEL_DETAIL_TARGET static vector power_of_positive(vector x, vector y, integers& rare) {
        vector exponent;
        const vector f = fraction(x, exponent);
        // s = f / (2 + f) and its square. Products of upper halves are exact.
        const vector divisor = f + 2.0;
        const vector divisor_high = high(divisor);
        const vector divisor_low = f - kept(divisor_high - 2.0);
        const vector inverse = 1.0 / divisor;
        const vector s = kept(f * inverse);
        const vector s_high = high(s);
        const vector s_low = (kept(f - s_high * divisor_high) - s_high * divisor_low) * inverse;
        const vector square_high = s_high * s_high;
        const vector square = s * s;
        const vector rest = s_low * (s_high + s) + square * square * polynomial(constants::pow, square);
        // 3 atanh(s) = s (3 + s² + …).
        const vector factor_high = high(3.0 + kept(square_high + rest));
        const vector factor_low = kept(kept(3.0 - factor_high) + square_high) + rest;
        const vector product_high = s_high * factor_high;
        const vector product_low = s_low * factor_high + s * factor_low;
        const vector atanh_high = high(product_high + product_low);
        const vector atanh_low = product_low - kept(atanh_high - product_high);
        // log2 x = k + 3 atanh(s) · 2 / (3 ln 2).
        const vector scaled_high = atanh_high * 0x1.ec709d8p-1;
        const vector scaled_low = atanh_high * 0x1.0e80ff5d27f05p-27 + atanh_low * 0x1.ec709dc3a03fdp-1;
        const vector sum = kept(exponent + scaled_high);
        const vector log_high = high(sum);
        const vector log_low = kept(sum - log_high) + (kept(scaled_high - kept(sum - exponent)) + scaled_low);
        const vector y_high = high(y);
        const vector result_high = y_high * log_high;
        const vector result_low = (y - y_high) * log_high + y * log_low;
        const vector result = result_high + result_low;
        rare |= absolute(result) <= 1100.0 ? integers{} : integers{} - 1;
        const vector whole = rounded(result);
        const vector less_one = expm1_of_small((kept(result_high - whole) + result_low) * 0x1.62e42fefa39efp-1);
        return scaled(1.0 + less_one, whole);
    }

    /// exp(w²/2) Φ(−w) (1 + 2 w) for 0 <= w <= gelu_limit, as Shepherd and Laframboise (1981) compute it.
    EINPARALLEL_DETAIL_TARGET static vector tail_polynomial(vector w) {
        // t = (w − centre) / (w + centre), without the rounding of w − centre.
        return polynomial(constants::tail, T(2) * quotient(w, w + constants::tail_centre) - T(1));
    }
    /// erf(x) for |x| < 1.
    EINPARALLEL_DETAIL_TARGET static vector small_error_function(vector x) {
        return x + kept(x * polynomial(constants::erf, x * x));
    }

    /// NaN where x is −∞, as −∞ · 0 is; otherwise `value`.
    EINPARALLEL_DETAIL_TARGET static vector undefined_below(vector value, vector x) {
        return x < std::numeric_limits<T>::lowest() ? vector{} + std::numeric_limits<T>::quiet_NaN() : value;
    }
    /// x − whole · ln 2, where `whole` is round(x / ln 2).
    EINPARALLEL_DETAIL_TARGET static vector reduced(vector x, vector& whole) {
        whole = rounded(x * T(0x1.71547652b82fep+0));
        return kept(x - whole * constants::ln_two_high) - whole * constants::ln_two_low;
    }
    /// exp(x) − 1 for |x| < 0.38.
    EINPARALLEL_DETAIL_TARGET static vector expm1_of_small(vector x) {
        return x + x * x * polynomial(constants::exp, x);
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
