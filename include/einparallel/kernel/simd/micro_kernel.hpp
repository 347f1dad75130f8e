#pragma once
// The innermost block of a matrix product as a value, and the packing of scattered matrices into what it reads: one
// blocked product serves all element types, operators and instruction sets.

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_tile.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Packs a complex block, times a scale, as real numbers. A step of a micro-panel of `Panel` columns gets `wide`
/// numbers, which put(step of the panel, lane, value) writes. A complex product becomes a real one of twice the depth
/// (Van Zee's 1m).
template <index Panel, class T, class Put>
void pack_complex(void* into, const void* from, const copy_tile& tile, index wide, T scale, Put put) {
    for (index begin = 0; begin < tile.columns.count; begin += Panel) {
        auto* panel = static_cast<typename T::value_type*>(into) + tile.columns.into[begin] * (wide / Panel);
        for (index step = 0; step < tile.rows.count; ++step, panel += wide) {
            const T* const row = static_cast<const T*>(from) + tile.rows.from[step];
            for (index lane = 0; lane < Panel; ++lane) {
                const T& value = row[tile.columns.from[begin + lane]];
                put(panel, lane, scale == T(1) ? value : op::prod(scale, value));
            }
        }
    }
}

struct sums {
    static constexpr op::sum_type reduce{};
};

/// The kernel of scale · Σ of products with the instructions of Set. Complex products use the vector kernels of real
/// numbers. The context is the scale.
template <Element T, instruction_set Set>
tile_kernel product_tile_kernel_of(const T* scale) {
    using R = real_part_t<T>;
    using code = vector_tile<R, Set>;
    constexpr index reals = sizeof(T) / sizeof(R);
    constexpr index columns = code::columns / reals;
    tile_kernel kernel{code::rows,        columns,   code::lanes / reals, sizeof(T),
                       reals * sizeof(T), sizeof(T), sizeof(T),           sizeof(T)};
    kernel.run = [](const void* context, index depth, index high, const void* a, const void* b, void* c,
                    const index* row_offsets, const index* vector_offsets, bool add) {
        const index real_vectors[2] = {reals * vector_offsets[0], reals * vector_offsets[1]};
        index real_rows[code::rows];
        if constexpr (reals > 1) {
            for (index row = 0; row < rounded_up(high, code::row_step); ++row) {
                real_rows[row] = reals * row_offsets[row];
            }
            row_offsets = real_rows;
        }
        code::run(reals > 1 ? R(1) : *static_cast<const R*>(context), reals * depth, high, static_cast<const R*>(a),
                  static_cast<const R*>(b), static_cast<R*>(c), row_offsets, real_vectors, add);
    };
    kernel.row_step = code::row_step;
    kernel.pack_a = kernel.pack_b = &pack_panels;
    if constexpr (reals > 1) {
        // Rows (re, im) along the depth.
        kernel.pack_a = [](const void* context, void* into, const void* from, const packed_block& block) {
            pack_complex<code::rows, T>(into, from, block.tile, 2 * code::rows, *static_cast<const T*>(context),
                                        [](R* panel, index lane, T value) {
                                            panel[lane] = value.real();
                                            panel[code::rows + lane] = value.imag();
                                        });
        };
        // The row (re, im, re, im, …) followed by (−im, re, −im, re, …): the real product is the complex one as it lies
        // in memory.
        kernel.pack_b = [](const void* /*context*/, void* into, const void* from, const packed_block& block) {
            pack_complex<columns, T>(into, from, block.tile, 4 * columns, T(1), [](R* panel, index lane, T value) {
                R* const lower = panel + 2 * columns;
                panel[2 * lane] = value.real();
                panel[2 * lane + 1] = value.imag();
                lower[2 * lane] = -value.imag();
                lower[2 * lane + 1] = value.real();
            });
        };
    }
    kernel.scatter = &scatter_tile<T, sums>;
    kernel.context = scale;
    return kernel;
}

/// The kernel of scale · Σ of products with the instructions of a set chosen at run time.
/// @pre supported(set); the scale outlives the kernel
template <Element T>
tile_kernel product_tile_kernel(instruction_set set, const T* scale) {
    return with_instruction_set(set, [scale](auto chosen) { return product_tile_kernel_of<T, chosen.value>(scale); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
