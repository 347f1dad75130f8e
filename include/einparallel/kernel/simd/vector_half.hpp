// Rows of halves as rows of floats, and back. Compiled for every instruction set: this header includes itself once for
// each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_HALF)
#define EINPARALLEL_DETAIL_VECTOR_HALF

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// For Half, float16 or bfloat16, with the instructions of Set.
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
    typedef float vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef float loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(4), may_alias));
    typedef std::uint32_t words __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef std::int32_t integers __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef std::uint16_t shorts __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES / 2)));

    /// `lanes` halves, each in the lower half of a word.
    EINPARALLEL_DETAIL_TARGET static words bits_of(const Half* x) {
        shorts bits;
        __builtin_memcpy(&bits, x, sizeof(bits));
        words wide;
#if defined(EINPARALLEL_DETAIL_TO_WORDS)
        EINPARALLEL_DETAIL_TO_WORDS(wide, bits);  // g++ converts by parts
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
            shorts bits;
            __builtin_memcpy(&bits, x, sizeof(bits));
            EINPARALLEL_DETAIL_TO_FLOAT(made, bits);
            return made;
        }
#endif
        words wide = bits_of(x);
        if constexpr (std::is_same_v<Half, bfloat16>) {
            wide <<= 16U;
        } else {
            const words rest = wide & 0x7fffU;
            words normal = (rest << 13U) + 0x38000000U;
            normal += words(rest >= 0x7c00U) & 0x38000000U;
            const vector small = __builtin_convertvector(integers(rest), vector) * 0x1p-24F;
            words subnormal;
            __builtin_memcpy(&subnormal, &small, sizeof(small));
            const words is_small = words(rest < 0x400U);
            wide = (wide & 0x8000U) << 16U | (is_small & subnormal) | (~is_small & normal);
        }
        __builtin_memcpy(&made, &wide, sizeof(made));
        return made;
    }

    /// `lanes` floats, rounded to the nearest halves.
    EINPARALLEL_DETAIL_TARGET static void write(Half* into, const vector& x) {
        shorts bits;
#if defined(EINPARALLEL_DETAIL_TO_FLOAT)
        if constexpr (std::is_same_v<Half, float16>) {
            EINPARALLEL_DETAIL_TO_HALF(bits, x);
            __builtin_memcpy(static_cast<void*>(into), &bits, sizeof(bits));
            return;
        }
#endif
        if constexpr (std::is_same_v<Half, bfloat16>) {
            words wide;
            __builtin_memcpy(&wide, &x, sizeof(wide));
            const words is_nan = words((wide & 0x7fffffffU) > 0x7f800000U);
            const words rounded = wide + 0x7fffU + (wide >> 16U & 1U);
            wide = ((is_nan & (wide | 0x400000U)) | (~is_nan & rounded)) >> 16U;
            bits = __builtin_convertvector(wide, shorts);
            __builtin_memcpy(static_cast<void*>(into), &bits, sizeof(bits));
        } else {
            for (index lane = 0; lane < lanes; ++lane) {
                into[lane] = Half(x[lane]);
            }
        }
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
    /// Rows of `width` halves at offsets, to others.
    EINPARALLEL_DETAIL_TARGET static void widen_rows(float* into, const index* into_rows, const Half* from,
                                                     const index* from_rows, index rows, index width) {
        for (index row = 0; row < rows; ++row) {
            widen(into + into_rows[row], from + from_rows[row], width);
        }
    }
    /// Words of neighbours in two rows of `count` halves, whole vectors of them; without a second row its halves are 0.
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
