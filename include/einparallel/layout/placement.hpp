#pragma once
// Placements: how one tensor lies along one axis of a mesh (Sharding with einsum).

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

/// Shard(label) | Replicate | Partial(⊕) along one axis of a mesh. The ⊕ is the reduction of the vertex.
struct placement {
    placement_kind kind = placement_kind::replicate;  ///< which of the three
    label_id label = no_label;                        ///< label of a shard

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
    std::vector<placement> operands;  ///< placement of each operand
    placement output;                 ///< placement of the output

    friend bool operator==(const axis_placements&, const axis_placements&) = default;
};

/// How the tensors of an einsum lie along one axis of its mesh: the table in examples/pages/placements.md.
EINPARALLEL_INLINE axis_placements placements_along(const einsum_form& form, const mesh_axis& axis);

namespace detail {

/// The placement of a result, from the placements `along` of its operands. has(r, label) says whether tensor r has a
/// label; the result is the tensor after the operands.
constexpr std::optional<placement> propagated(std::span<const placement> along, const auto& has) {
    const std::size_t operands = along.size();
    label_id cut = no_label;
    std::size_t pending = 0;
    for (const placement& each : along) {
        cut = each.kind == placement_kind::shard ? each.label : cut;
        pending += each.kind == placement_kind::partial ? 1 : 0;
    }
    if (cut == no_label) {
        return pending > 1    ? std::nullopt
               : pending == 1 ? std::optional(placement::partial())
                              : std::optional(placement::replicate());
    }
    for (std::size_t operand = 0; operand < operands; ++operand) {
        if (along[operand] != (has(operand, cut) ? placement::shard(cut) : placement::replicate())) {
            return std::nullopt;
        }
    }
    return has(operands, cut) ? placement::shard(cut) : placement::partial();
}

}  // namespace detail

/// How the result of an einsum of products lies along one axis of a mesh, by the placements of its operands. Replicate
/// operands make Replicate. Where every operand with some label is Shard of it, and the others are Replicate, the
/// result is Shard of this label, or Partial if it lacks the label. One Partial operand beside Replicate ones makes
/// Partial. None where an operand has to be redistributed first (Sharding with einsum).
/// `einsum`: an einsum_form, or einsum_spec<"ij,jk->ik">(); for the latter the result is a constant, and id<"j"> is the
/// number of label j.
template <class Einsum>
constexpr std::optional<placement> propagated(const Einsum& einsum, std::span<const placement> operands) {
    return detail::propagated(operands, [&](std::size_t tensor, label_id label) {
        return tensor < operands.size() ? einsum.in_operand(tensor, label) : einsum.in_output(label);
    });
}

/// The same for the gradient by operand `by`. It is an einsum of the other operands and of the result's gradient, whose
/// placement stands in place of operand `by`.
template <class Einsum>
constexpr std::optional<placement> propagated_back(const Einsum& einsum, std::size_t by,
                                                   std::span<const placement> operands) {
    return detail::propagated(operands, [&](std::size_t tensor, label_id label) {
        const bool is_by = tensor == operands.size();
        return tensor == by ? einsum.in_output(label) : einsum.in_operand(is_by ? by : tensor, label);
    });
}

}  // namespace einparallel
