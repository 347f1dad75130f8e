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
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A block to pack. Columns of its tile are indices of C, columns.run of them in each micro-panel. Rows of its tile are
/// steps of the summed index. The last micro-panel is filled up with copies of the last column.
struct packed_block {
    copy_tile tile;
    index count = 0;  ///< columns without these copies
    /// Not 0 where the matrix is contiguous along an outer index, and C along inner ones. Then columns.from[i + period]
    /// = columns.from[i] + 1 where both columns lie in one stretch of run · period columns, and count is a multiple of
    /// run · period.
    index period = 0;
    index run = 0;
};

/// The type of tile_kernel::pack_a and pack_b.
using pack_function = void (*)(const void* context, void* into, const void* from, const packed_block& block);

/// A pack_function that packs elements as they are: tile.unit bytes each, whatever they mean.
EINPARALLEL_INLINE void pack_panels(const void* context, void* into, const void* from, const packed_block& block);

/// pack_panels() of elements of another type, which have `bytes` bytes and become elements of T. convert(row, from,
/// count) converts contiguous elements. convert_panel(panel, rows, width), where given, converts all rows of a
/// micro-panel whose columns are neighbours. Where its columns are no neighbours, or `repack` is another routine,
/// elements are converted first, and `repack` packs the result.
template <class T, class Panel = std::nullptr_t>
void pack_through(const void* context, T* into, const std::byte* from, index bytes, const packed_block& block,
                  const auto& convert, pack_function repack = &pack_panels,
                  [[maybe_unused]] const Panel& convert_panel = nullptr) {
    const tile_side& columns = block.tile.columns;
    const tile_side& rows = block.tile.rows;
    const pack_function plain = &pack_panels;
    bool across = repack == plain;  // a micro-panel's columns are neighbours
    for (index begin = 0; across && begin < block.count; begin += columns.run) {
        across = consecutive(columns.from + begin, std::min(columns.run, block.count - begin));
    }
    if (across) {
        for (index begin = 0; begin < block.count; begin += columns.run) {
            const index width = std::min(columns.run, block.count - begin);
            T* const panel = into + columns.into[begin];
            if constexpr (!std::is_same_v<Panel, std::nullptr_t>) {
                convert_panel(panel, from + columns.from[begin] * bytes, width);
            } else {
                for (index row = 0; row < rows.count; ++row) {
                    convert(panel + rows.into[row], from + (columns.from[begin] + rows.from[row]) * bytes, width);
                }
            }
            for (index row = 0; width < columns.run && row < rows.count; ++row) {
                std::fill_n(panel + rows.into[row] + width, columns.run - width, panel[rows.into[row] + width - 1]);
            }
        }
        return;
    }
    // Converts columns one by one, then makes micro-panels of them.
    const bool along = consecutive(rows.from, rows.count);
    constexpr std::size_t aligned = sizeof(index);
    const std::size_t wide_bytes =
        (std::size_t(block.count * rows.count) * sizeof(T) + aligned - 1) / aligned * aligned;
    const scratch_memory memory(wide_bytes + std::size_t(columns.count + rows.count) * sizeof(index) +
                                (along ? 0 : std::size_t(rows.count * bytes)));
    auto* const wide = reinterpret_cast<T*>(memory.data());
    auto* const offsets = reinterpret_cast<index*>(memory.data() + wide_bytes);
    auto* const gathered = reinterpret_cast<std::byte*>(offsets + columns.count + rows.count);
    for (index column = 0; column < columns.count; ++column) {
        offsets[column] = std::min(column, block.count - 1) * rows.count;
        if (column >= block.count) {
            continue;
        }
        const std::byte* const x = from + columns.from[column] * bytes;
        for (index row = 0; !along && row < rows.count; ++row) {
            __builtin_memcpy(gathered + row * bytes, x + rows.from[row] * bytes, std::size_t(bytes));
        }
        convert(wide + offsets[column], along ? x + rows.from[0] * bytes : gathered, rows.count);
    }
    std::iota(offsets + columns.count, offsets + columns.count + rows.count, index{0});
    packed_block made{block.tile, block.count};
    made.tile.unit = sizeof(T);
    made.tile.columns.from = offsets;
    made.tile.rows.from = offsets + columns.count;
    made.tile.rows.run = rows.count;
    repack(context, into, wide, made);
}

/// pack_panels() of halves, which become floats.
template <class Half>
void pack_halves(const void* context, void* into, const void* from, const packed_block& block) {
    const auto [widen_row, widen_rows] = with_best_instructions([](auto set) {
        using code = vector_half<Half, decltype(set)::value>;
        return std::pair(&code::widen, &code::widen_rows);
    });
    const tile_side& rows = block.tile.rows;
    const auto halves = [](const std::byte* read) { return reinterpret_cast<const Half*>(read); };
    pack_through(
        context, static_cast<float*>(into), static_cast<const std::byte*>(from), sizeof(Half), block,
        [&, widen_row = widen_row](float* row, const std::byte* read, index count) {
            widen_row(row, halves(read), count);
        },
        &pack_panels,
        [&, widen_rows = widen_rows](float* panel, const std::byte* read, index width) {
            widen_rows(panel, rows.into, halves(read), rows.from, rows.count, width);
        });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
