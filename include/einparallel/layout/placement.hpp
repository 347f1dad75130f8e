#pragma once
// Placements: how one tensor lies along one axis of a mesh, and how an einsum carries them from operands to output
// (papers/sharding-with-einsum; DESIGN §6).

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/einsum_spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace einparallel {

enum class placement_kind : std::uint8_t {
    shard,      ///< every coordinate of the axis has its own part along the label
    replicate,  ///< every coordinate computes with the same block
    partial     ///< every coordinate has a summand of the block: a ⊕ is pending
};

/// Shard(label) | Replicate | Partial(⊕) along one axis of a mesh. The ⊕ is the vertex's own.
struct placement {
    placement_kind kind = placement_kind::replicate;
    label_id label = no_label;  ///< of a shard

    [[nodiscard]] static constexpr placement shard(label_id along) { return {placement_kind::shard, along}; }
    [[nodiscard]] static constexpr placement replicate() { return {}; }
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

/// What an operand whose ⊕ is still pending makes of the output along that axis: it stays pending where the other
/// operands are replicated there and ⊗ is linear in this operand; nothing else is allowed.
constexpr bool carries_partial(placement operand, placement others, bool linear) {
    return operand.kind == placement_kind::partial && others.kind == placement_kind::replicate && linear;
}

namespace EINPARALLEL_DETAIL {

/// Placement of the output of an einsum (a form, or a specification) whose operands lie so along one axis; see
/// propagate.
template <class Form, class IsLinear>
constexpr std::optional<placement> propagate_along(const Form& form, std::span<const placement> operands,
                                                   const IsLinear& is_linear) {
    label_id cut = no_label;
    std::size_t pending = operands.size();
    bool replicated = true;  // all but the pending one
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        if (operands[operand].kind == placement_kind::partial) {
            if (pending != operands.size()) {
                return std::nullopt;
            }
            pending = operand;
        } else if (operands[operand].kind == placement_kind::shard) {
            replicated = false;
            if (cut != no_label && cut != operands[operand].label) {
                return std::nullopt;
            }
            cut = operands[operand].label;
        }
    }
    if (pending != operands.size()) {
        const placement others = replicated ? placement::replicate() : placement::shard(cut);
        return carries_partial(operands[pending], others, is_linear(pending)) ? std::optional(placement::partial())
                                                                              : std::nullopt;
    }
    if (cut == no_label) {
        return placement::replicate();
    }
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        if (operands[operand] != operand_placement(cut, form.in_operand(operand, cut))) {
            return std::nullopt;
        }
    }
    return output_placement(cut, true, form.in_output(cut));
}

}  // namespace EINPARALLEL_DETAIL

/// Placements of every tensor of an einsum along one axis.
struct axis_placements {
    std::vector<placement> operands;
    placement output;

    friend bool operator==(const axis_placements&, const axis_placements&) = default;
};

/// The table of DESIGN §6 for one axis of an einsum's mesh.
EINPARALLEL_INLINE axis_placements placements_along(const einsum_form& form, const mesh_axis& axis);

/// The same for all axes of a mesh, outermost first.
EINPARALLEL_INLINE std::vector<axis_placements> placements_on(const einsum_form& form, const mesh& ranks);

/// Placements of every tensor of an einsum that is known at compile time, along one axis.
template <std::size_t Operands>
struct spec_placements {
    std::array<placement, Operands> operands;
    placement output;

    friend constexpr bool operator==(const spec_placements&, const spec_placements&) = default;
};

/// The table of DESIGN §6 at compile time: `placements_of_cut<"ij,jk->ik", "j">` is {{Shard(j), Shard(j)}, Partial}. A
/// shard's label is numbered as einsum_spec numbers it.
template <subscripts Text, label_name Cut>
inline constexpr auto placements_of_cut = [] {
    using spec = einsum_spec<Text>;
    constexpr label_id cut = spec::template id<Cut>;
    static_assert(cut != no_label, "placements_of_cut: this label appears in no operand");
    spec_placements<spec::operands> along{};
    for (std::size_t operand = 0; operand < spec::operands; ++operand) {
        along.operands[operand] = operand_placement(cut, spec::in_operand(operand, cut));
    }
    along.output = output_placement(cut, true, spec::in_output(cut));
    return along;
}();

/// Shard(label) in the numbering of a specification: `shard_of<"ij,jk->ik", "j">`.
template <subscripts Text, label_name Label>
inline constexpr placement shard_of = placement::shard(einsum_spec<Text>::template id<Label>);

/// The propagation rule (papers/sharding-with-einsum): where the output of an einsum lies along an axis along which its
/// operands lie so. Nothing where they do not fit: two operands cut along different labels, one replicated that has the
/// cut label, or a pending ⊕ that cannot be carried. A pending ⊕ is carried where all other operands are replicated and
/// ⊗ is linear in that one (and has the pending ⊕ for its sum): always, for sums of products.
template <subscripts Text>
constexpr std::optional<placement> propagate(const std::array<placement, einsum_spec<Text>::operands>& operands) {
    return detail::propagate_along(einsum_spec<Text>{}, operands, [](std::size_t /*operand*/) { return true; });
}

/// The same for another ⊗: `is_linear(r)` says whether it is linear in operand r.
template <subscripts Text, class IsLinear>
constexpr std::optional<placement> propagate(const std::array<placement, einsum_spec<Text>::operands>& operands,
                                             const IsLinear& is_linear) {
    return detail::propagate_along(einsum_spec<Text>{}, operands, is_linear);
}

/// The same at run time. @pre one placement for each operand of the form
template <class IsLinear>
std::optional<placement> propagate(const einsum_form& form, std::span<const placement> operands,
                                   const IsLinear& is_linear) {
    return detail::propagate_along(form, operands, is_linear);
}

}  // namespace einparallel
