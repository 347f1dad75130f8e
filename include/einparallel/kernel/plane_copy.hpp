#pragma once
// Copies planes of elements, two loops of any strides: those where each side is contiguous along a loop of its own are
// turned round.

#include <einparallel/kernel/copy_functions.hpp>
#include <einparallel/kernel/vector_copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Copies one plane: `rows` rows of `count` elements of Bytes bytes each. Steps are in bytes. In tiles of tiles: the
/// outer ones keep to few pages; the inner ones are a cache line wide on both sides and are turned round in a buffer,
/// so that each line is read once and written once even where all lines of a tile fall into the same cache set.
template <std::size_t Bytes>
class plane_copy {
public:
    static void run(std::byte* into, index into_row, index into_step, const std::byte* from, index from_row,
                    index from_step, index rows, index count) {
        const bool turned = into_step == bytes && from_row == bytes;
        for (index row = 0; row < rows; row += outer) {
            const index last_row = std::min(rows, row + outer);
            for (index start = 0; start < count; start += outer) {
                const index last = std::min(count, start + outer);
                for (index tile_row = row; tile_row < last_row; tile_row += side) {
                    const index high = std::min(side, last_row - tile_row);
                    for (index tile = start; tile < last; tile += side) {
                        const index wide = std::min(side, last - tile);
                        std::byte* const to = into + tile_row * into_row + tile * into_step;
                        const std::byte* const source = from + tile_row * from_row + tile * from_step;
                        if (turned && high == side && wide == side) {
                            turn(to, into_row, source, from_step);
                        } else {
                            copy(to, into_row, into_step, source, from_row, from_step, high, wide);
                        }
                    }
                }
            }
        }
    }

private:
    static constexpr auto bytes = static_cast<index>(Bytes);
    static constexpr index side = 64 / bytes;
    static constexpr index outer = 64;

    static void turn(std::byte* into, index into_row, const std::byte* from, index from_step) {
        alignas(64) std::byte tile[side * side * bytes];
        for (index column = 0; column < side; ++column) {
            copy_bytes(tile + column * side * bytes, from + column * from_step, static_cast<std::size_t>(side * bytes));
        }
        // Whole lines in, single elements out: a processor forwards a wide store to narrow loads, not the reverse.
        for (index row = 0; row < side; ++row) {
            for (index column = 0; column < side; ++column) {
                copy_bytes(into + row * into_row + column * bytes, tile + (column * side + row) * bytes, Bytes);
            }
        }
    }

    static void copy(std::byte* into, index into_row, index into_step, const std::byte* from, index from_row,
                     index from_step, index rows, index count) {
        for (index row = 0; row < rows; ++row) {
            for (index position = 0; position < count; ++position) {
                copy_bytes(into + row * into_row + position * into_step, from + row * from_row + position * from_step,
                           Bytes);
            }
        }
    }
};

using plane_function = void (*)(std::byte*, index, index, const std::byte*, index, index, index, index);

/// @pre element_bytes is 1, 2, 4, 8 or 16
EINPARALLEL_INLINE plane_function plane_copy_for(std::size_t element_bytes);

/// Copies element (row, column) from from + row · element + column · from_column to into + row · into_row + column ·
/// element, in vectors where there are enough elements of 4 or 8 bytes.
/// @pre element_bytes is 1, 2, 4, 8 or 16
EINPARALLEL_INLINE void turn_plane(std::byte* into, const std::byte* from, const plane_to_turn& plane,
                                   index element_bytes);

}  // namespace einparallel::EINPARALLEL_DETAIL
