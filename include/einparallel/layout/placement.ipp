#pragma once

#include <einparallel/layout/placement.hpp>

namespace einparallel {

EINPARALLEL_INLINE axis_placements placements_along(const einsum_form& form, const mesh_axis& axis) {
    const placement cut = placement::shard(axis.label);
    axis_placements along;
    bool is_used = false;
    for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
        const bool has = form.in_operand(operand, axis.label);
        is_used = is_used || has;
        along.operands.push_back(has ? cut : placement::replicate());
    }
    along.output = form.in_output(axis.label) ? cut : is_used ? placement::partial() : placement::replicate();
    return along;
}

}  // namespace einparallel
