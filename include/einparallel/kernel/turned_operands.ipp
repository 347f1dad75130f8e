#pragma once

#include <einparallel/kernel/turned_operands.hpp>

#include <einparallel/kernel/plane_copy.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

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
