#pragma once
// Placements: how one tensor lies along one axis of a mesh, and how an einsum carries them from operands to output
// (papers/sharding-with-einsum; DESIGN §6).

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// Placement of an operand along an axis that cuts `label`.
constexpr placement operand_placement(label_id label, bool operand_has) {
    return operand_has ? placement::shard(label) : placement::replicate();
}

/// Placement of the output along an axis that cuts `label`, which stands in some operand or not (`used`).
constexpr placement output_placement(label_id label, bool used, bool output_has) {
    if (output_has) {
        return placement::shard(label);
    }
    return used ? placement::partial() : placement::replicate();
}

/// The propagation rule (papers/sharding-with-einsum): where the output of an einsum (an einsum_form, or an
/// einsum_spec) lies along an axis along which its operands lie so. Nothing where they do not fit: two operands cut
/// along different labels, one replicated that has the cut label, or a pending ⊕ that cannot be carried. It is carried
/// where all other operands are replicated and ⊗ is linear in that one (`is_linear(r)`) and has the pending ⊕ for its
/// sum.
/// @pre one placement for each operand
template <class Form, class IsLinear>
constexpr std::optional<placement> propagate(const Form& form, std::span<const placement> operands,
                                             const IsLinear& is_linear) {
    label_id cut = no_label;
    std::size_t pending = operands.size();
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        if (operands[operand].kind == placement_kind::partial) {
            if (pending != operands.size()) {
                return std::nullopt;
            }
            pending = operand;
        } else if (operands[operand].kind == placement_kind::shard) {
            cut = operands[operand].label;
        }
    }
    if (pending != operands.size()) {
        return cut == no_label && is_linear(pending) ? std::optional(placement::partial()) : std::nullopt;
    }
    for (std::size_t operand = 0; operand < operands.size() && cut != no_label; ++operand) {
        if (operands[operand] != operand_placement(cut, form.in_operand(operand, cut))) {
            return std::nullopt;
        }
    }
    return cut == no_label ? placement::replicate() : output_placement(cut, true, form.in_output(cut));
}

/// Placements of every tensor of an einsum along one axis.
struct axis_placements {
    std::vector<placement> operands;  ///< by operand
    placement output;                 ///< of the output

    friend bool operator==(const axis_placements&, const axis_placements&) = default;
};

/// The table of DESIGN §6 for one axis of an einsum's mesh.
EINPARALLEL_INLINE axis_placements placements_along(const einsum_form& form, const mesh_axis& axis);

}  // namespace einparallel
