#pragma once

#include <einparallel/plan/placements.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE axis_placements placements_in(const task& work, const mesh_axis& axis) {
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

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::vector<axis_placements> placements_of(const planned_vertex& each) {
    std::vector<axis_placements> all;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        all.push_back(detail::placements_in(each.work, axis));
    }
    return all;
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string placement_text(const placement& shown, const std::vector<std::string>& names) {
    switch (shown.kind) {
        case placement_kind::shard:
            return "shard(" + names[static_cast<std::size_t>(shown.label)] + ")";
        case placement_kind::partial:
            return "partial";
        default:
            return "replicate";
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
