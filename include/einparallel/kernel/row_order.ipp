#pragma once

#include <einparallel/kernel/row_order.hpp>

#include <einparallel/notation/box.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a point costs when `loop` is the row, in loads of contiguous elements; only comparisons matter. Where nothing
/// is summed, operands that jump are read in blocks (turned_operands.hpp), an output that jumps is not written so.
EINPARALLEL_INLINE double row_cost(const loop_nest& nest, std::size_t loop) {
    const index* moves = nest.of(loop);
    const bool blocks = nest.all_in_output();
    double cost = 0;
    for (std::size_t slot = 0; slot < nest.slots; ++slot) {
        const double jump = !blocks ? 2.0 : slot == 0 ? 3.0 : 1.0;
        cost += moves[slot] == 0 ? 0.25 : moves[slot] == 1 ? 0.5 : jump;
    }
    return cost + 8.0 / static_cast<double>(std::min<index>(nest.extents[loop], 256));
}

EINPARALLEL_INLINE row_order order_rows(const loop_nest& nest) {
    row_order order;
    double cheapest = 0;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const double cost = row_cost(nest, loop);
        if (order.inner == row_order::none || cost <= cheapest) {
            order.inner = loop;
            cheapest = cost;
        }
    }
    if (order.inner == row_order::none) {
        return order;
    }
    // Where the row jumps through an operand, each element of it brings a cache line of which the next point along that
    // operand's own contiguous loop wants its share: walk that loop next.
    std::size_t neighbour = row_order::none;
    for (std::size_t slot = 0; slot < nest.slots && neighbour == row_order::none; ++slot) {
        if (nest.of(order.inner)[slot] != 0 && nest.of(order.inner)[slot] != 1) {
            for (std::size_t loop = 0; loop < nest.size(); ++loop) {
                if (loop != order.inner && nest.of(loop)[slot] == 1) {
                    neighbour = loop;
                }
            }
        }
    }
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != order.inner && loop != neighbour) {
            (nest.in_output(loop) ? order.outer_output : order.outer_contracted).push_back(loop);
        }
    }
    if (neighbour != row_order::none) {
        if (nest.in_output(neighbour) == nest.in_output(order.inner)) {
            order.tiled = neighbour;
        } else {
            (nest.in_output(neighbour) ? order.outer_output : order.outer_contracted).push_back(neighbour);
        }
    }
    return order;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
