#pragma once
// How the tensors of a plan lie along the axes of its meshes, in the field's words.

#include <einparallel/layout/placement.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace einparallel {

/// Along every axis of a vertex's mesh, outermost first, how its operands and its output lie while it is computed. At
/// rest nothing is replicated: a block that several ranks compute with is stored in pieces, and what is Partial is
/// summed up into pieces before the vertex ends. Empty for inputs, and for vertices that one rank computes.
template <class Lazy = void>
[[nodiscard]] std::vector<axis_placements> placements_of(const planned_vertex& each) {
    return placements_on(each.work.form, each.work.ranks);
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
