#pragma once
// The order in which the loops of a nest are walked row by row.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a nest in the order in which they are walked.
struct row_order {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t inner = none;  ///< the row itself; none where the nest has no loop
    std::size_t tiled = none;  ///< a loop of the row's kind walked inside a chunk of the row, for the cache
    small_vector<std::size_t, 12> outer_output;      ///< outermost first
    small_vector<std::size_t, 12> outer_contracted;  ///< outermost first, inside the output's
};

/// What a point costs when `loop` is the row, in loads of contiguous elements; only comparisons matter. Where nothing
/// is summed, operands that jump are read in blocks (transposed_operands), an output that jumps is not written so.
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

/// @pre the loops of the nest are sorted by the output's stride
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
