#pragma once

#include <einparallel/layout/placement.hpp>

namespace einparallel {

EINPARALLEL_INLINE axis_placements placements_along(const einsum_form& form, const mesh_axis& axis) {
    axis_placements along;
    bool used = false;
    for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
        const bool has = form.in_operand(operand, axis.label);
        used = used || has;
        along.operands.push_back(operand_placement(axis.label, has));
    }
    along.output = output_placement(axis.label, used, form.in_output(axis.label));
    return along;
}

}  // namespace einparallel
