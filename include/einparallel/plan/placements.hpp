#pragma once
// How the tensors of a plan lie along the axes of its meshes, in the field's words.

#include <einparallel/layout/placement.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>

#include <string>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// How a task's tensors lie along one axis of its mesh.
EINPARALLEL_INLINE axis_placements placements_in(const task& work, const mesh_axis& axis);

}  // namespace EINPARALLEL_DETAIL

/// Along every axis of a vertex's mesh, outermost first, how its operands and its output lie while it is computed. At
/// rest nothing is replicated: a block that several ranks compute with is stored in pieces, and what is Partial is
/// summed up into pieces before the vertex ends, unless its sum is left pending; then it rests as it is, and its
/// readers have it Partial. Empty for inputs, and for vertices that one rank computes.
EINPARALLEL_INLINE [[nodiscard]] std::vector<axis_placements> placements_of(const planned_vertex& each);

namespace EINPARALLEL_DETAIL {

/// `shard(i)`, `replicate` or `partial`.
EINPARALLEL_INLINE std::string placement_text(const placement& shown, const std::vector<std::string>& names);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
