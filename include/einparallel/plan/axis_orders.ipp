#pragma once
// What may be chosen about a vertex once its partition vector is: the order of its mesh axes, and along which dimension
// a shared block rests in pieces.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/wishes.ipp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Orders to try for the axes of a mesh, the natural one first: all of them up to four axes, beyond that the ones in
/// which producers have them and every exchange of two axes.
EINPARALLEL_INLINE std::vector<mesh> axis_orders(const mesh& natural, const std::vector<mesh>& like_producers) {
    std::vector<mesh> orders{natural};
    if (natural.axes.size() <= 4) {
        std::vector<std::size_t> order;
        while (order.size() < natural.axes.size()) {
            order.push_back(order.size());
        }
        while (std::next_permutation(order.begin(), order.end())) {
            mesh& next = orders.emplace_back();
            for (const std::size_t axis : order) {
                next.axes.push_back(natural.axes[axis]);
            }
        }
        return orders;
    }
    for (const mesh& like : like_producers) {
        orders.push_back(like);
    }
    const std::size_t bases = orders.size();
    for (std::size_t base = 0; base < bases; ++base) {
        for (std::size_t first = 0; first < natural.axes.size(); ++first) {
            for (std::size_t second = first + 1; second < natural.axes.size(); ++second) {
                mesh next = orders[base];
                std::swap(next.axes[first], next.axes[second]);
                orders.push_back(std::move(next));
            }
        }
    }
    return orders;
}

/// Those of them that a pin of the vertex allows, where the natural one does.
EINPARALLEL_INLINE std::vector<mesh> axis_orders(const vertex& einsum, const mesh& natural,
                                                 const std::vector<mesh>& like_producers) {
    std::vector<mesh> orders = axis_orders(natural, like_producers);
    if (einsum.wishes.pin && follows_pin(einsum, natural)) {
        std::erase_if(orders, [&](const mesh& ranks) { return !follows_pin(einsum, ranks); });
    }
    return orders;
}

/// The usual cut, and the other dimensions that have `each` slices for every sharer of a block.
EINPARALLEL_INLINE std::vector<std::size_t> cuts_of(const std::vector<label_id>& labels,
                                                    const std::vector<index>& extents, const mesh& ranks,
                                                    std::size_t usual, int each, bool others) {
    std::vector<std::size_t> cuts{usual};
    const int pieces = sharers(labels, ranks);
    const std::vector<index> bounds = bounds_of(labels, extents);
    for (std::size_t dimension = 0; dimension < labels.size() && pieces > 1 && others; ++dimension) {
        const index block = block_of(bounds[dimension], ranks.parts(labels[dimension]), 0).size();
        if (dimension != usual && block >= static_cast<index>(each) * pieces) {
            cuts.push_back(dimension);
        }
    }
    return cuts;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
