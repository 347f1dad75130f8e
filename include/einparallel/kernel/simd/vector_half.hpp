// Rows of halves as rows of floats, and back. Compiled for every instruction set: this header includes itself once for
// each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_HALF)
#define EINPARALLEL_DETAIL_VECTOR_HALF

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Conversions of Half, one of half_elements, with the instructions of Set.
template <class Half, instruction_set Set>
struct vector_half;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_half.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class Half>
struct vector_half<Half, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / 4;
    using format = half_format<Half::kind>;
    using bits_type = typename Half::bits_type;
    typedef float vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef float loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(4), may_alias));
    typedef std::uint32_t words __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef std::int32_t integers __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef std::uint16_t shorts __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES / 2)));
    typedef bits_type stored __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES / 4 * sizeof(bits_type))));
    /// Bits by which a half's sign is shifted to become a float's.
    static constexpr auto sign_shift = unsigned(32 - 8 * sizeof(bits_type));

    EINPARALLEL_DETAIL_TARGET static words words_of(const vector& x) {
        words made;
        __builtin_memcpy(&made, &x, sizeof(made));
        return made;
    }

    /// `lanes` halves, each in the lowest bits of a word.
    EINPARALLEL_DETAIL_TARGET static words bits_of(const Half* x) {
        stored bits;
        __builtin_memcpy(&bits, x, sizeof(bits));
        words wide;
#if defined(EINPARALLEL_DETAIL_TO_WORDS)
        const auto two_bytes = __builtin_convertvector(bits, shorts);
        EINPARALLEL_DETAIL_TO_WORDS(wide, two_bytes);  // g++ splits the conversion
#else
        wide = __builtin_convertvector(bits, words);
#endif
        return wide;
    }
    /// `lanes` halves as floats.
    EINPARALLEL_DETAIL_TARGET static vector read(const Half* x) {
        vector made;
#if defined(EINPARALLEL_DETAIL_TO_FLOAT)
        if constexpr (std::is_same_v<Half, float16>) {
            stored bits;
            __builtin_memcpy(&bits, x, sizeof(bits));
            EINPARALLEL_DETAIL_TO_FLOAT(made, bits);
            return made;
        }
#endif
        words wide = bits_of(x);
        if constexpr (format::bias == 127) {
            wide <<= sign_shift;
        } else {
            const words rest = wide & (format::sign_bit - 1);
            words normal = (rest << unsigned(format::shift)) + format::less;
            normal |= words(rest >= format::infinite) & (format::has_infinity ? 0x7f800000U : 0x7fc00000U);
            const words subnormal = words_of(__builtin_convertvector(integers(rest), vector) * format::smallest);
            const words is_small = words(rest < format::smallest_normal);
            wide = (wide & format::sign_bit) << sign_shift | (is_small & subnormal) | (~is_small & normal);
        }
        __builtin_memcpy(&made, &wide, sizeof(made));
        return made;
    }

    /// `lanes` floats, rounded to the nearest halves.
    EINPARALLEL_DETAIL_TARGET static void write(Half* into, const vector& x) {
        stored bits;
#if defined(EINPARALLEL_DETAIL_TO_FLOAT)
        if constexpr (std::is_same_v<Half, float16>) {
            EINPARALLEL_DETAIL_TO_HALF(bits, x);
            __builtin_memcpy(static_cast<void*>(into), &bits, sizeof(bits));
            return;
        }
#endif
        // As half_type::nearest().
        const words all = words_of(x);
        const words rest = all & 0x7fffffffU;
        const words is_nan = words(rest > 0x7f800000U);
        constexpr auto shift = unsigned(format::shift);
        constexpr std::uint32_t half_way = (1U << (shift - 1)) - 1;
        words made;
        if constexpr (format::bias == 127) {  // with the sign
            made = ((is_nan & (all | 0x400000U)) | (~is_nan & (all + half_way + (all >> shift & 1U)))) >> shift;
        } else {
            made = (rest - format::less + half_way + (rest >> shift & 1U)) >> shift;
            const words is_large = words(made >= format::infinite);
            made = (is_large & format::infinite) | (~is_large & made);
            vector size;
            __builtin_memcpy(&size, &rest, sizeof(size));
            const words small = words_of(size + format::large) - std::bit_cast<std::uint32_t>(format::large);
            const words is_small = words(rest < format::less + (1U << 23U));
            made = (is_small & small) | (~is_small & made);
            made = (is_nan & (format::quiet_nan | (rest >> shift & (format::smallest_normal - 1)))) | (~is_nan & made);
            made |= all >> sign_shift & format::sign_bit;
        }
        bits = __builtin_convertvector(made, stored);
        __builtin_memcpy(static_cast<void*>(into), &bits, sizeof(bits));
    }

    EINPARALLEL_DETAIL_TARGET static void widen(float* into, const Half* x, index count) {
        index at = 0;
        for (; at + lanes <= count; at += lanes) {
            *reinterpret_cast<loose*>(into + at) = read(x + at);
        }
        for (; at < count; ++at) {
            into[at] = x[at];
        }
    }
    /// Converts rows of `width` halves at the offsets `from_rows` to rows of floats at the offsets `into_rows`.
    EINPARALLEL_DETAIL_TARGET static void widen_rows(float* into, const index* into_rows, const Half* from,
                                                     const index* from_rows, index rows, index width) {
        for (index row = 0; row < rows; ++row) {
            widen(into + into_rows[row], from + from_rows[row], width);
        }
    }
    /// Makes words of two halves each, from the rows `low` and `high` of `count` halves. Where `high` is null, its
    /// halves are 0.
    /// @pre `count` is a multiple of `lanes`
    EINPARALLEL_DETAIL_TARGET static void interleave(std::uint32_t* into, const Half* low, const Half* high,
                                                     index count) {
        for (index at = 0; at < count; at += lanes) {
            words wide = bits_of(low + at);
            if (high != nullptr) {
                wide |= bits_of(high + at) << 16U;
            }
            __builtin_memcpy(into + at, &wide, sizeof(wide));
        }
    }
    EINPARALLEL_DETAIL_TARGET static void narrow(Half* into, const float* x, index count) {
        index at = 0;
        for (; at + lanes <= count; at += lanes) {
            const vector value = *reinterpret_cast<const loose*>(x + at);
            write(into + at, value);
        }
        for (; at < count; ++at) {
            into[at] = x[at];
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
