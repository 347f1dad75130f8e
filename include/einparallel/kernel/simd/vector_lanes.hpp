// Vectors of float and double: reading and writing rows, bits, and roundings that -ffast-math leaves as they are.
// Compiled for every instruction set: this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_LANES)
#define EINPARALLEL_DETAIL_VECTOR_LANES

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

// Keeps a compiler that may reassociate (-ffast-math) from undoing the rounding below.
#if EINPARALLEL_DETAIL_X86
#define EINPARALLEL_DETAIL_OPAQUE(value) __asm__("" : "+x"(value))
#elif defined(__aarch64__)
#define EINPARALLEL_DETAIL_OPAQUE(value) __asm__("" : "+w"(value))
#else
#define EINPARALLEL_DETAIL_OPAQUE(value) __asm__("" : "+m"(value))
#endif

namespace einparallel::EINPARALLEL_DETAIL {

/// Vectors of float and double with the instructions of Set.
template <class T, instruction_set Set>
struct vector_lanes;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_lanes.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#undef EINPARALLEL_DETAIL_OPAQUE

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_lanes<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using integer = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    using natural = std::make_unsigned_t<integer>;
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / index(sizeof(T));
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef integer integers __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef natural naturals __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    static constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    static constexpr integer bias = std::numeric_limits<T>::max_exponent - 1;
    static constexpr integer sign_bit = std::numeric_limits<integer>::min();
    static constexpr natural bits_of_infinity = natural(2 * bias + 1) << mantissa;
    /// Once it is added to a number, the lowest bits of the sum are the nearest integer.
    static constexpr T rounding = sizeof(T) == 8 ? T(0x1.8p52) : T(0x1.8p23);

    /// f(x, y), computed in double.
    template <class Function>
    EINPARALLEL_DETAIL_TARGET static vector in_double(vector x, vector y, const Function& f) {
        if constexpr (sizeof(T) == 8) {
            return f(x, y);
        } else {
            typedef double doubles __attribute__((vector_size(2 * EINPARALLEL_DETAIL_BYTES)));
            doubles both[2] = {__builtin_convertvector(x, doubles), __builtin_convertvector(y, doubles)};
            typedef double wide __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
            wide vectors[4];
            __builtin_memcpy(vectors, both, sizeof(both));
            for (int number = 0; number < 2; ++number) {
                vectors[number] = f(vectors[number], vectors[2 + number]);
            }
            __builtin_memcpy(both, vectors, sizeof(both[0]));
            return __builtin_convertvector(both[0], vector);
        }
    }
    EINPARALLEL_DETAIL_TARGET static vector quotient(vector x, vector y) {
#if defined(__RECIPROCAL_MATH__) && !defined(__clang__)
        if constexpr (sizeof(T) == 4) {  // else g++ multiplies by an estimate, which is wrong by 2 units
            return in_double(x, y, [](auto a, auto b) EINPARALLEL_DETAIL_TARGET { return a / b; });
        }
#endif
        return x / y;
    }
    /// √x. It calls the instruction by name: std::sqrt may set errno, so that compilers would compute it element by
    /// element.
    EINPARALLEL_DETAIL_TARGET static vector root(vector x) {
#if EINPARALLEL_DETAIL_ROOTS
        typedef double doubles __attribute__((vector_size(32)));  // nvcc wants types that do not depend on T
        typedef float floats __attribute__((vector_size(32)));
        std::conditional_t<sizeof(T) == 8, doubles, floats> vectors[EINPARALLEL_DETAIL_BYTES / 32];
        __builtin_memcpy(vectors, &x, sizeof(x));
        for (auto& each : vectors) {
            if constexpr (sizeof(T) == 8) {
                each = __builtin_ia32_sqrtpd256(each);
            } else {
                each = __builtin_ia32_sqrtps256(each);
            }
        }
        __builtin_memcpy(&x, vectors, sizeof(x));
#else
        for (index lane = 0; lane < lanes; ++lane) {
            x[lane] = std::sqrt(x[lane]);
        }
#endif
        return x;
    }
    template <std::size_t Count>
    EINPARALLEL_DETAIL_TARGET static vector polynomial(const T (&coefficients)[Count], vector x) {
        vector sum = vector{} + coefficients[Count - 1];
        EINPARALLEL_DETAIL_UNROLL for (index power = index{Count} - 2; power >= 0; --power) {
            sum = sum * x + coefficients[power];
        }
        return sum;
    }
    /// The whole number nearest to x, where |x| is at most 2^(mantissa − 1).
    EINPARALLEL_DETAIL_TARGET static vector rounded(vector x) {
        return kept(kept(x + rounding) - rounding);
    }
    EINPARALLEL_DETAIL_TARGET static vector kept(vector value) {
        EINPARALLEL_DETAIL_OPAQUE(value);
        return value;
    }
    /// x with only the upper half of its digits.
    EINPARALLEL_DETAIL_TARGET static vector high(vector x) {
        return number(bits(x) & (~integer{0} << ((mantissa + 2) / 2)));
    }
    EINPARALLEL_DETAIL_TARGET static vector absolute(vector x) {
        return number(bits(x) & ~sign_bit);
    }
    EINPARALLEL_DETAIL_TARGET static vector with_sign(vector size, vector x) {
        return number(bits(size) | (bits(x) & sign_bit));
    }
    // Comparisons are written so that NaN stays NaN.
    EINPARALLEL_DETAIL_TARGET static vector at_most(vector x, T limit) {
        return x > limit ? vector{} + limit : x;
    }
    EINPARALLEL_DETAIL_TARGET static vector at_least(vector x, T limit) {
        return x < limit ? vector{} + limit : x;
    }
    /// All bits set in lanes that do not have the bits of a positive normal number, else 0.
    EINPARALLEL_DETAIL_TARGET static integers outside(integers value) {
        constexpr natural smallest = natural{1} << mantissa;
        return same_bits<naturals>(value) - smallest >= bits_of_infinity - smallest ? integers{} - 1 : integers{};
    }
    EINPARALLEL_DETAIL_TARGET static bool any(integers mask) {
        std::int64_t words[EINPARALLEL_DETAIL_BYTES / 8];
        __builtin_memcpy(words, &mask, sizeof(mask));
        std::int64_t all = 0;
        EINPARALLEL_DETAIL_UNROLL for (const std::int64_t word : words) {
            all |= word;
        }
        return all != 0;
    }

