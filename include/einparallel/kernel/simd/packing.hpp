#pragma once
// Packing: a block of a scattered matrix becomes micro-panels, which micro-kernels read from one end to the other.

#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/vector_half.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A block to pack. Columns of its tile are indices of C, of which a micro-panel has columns.run, rows are steps of the
/// summed index. The last micro-panel is filled up with copies of the last index.
struct packed_block {
    copy_tile tile;
    index count = 0;  ///< columns that are no such copies
    /// columns.from[i + period] = columns.from[i] + 1 where both lie in one stretch of run · period columns, and count
    /// is a multiple of that: the matrix is contiguous along an index outside those that C is contiguous along. 0
    /// where it is not.
    index period = 0;
    index run = 0;
};

/// tile_kernel::pack_a and pack_b where elements are packed as they are: tile.unit bytes each, whatever they mean.
EINPARALLEL_INLINE void pack_panels(const void* context, void* into, const void* from, const packed_block& block);

/// So many halves as floats. @param half  which they are
EINPARALLEL_INLINE void widen(half_bits half, float* into, const void* from, index count);

/// pack_panels() of halves, as floats.
template <class Half>
void pack_halves(const void* context, void* into, const void* from, const packed_block& block) {
    const tile_side& columns = block.tile.columns;
    const tile_side& rows = block.tile.rows;
    const auto [widen_row, widen_rows] = with_best_instructions([](auto set) {
        using code = vector_half<Half, decltype(set)::value>;
        return std::pair(&code::widen, &code::widen_rows);
    });
    auto* const floats = static_cast<float*>(into);
    const auto* const halves = static_cast<const Half*>(from);
    bool across = true;  // a micro-panel's columns are neighbours
    for (index begin = 0; across && begin < block.count; begin += columns.run) {
        across = consecutive(columns.from + begin, std::min(columns.run, block.count - begin));
    }
    if (across) {
        for (index begin = 0; begin < block.count; begin += columns.run) {
            const index width = std::min(columns.run, block.count - begin);
            float* const panel = floats + columns.into[begin];
            widen_rows(panel, rows.into, halves + columns.from[begin], rows.from, rows.count, width);
            for (index row = 0; width < columns.run && row < rows.count; ++row) {
                std::fill_n(panel + rows.into[row] + width, columns.run - width, panel[rows.into[row] + width - 1]);
            }
        }
        return;
    }
    // Columns one by one, of which micro-panels are made then.
    const scratch_memory memory(std::size_t(block.count * rows.count + 1) * sizeof(float) +
                                std::size_t(columns.count + rows.count) * sizeof(index));
    auto* const wide = reinterpret_cast<float*>(memory.data());
    auto* const places = reinterpret_cast<index*>(wide + (block.count * rows.count + 1) / 2 * 2);
    const bool along = consecutive(rows.from, rows.count);
    for (index column = 0; column < columns.count; ++column) {
        places[column] = std::min(column, block.count - 1) * rows.count;
        const Half* const x = halves + columns.from[column];
        if (along && column < block.count) {
            widen_row(wide + places[column], x + rows.from[0], rows.count);
        }
        for (index row = 0; !along && column < block.count && row < rows.count; ++row) {
            wide[places[column] + row] = x[rows.from[row]];
        }
    }
    std::iota(places + columns.count, places + columns.count + rows.count, index{0});
    packed_block made{block.tile, block.count};
    made.tile.unit = sizeof(float);
    made.tile.columns.from = places;
    made.tile.rows.from = places + columns.count;
    made.tile.rows.run = rows.count;
    pack_panels(context, into, wide, made);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
