#pragma once

#include <einparallel/kernel/simd/packing.hpp>

#include <einparallel/kernel/small_vector.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void pack_panels(const void* /*context*/, void* into, const void* from, const packed_block& block) {
    auto* const packed = static_cast<std::byte*>(into);
    const auto* const matrix = static_cast<const std::byte*>(from);
    const tile_side& columns = block.tile.columns;
    const tile_side& rows = block.tile.rows;
    const index unit = block.tile.unit;
    const copy_functions functions = copy_functions::best(unit, columns.run);
    const index lanes = functions.lanes;
    if (lanes == 1 || block.period == 0 || block.period % lanes != 0 || columns.run % lanes != 0 || block.run < lanes) {
        functions.copy(packed, matrix, block.tile);
        return;
    }
    // Transposes each step by itself: its columns are neighbours in a micro-panel, its rows are neighbours in the
    // matrix.
    small_vector<index, 1024> tables(std::size_t(2 * block.run));
    index* const targets = tables.data();
    index* const sources = targets + block.run;
    for (index begin = 0; begin < block.count; begin += block.period * block.run) {
        for (index inner = begin; inner < begin + block.period; inner += lanes) {
            for (index outer = 0; outer < block.run; ++outer) {
                targets[outer] = columns.into[inner + outer * block.period] - columns.into[inner];
                sources[outer] = outer;
            }
            copy_tile step = block.tile;
            step.columns = {columns.into + inner, columns.from + inner, lanes, lanes};
            step.rows = {targets, sources, block.run, block.run};
            for (index row = 0; row < rows.count; ++row) {
                step.next = row + 2 < rows.count ? (rows.from[row + 2] - rows.from[row]) * unit : 0;
                functions.copy(packed + rows.into[row] * unit, matrix + rows.from[row] * unit, step);
            }
        }
    }
    copy_tile rest = block.tile;
    rest.columns = {columns.into + block.count, columns.from + block.count, columns.count - block.count, 1};
    functions.copy(packed, matrix, rest);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
