#pragma once
// Copies tiles of strided memory element by element: those whose runs are too short for vectors.

#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Copies `count` elements that lie evenly apart: `into_step` and `from_step` bytes.
template <std::size_t Bytes>
void copy_even(std::byte* into, const std::byte* from, index count, index into_step, index from_step) {
    std::byte values[4][Bytes];
    for (; count >= 4; count -= 4) {  // four at a time: for all the compiler knows, elements overlap
        copy_bytes(values[0], from, Bytes);
        copy_bytes(values[1], from + from_step, Bytes);
        copy_bytes(values[2], from + 2 * from_step, Bytes);
        copy_bytes(values[3], from + 3 * from_step, Bytes);
        copy_bytes(into, values[0], Bytes);
        copy_bytes(into + into_step, values[1], Bytes);
        copy_bytes(into + 2 * into_step, values[2], Bytes);
        copy_bytes(into + 3 * into_step, values[3], Bytes);
        into += 4 * into_step;
        from += 4 * from_step;
    }
    for (; count > 0; --count, into += into_step, from += from_step) {
        copy_bytes(into, from, Bytes);
    }
}

/// Copies elements one by one, along the longer side where its elements lie evenly apart. `Bytes` is the size of an
/// element, 0 where only the tile knows it. With a constant size, an element is copied by a move instead of a call.
template <std::size_t Bytes>
void copy_elements(std::byte* into, const std::byte* from, const copy_tile& tile) {
    const std::size_t bytes = Bytes == 0 ? tile.bytes : Bytes;
    const auto line = std::max<index>(1, 64 / index(bytes));
    const tile_side columns = tile.columns;
    const tile_side rows = tile.rows;
    const index unit = tile.unit;
    if constexpr (Bytes > 0) {
        const bool along_columns = columns.count >= rows.count;
        const tile_side& longer = along_columns ? columns : rows;
        const tile_side& other = along_columns ? rows : columns;
        if (longer.even && longer.count >= 8) {
            const index into_step = (longer.into[1] - longer.into[0]) * unit;
            const index from_step = (longer.from[1] - longer.from[0]) * unit;
            for (index at = 0; at < other.count; ++at) {
                copy_even<Bytes>(into + (longer.into[0] + other.into[at]) * unit,
                                 from + (longer.from[0] + other.from[at]) * unit, longer.count, into_step, from_step);
            }
            return;
        }
    }
    for (index first = 0; first < columns.count; first += line) {
        const index last = std::min(first + line, columns.count);
        for (index row = 0; row < rows.count; ++row) {
            for (index column = first; column < last; ++column) {
                copy_bytes(into + (rows.into[row] + columns.into[column]) * unit,
                           from + (rows.from[row] + columns.from[column]) * unit, Bytes == 0 ? bytes : Bytes);
            }
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
