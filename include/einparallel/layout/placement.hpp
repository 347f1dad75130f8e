#pragma once
// Placements: how one tensor lies along one axis of a mesh (papers/sharding-with-einsum; DESIGN §6).

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstdint>
#include <vector>

namespace einparallel {

/// The three placements along one axis.
enum class placement_kind : std::uint8_t {
    shard,      ///< every coordinate of the axis has its own part along the label
    replicate,  ///< every coordinate computes with the same block
    partial     ///< every coordinate has a summand of the block: a ⊕ is pending
};

/// Shard(label) | Replicate | Partial(⊕) along one axis of a mesh. The ⊕ is the vertex's own.
struct placement {
    placement_kind kind = placement_kind::replicate;  ///< which of the three
    label_id label = no_label;                        ///< of a shard

    /// Shard(along).
    [[nodiscard]] static constexpr placement shard(label_id along) { return {placement_kind::shard, along}; }
    /// Replicate.
    [[nodiscard]] static constexpr placement replicate() { return {}; }
    /// Partial(⊕).
    [[nodiscard]] static constexpr placement partial() { return {placement_kind::partial, no_label}; }

    friend constexpr bool operator==(const placement&, const placement&) = default;
};

/// Placements of every tensor of an einsum along one axis.
struct axis_placements {
    std::vector<placement> operands;  ///< by operand
    placement output;                 ///< of the output

    friend bool operator==(const axis_placements&, const axis_placements&) = default;
};

/// The table of DESIGN §6 for one axis of an einsum's mesh.
EINPARALLEL_INLINE axis_placements placements_along(const einsum_form& form, const mesh_axis& axis);

}  // namespace einparallel
