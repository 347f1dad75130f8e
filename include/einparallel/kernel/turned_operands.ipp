#pragma once
// Operands whose elements lie side by side across the rows of a nest: blocks of them are turned round in a buffer,
// where they lie along the rows.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/plane_copy.hpp>
#include <einparallel/kernel/row_order.ipp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// The operands of a nest that are read in blocks, and the blocks.
class turned_operands {
public:
    /// Points of a block along the row, and rows.
    static constexpr index width = 512;
    static constexpr index height = 32;

    turned_operands(const loop_nest& nest, const row_order& order, const row_operands& operands)
        : turned_(found(nest, order, operands)), lease_(bytes_of(turned_)) {}

    [[nodiscard]] bool empty() const { return turned_.empty(); }

    /// Reads the block that begins where the offsets say.
    EINPARALLEL_INLINE void read(const index* offsets, index rows, index columns);

    /// Points the slots of these operands, less that of the output, to row `number` of the block.
    EINPARALLEL_INLINE void point_to(index number, const std::byte** places) const;
    /// Rows of these operands move by one.
    EINPARALLEL_INLINE void straighten(index* moves) const;

private:
    struct turned {
        std::size_t slot;
        const std::byte* data;
        index bytes;
        index column;  ///< bytes from one point of a row to the next
    };
    using turned_list = small_vector<turned, 4>;

    /// Bytes from one row of a block to the next: a line more than a power of two.
    static constexpr index pitch(index bytes) { return width * bytes + 64; }

    EINPARALLEL_INLINE static turned_list found(const loop_nest& nest, const row_order& order,
                                                const row_operands& operands);

    EINPARALLEL_INLINE static std::size_t bytes_of(const turned_list& list);

    turned_list turned_;
    scratch_lease<scratch_purpose::packing> lease_;
};

EINPARALLEL_INLINE void turned_operands::read(const index* offsets, index rows, index columns) {
    std::byte* into = lease_.data();
    for (const turned& each : turned_) {
        turn_plane(into, each.data + offsets[each.slot] * each.bytes, {rows, columns, pitch(each.bytes), each.column},
                   each.bytes);
        into += height * pitch(each.bytes);
    }
}

EINPARALLEL_INLINE void turned_operands::point_to(index number, const std::byte** places) const {
    const std::byte* block = lease_.data();
    for (const turned& each : turned_) {
        places[each.slot - 1] = block + number * pitch(each.bytes);
        block += height * pitch(each.bytes);
    }
}

EINPARALLEL_INLINE void turned_operands::straighten(index* moves) const {
    for (const turned& each : turned_) {
        moves[each.slot] = 1;
    }
}

EINPARALLEL_INLINE turned_operands::turned_list turned_operands::found(const loop_nest& nest, const row_order& order,
                                                                       const row_operands& operands) {
    turned_list list;
    constexpr index least = 256;  // points that are worth what a block takes to set up
    constexpr index shortest = 4;
    const bool sums_inside = !order.outer_contracted.empty() && nest.in_output(order.inner);
    if (order.tiled == row_order::none || sums_inside ||
        std::min(nest.extents[order.tiled], nest.extents[order.inner]) < shortest ||
        nest.extents[order.tiled] * nest.extents[order.inner] < least) {
        return list;
    }
    for (std::size_t slot = 1; slot < nest.slots; ++slot) {
        const index along = nest.of(order.inner)[slot];
        if (along != 0 && along != 1 && nest.of(order.tiled)[slot] == 1) {
            const row_operand& operand = operands[slot - 1];
            list.push_back({slot, operand.data, operand.bytes, along * operand.bytes});
        }
    }
    return list;
}

EINPARALLEL_INLINE std::size_t turned_operands::bytes_of(const turned_list& list) {
    index bytes = 0;
    for (const turned& each : list) {
        bytes += height * pitch(each.bytes);
    }
    return static_cast<std::size_t>(bytes);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
