// exp of rows, and what softmax does to them. Compiled for every instruction set: this header includes itself once for
// each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_EXP)
#define EINPARALLEL_DETAIL_VECTOR_EXP

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

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

/// exp(x) = 2^k · exp(r) with k = round(x / ln 2) and |r| <= ln 2 / 2: the constants for T.
template <class T>
struct exp_constants {
    static constexpr T per_two = T(1.44269504088896340735992468100);
    static constexpr T ln_two_high = sizeof(T) == 8 ? T(0x1.62e42fefa3800p-1) : T(0x1.62e400p-1);
    static constexpr T ln_two_low = sizeof(T) == 8 ? T(0x1.ef35793c76730p-45) : T(0x1.7f7d1cp-20);
    /// Added to a number, it leaves the nearest integer in the lowest bits.
    static constexpr T rounding = sizeof(T) == 8 ? T(0x1.8p52) : T(0x1.8p23);
    static constexpr T highest = sizeof(T) == 8 ? T(710) : T(89);
    static constexpr T lowest = sizeof(T) == 8 ? T(-746) : T(-105);
    static constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    static constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
    static constexpr int degree = sizeof(T) == 8 ? 13 : 7;
    /// 1 / number!.
    static constexpr T coefficient(int number) {
        double value = 1;
        for (int factor = 2; factor <= number; ++factor) {
            value /= factor;
        }
        return T(value);
    }
};

/// For float and double with the instructions of Set.
template <class T, instruction_set Set>
struct vector_exp;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_exp.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#undef EINPARALLEL_DETAIL_OPAQUE

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_exp<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using constants = exp_constants<T>;
    using integer = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / index(sizeof(T));
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef integer integers __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));

    /// Within two units in the last place of exp; 0, infinity and what is no number as std::exp has them.
    EINPARALLEL_DETAIL_TARGET static vector exponential(vector x) {
        x = x > constants::highest ? vector{} + constants::highest : x;  // both false where x is no number
        x = x < constants::lowest ? vector{} + constants::lowest : x;
        vector whole = x * constants::per_two + constants::rounding;
        EINPARALLEL_DETAIL_OPAQUE(whole);
        whole -= constants::rounding;
        EINPARALLEL_DETAIL_OPAQUE(whole);
        vector rest = x - whole * constants::ln_two_high;
        EINPARALLEL_DETAIL_OPAQUE(rest);
        rest -= whole * constants::ln_two_low;
        vector sum = vector{} + constants::coefficient(constants::degree);
        EINPARALLEL_DETAIL_UNROLL for (int power = constants::degree - 1; power >= 0; --power) {
            sum = sum * rest + constants::coefficient(power);
        }
        // 2^k in two factors, each of which is a normal number.
        vector half = whole * T(0.5) + constants::rounding;
        EINPARALLEL_DETAIL_OPAQUE(half);
        const integers half_bits = bits(half);
        half -= constants::rounding;
        EINPARALLEL_DETAIL_OPAQUE(half);
        vector other = (whole - half) + constants::rounding;
        EINPARALLEL_DETAIL_OPAQUE(other);
        sum *= power_of_two(half_bits);
        return sum * power_of_two(bits(other));
    }

    /// values[i] = exp(values[i]).
    EINPARALLEL_DETAIL_TARGET static void exponentials(T* values, index count) {
        each(count, [&](index at, index length) EINPARALLEL_DETAIL_TARGET {
            write(values + at, exponential(read(values + at, length, T(0))), length);
        });
    }

    /// The largest of a row; no number where one of it is none.
    EINPARALLEL_DETAIL_TARGET static T largest(const T* x, index count) {
        vector most = vector{} + x[0];
        vector none{};  // 1 in lanes that had no number; conditions stay in ?:, where nvcc takes vectors
        none = most != most ? vector{} + T(1) : none;
        each(count, [&](index at, index length) EINPARALLEL_DETAIL_TARGET {
            const vector value = read(x + at, length, x[0]);
            most = value > most ? value : most;
            none = value != value ? vector{} + T(1) : none;
        });
        T found = most[0];
        bool all_numbers = true;
        for (index lane = 0; lane < lanes; ++lane) {
            found = most[lane] > found ? most[lane] : found;
            all_numbers = all_numbers && none[lane] == 0;
        }
        return all_numbers ? found : std::numeric_limits<T>::quiet_NaN();
    }

    /// y = exp(x − shift). @return Σ y
    EINPARALLEL_DETAIL_TARGET static T shifted(T* y, const T* x, T shift, index count) {
        vector sums{};
        each(count, [&](index at, index length) EINPARALLEL_DETAIL_TARGET {
            const vector value = exponential(read(x + at, length, -std::numeric_limits<T>::infinity()) - shift);
            write(y + at, value, length);
            sums += value;
        });
        T sum = sums[0];
        for (index lane = 1; lane < lanes; ++lane) {
            sum += sums[lane];
        }
        return sum;
    }
    EINPARALLEL_DETAIL_TARGET static void divide(T* y, T by, index count) {
        each(count, [&](index at, index length)
                        EINPARALLEL_DETAIL_TARGET { write(y + at, read(y + at, length, T(0)) / by, length); });
    }

private:
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
        integers made;
        __builtin_memcpy(&made, &value, sizeof(made));
        return made;
    }
    /// 2^k where the lowest bits are those of k.
    EINPARALLEL_DETAIL_TARGET static vector power_of_two(integers lowest_bits) {
        const integers made = (lowest_bits << constants::mantissa) + (integer{constants::bias} << constants::mantissa);
        vector value;
        __builtin_memcpy(&value, &made, sizeof(value));
        return value;
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
