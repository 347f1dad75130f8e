#pragma once
// How the tensors of a plan lie along the axes of its meshes, in the field's words.

#include <einparallel/layout/placement.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace einparallel {

namespace detail {

/// How a task's tensors lie along one axis of its mesh.
template <class Lazy = void>
axis_placements placements_in(const task& work, const mesh_axis& axis) {
    if (axis.label != work.carried) {
        return placements_along(work.form, axis);
    }
    axis_placements along;
    for (std::size_t operand = 0; operand < work.form.operands.size(); ++operand) {
        along.operands.push_back(work.form.in_operand(operand, axis.label) ? placement::partial()
                                                                           : placement::replicate());
    }
    along.output = placement::partial();
    return along;
}

}  // namespace detail

/// Along every axis of a vertex's mesh, outermost first, how its operands and its output lie while it is computed. At
/// rest nothing is replicated: a block that several ranks compute with is stored in pieces, and what is Partial is
/// summed up into pieces before the vertex ends, unless its sum is left pending; then it rests as it is, and its
/// readers have it Partial. Empty for inputs, and for vertices that one rank computes.
template <class Lazy = void>
[[nodiscard]] std::vector<axis_placements> placements_of(const planned_vertex& each) {
    std::vector<axis_placements> all;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        all.push_back(detail::placements_in(each.work, axis));
    }
    return all;
}

namespace detail {

/// `shard(i)`, `replicate` or `partial`.
template <class Lazy = void>
std::string placement_text(const placement& shown, const std::vector<std::string>& names) {
    switch (shown.kind) {
        case placement_kind::shard:
            return "shard(" + names[static_cast<std::size_t>(shown.label)] + ")";
        case placement_kind::partial:
            return "partial";
        default:
            return "replicate";
    }
}

}  // namespace detail

}  // namespace einparallel
