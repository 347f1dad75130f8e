#pragma once
// The micro-kernels of products of halves. On processors that multiply pairs of bfloat16 (AVX-512 BF16) two neighbours
// along the summed index are one word of 32 bits. A step adds first one product and then the other to a sum of floats,
// each rounded to the nearest; subnormal numbers are taken as zero.

#include <einparallel/kernel/simd/convert.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/micro_kernel.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_half.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if EINPARALLEL_DETAIL_X86 && defined(__x86_64__) && !defined(__CUDACC__)
#define EINPARALLEL_DETAIL_PAIRS 1
#else
#define EINPARALLEL_DETAIL_PAIRS 0
#endif

namespace einparallel::EINPARALLEL_DETAIL {

/// True where this processor multiplies pairs of bfloat16.
inline bool multiplies_pairs() {
#if EINPARALLEL_DETAIL_PAIRS
    return supported(instruction_set::avx512) && __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

#if EINPARALLEL_DETAIL_PAIRS

/// Packs micro-panels of pairs: for every two steps one word of each column. Where the number of steps is odd, the last
/// words have zeros as their second halves.
inline void pack_pairs(const void* context, void* into, const void* from, const packed_block& block) {
    using code = vector_half<bfloat16, instruction_set::avx512>;
    const tile_side& columns = block.tile.columns;
    const tile_side& rows = block.tile.rows;
    const index pairs = (rows.count + 1) / 2;
    const index run = columns.run;
    const auto* const halves = static_cast<const bfloat16*>(from);
    bool across = run % code::lanes == 0;  // a micro-panel's columns are neighbours
    for (index begin = 0; across && begin < columns.count; begin += run) {
        across = begin + run <= block.count && consecutive(columns.from + begin, run);
    }
    if (across) {
        auto* const words = reinterpret_cast<std::uint32_t*>(into);
        for (index pair = 0; pair < pairs; ++pair) {
            const bfloat16* const low = halves + rows.from[2 * pair];
            const bfloat16* const high = 2 * pair + 1 < rows.count ? halves + rows.from[2 * pair + 1] : nullptr;
            for (index begin = 0; begin < columns.count; begin += run) {
                const index column = columns.from[begin];
                code::interleave(words + columns.into[begin] / 2 + pair * run, low + column,
                                 high == nullptr ? nullptr : high + column, run);
            }
        }
        return;
    }
    const bool along = consecutive(rows.from, rows.count);
    const bfloat16* const first = halves + columns.from[0] + rows.from[0];
    bool are_words = along && rows.count % 2 == 0 && reinterpret_cast<std::uintptr_t>(first) % 4 == 0;
    for (index column = 0; are_words && column < block.count; ++column) {
        are_words = (columns.from[column] - columns.from[0]) % 2 == 0;
    }
    // Reads words as they lie in memory, or makes columns of words one by one; then makes micro-panels of them.
    const scratch_memory memory((are_words ? 0 : std::size_t(block.count * pairs + 2) * sizeof(std::uint32_t)) +
                                std::size_t(2 * columns.count + 2 * pairs) * sizeof(index));
    auto* const words = reinterpret_cast<std::uint16_t*>(memory.data());
    auto* const offsets = reinterpret_cast<index*>(words + (are_words ? 0 : (block.count * pairs + 1) / 2 * 4));
    index* const read = offsets + columns.count;
    index* const steps = read + columns.count;
    for (index column = 0; column < columns.count; ++column) {
        const index copied = std::min(column, block.count - 1);
        offsets[column] = (columns.into[column] - column % run) / 2 + column % run;
        read[column] = are_words ? (columns.from[copied] - columns.from[0]) / 2 : copied * pairs;
        if (are_words || column >= block.count) {
            continue;
        }
        std::uint16_t* const word = words + 2 * read[column];
        const bfloat16* const x = halves + columns.from[column];
        word[2 * pairs - 1] = 0;
        if (along) {
            __builtin_memcpy(word, x + rows.from[0], std::size_t(rows.count) * sizeof(bfloat16));
        }
        for (index row = 0; !along && row < rows.count; ++row) {
            word[row] = x[rows.from[row]].bits();
        }
    }
    for (index pair = 0; pair < pairs; ++pair) {
        steps[pair] = pair * run;
        steps[pairs + pair] = pair;
    }
    packed_block made{{{offsets, read, columns.count, run}, {steps, steps + pairs, pairs, pairs}}, block.count};
    made.tile.unit = sizeof(std::uint32_t);
    pack_panels(context, into, are_words ? static_cast<const void*>(first) : words, made);
}

struct pair_vectors {
    typedef float vector __attribute__((vector_size(64)));
    typedef float loose __attribute__((vector_size(64), aligned(4), may_alias));
    typedef std::int32_t words __attribute__((vector_size(64)));
    typedef std::int32_t loose_words __attribute__((vector_size(64), aligned(4), may_alias));
#if defined(__clang__)
    typedef words factor;
#define EINPARALLEL_DETAIL_ADD_PAIRS __builtin_ia32_dpbf16ps_512
#else
    typedef short factor __attribute__((vector_size(64)));
#define EINPARALLEL_DETAIL_ADD_PAIRS __builtin_ia32_dpbf16ps_v16sf
#endif
};

/// vector_tile::tile on pairs of bfloat16.
template <int Rows>
[[gnu::aligned(64)]] __attribute__((target("avx2,fma,avx512f,avx512vl,avx512bf16"))) void pair_tile(
    float scale, index pairs, const std::int32_t* a, const std::int32_t* b, float* c, const index* row_offsets,
    const index* vector_offsets, bool add) {
    using code = vector_tile<float, instruction_set::avx512>;
    using vector = pair_vectors::vector;
    using words = pair_vectors::words;
    using pair_words = pair_vectors::factor;
    vector sums[Rows][2];
#pragma GCC unroll 32
    for (int row = 0; row < Rows; ++row) {
        sums[row][0] = sums[row][1] = vector{};
    }
    for (index step = 0; step < pairs; ++step) {
        const words right[2] = {*reinterpret_cast<const pair_vectors::loose_words*>(b),
                                *reinterpret_cast<const pair_vectors::loose_words*>(b + code::lanes)};
#pragma GCC unroll 32
        for (int row = 0; row < Rows; ++row) {
            const words left = words{} + a[row];
            sums[row][0] = EINPARALLEL_DETAIL_ADD_PAIRS(sums[row][0], (pair_words)left, (pair_words)right[0]);
            sums[row][1] = EINPARALLEL_DETAIL_ADD_PAIRS(sums[row][1], (pair_words)left, (pair_words)right[1]);
        }
        a += code::rows;
        b += code::columns;
    }
#pragma GCC unroll 32
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
        for (int number = 0; number < 2; ++number) {
            float* const into = c + row_offsets[row] + vector_offsets[number];
            vector sum = scale * sums[row][number];
            if (add) {
                sum += *reinterpret_cast<const pair_vectors::loose*>(into);
            }
            *reinterpret_cast<pair_vectors::loose*>(into) = sum;
        }
    }
}

#undef EINPARALLEL_DETAIL_ADD_PAIRS

/// The kernel of scale · Σ of products of bfloat16. @pre multiplies_pairs(); the scale outlives the kernel
inline tile_kernel pair_tile_kernel(const float* scale) {
    using code = vector_tile<float, instruction_set::avx512>;
    tile_kernel kernel = product_tile_kernel_of<float, instruction_set::avx512>(scale);
    kernel.a_bytes = kernel.b_bytes = kernel.a_element = kernel.b_element = sizeof(bfloat16);
    kernel.pack_a = kernel.pack_b = &pack_pairs;
    kernel.run = [](const void* context, index depth, index high, const void* a, const void* b, void* c,
                    const index* row_offsets, const index* vector_offsets, bool add) {
        const auto tile = high > 2 * code::row_step ? &pair_tile<int(code::rows)>
                          : high > code::row_step   ? &pair_tile<int(2 * code::row_step)>
                                                    : &pair_tile<int(code::row_step)>;
        tile(*static_cast<const float*>(context), (depth + 1) / 2, static_cast<const std::int32_t*>(a),
             static_cast<const std::int32_t*>(b), static_cast<float*>(c), row_offsets, vector_offsets, add);
    };
    return kernel;
}

#endif

/// The kernel of scale · Σ of products where at least one operand has elements of another type than T. Operands are
/// packed as elements of T, unless the processor multiplies them as they are. @pre `how`, which has the scale, outlives
/// the kernel
template <class T>
tile_kernel converting_tile_kernel(element_type a, element_type b, conversion<T>& how) {
#if EINPARALLEL_DETAIL_PAIRS
    if constexpr (std::is_same_v<T, float>) {
        if (a == element_type_of<bfloat16>() && b == a && multiplies_pairs()) {
            return pair_tile_kernel(&how.scale);
        }
    }
#endif
    tile_kernel kernel = product_tile_kernel<T>(best_instruction_set(), &how.scale);
    how = {how.scale, a, b, kernel.pack_a, kernel.pack_b};
    const auto read = [](element_type type, std::size_t& element, pack_function& pack, pack_function converted) {
        if (type != element_type_of<T>()) {
            element = type.bytes;
            pack = converted;
        }
        if constexpr (std::is_same_v<T, float>) {
            with_element_among(multiplied_halves(), type,
                               [&]<class Half>(std::type_identity<Half> /*half*/) { pack = &pack_halves<Half>; });
        }
    };
    read(a, kernel.a_element, kernel.pack_a, &pack_converted<T, true>);
    read(b, kernel.b_element, kernel.pack_b, &pack_converted<T, false>);
    return kernel;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
