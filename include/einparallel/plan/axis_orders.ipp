#pragma once
// The orders of a vertex's mesh axes, once its partition vector is chosen.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/constraints.ipp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The axes of a partition vector in their natural order: those that a pin names as it names them, labels of the output
/// as they stand there, then the others. A ring over a contracted label so runs between neighbouring ranks.
/// @param points by label, or fewer; cut points for the parts that are as many
EINPARALLEL_INLINE mesh natural_mesh(const vertex& einsum, std::span<const int> parts,
                                     std::span<const std::vector<index>> points) {
    mesh ranks;
    const auto append = [&](label_id label) {
        const auto number = static_cast<std::size_t>(label);
        if (label != no_label && parts[number] > 1 && ranks.parts(label) == 1) {
            ranks.axes.push_back({label, parts[number], {}});
            if (number < points.size() && points[number].size() == static_cast<std::size_t>(parts[number]) + 1) {
                ranks.axes.back().points = points[number];
            }
        }
    };
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        append(axis.label);
    }
    for (const label_id label : einsum.form.output) {
        append(label);
    }
    for (std::size_t label = 0; label < parts.size(); ++label) {
        append(static_cast<label_id>(label));
    }
    return ranks;
}

/// Orders to try for the axes of a mesh, the natural one first: all of them up to four axes, beyond that those of
/// neighbours and every exchange of two axes; of these what a pin of the vertex allows, where the natural one does.
EINPARALLEL_INLINE std::vector<mesh> axis_orders(const vertex& einsum, const mesh& natural,
                                                 const std::vector<mesh>& like) {
    std::vector<mesh> orders{natural};
    const std::size_t count = natural.axes.size();
    if (count <= 4) {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        while (std::next_permutation(order.begin(), order.end())) {
            mesh& next = orders.emplace_back();
            for (const std::size_t axis : order) {
                next.axes.push_back(natural.axes[axis]);
            }
        }
    } else {
        orders.insert(orders.end(), like.begin(), like.end());
        for (std::size_t base = orders.size(); base-- > 0;) {
            for (std::size_t first = 0; first < count; ++first) {
                for (std::size_t second = first + 1; second < count; ++second) {
                    mesh next = orders[base];
                    std::swap(next.axes[first], next.axes[second]);
                    orders.push_back(std::move(next));
                }
            }
        }
    }
    if (einsum.wishes.pin && follows_pin(einsum, natural)) {
        std::erase_if(orders, [&](const mesh& ranks) { return !follows_pin(einsum, ranks); });
    }
    return orders;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