    /// x · 2^whole, by two factors that are both normal numbers.
    EINPARALLEL_DETAIL_TARGET static vector scaled(vector x, vector whole) {
        const vector half = kept(whole * T(0.5) + rounding);
        const vector other = kept((whole - kept(half - rounding)) + rounding);
        return kept(x * power_of_two(unsigned_bits(half))) * power_of_two(unsigned_bits(other));
    }
    /// 2^k, where the lowest bits of the argument are those of k.
    EINPARALLEL_DETAIL_TARGET static vector power_of_two(naturals lowest_bits) {
        return number((lowest_bits << mantissa) + (natural(bias) << mantissa));
    }
    /// f with x = 2^exponent (1 + f) and √½ <= 1 + f < √2. @pre x is positive and normal
    EINPARALLEL_DETAIL_TARGET static vector fraction(vector x, vector& exponent) {
        constexpr natural root_half = sizeof(T) == 8 ? natural(0x3fe6a09e667f3bcd) : natural(0x3f3504f3);
        const naturals all = unsigned_bits(x);
        const naturals biased = (all + ((natural(bias) << mantissa) - root_half)) >> mantissa;
        exponent = number(biased | (natural(bias + mantissa) << mantissa));  // of 2^mantissa
        exponent = kept(exponent - T((integer{1} << mantissa) + bias));
        return kept(number(all - ((biased - natural(bias)) << mantissa)) - T(1));
    }

    template <class Step>
    EINPARALLEL_DETAIL_TARGET static void each(index count, const Step& step) {
        index at = 0;
        for (; at + lanes <= count; at += lanes) {
            step(at, lanes);
        }
        if (at < count) {
            step(at, count - at);
        }
    }
    EINPARALLEL_DETAIL_TARGET static vector read(const T* from, index length, T rest) {
        vector value = vector{} + rest;
        if (length == lanes) {
            __builtin_memcpy(&value, from, sizeof(value));
        } else {
            __builtin_memcpy(&value, from, std::size_t(length) * sizeof(T));
        }
        return value;
    }
    EINPARALLEL_DETAIL_TARGET static void write(T* into, vector value, index length) {
        if (length == lanes) {
            __builtin_memcpy(into, &value, sizeof(value));
        } else {
            __builtin_memcpy(into, &value, std::size_t(length) * sizeof(T));
        }
    }
    EINPARALLEL_DETAIL_TARGET static integers bits(vector value) {
        return same_bits<integers>(value);
    }
    EINPARALLEL_DETAIL_TARGET static naturals unsigned_bits(vector value) {
        return same_bits<naturals>(value);
    }
    template <class Bits>
    EINPARALLEL_DETAIL_TARGET static vector number(Bits bits) {
        return same_bits<vector>(bits);
    }
    template <class To, class From>
    EINPARALLEL_DETAIL_TARGET static To same_bits(From value) {
        To made;
        __builtin_memcpy(&made, &value, sizeof(made));
        return made;
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
