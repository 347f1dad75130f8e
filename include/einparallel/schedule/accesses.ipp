#pragma once

#include <einparallel/schedule/accesses.hpp>

#include <cstddef>
#include <variant>

namespace einparallel::EINPARALLEL_DETAIL {

/// The box that ranges by label cut out of a tensor with these labels.
EINPARALLEL_INLINE box region_of(const std::vector<label_id>& labels, const std::vector<interval>& ranges) {
    box region;
    region.sides.reserve(labels.size());
    for (const label_id label : labels) {
        region.sides.push_back(label == no_label ? interval{0, 1} : ranges[static_cast<std::size_t>(label)]);
    }
    return region;
}

EINPARALLEL_INLINE accesses accesses_of(const program& of_rank, const action& done, const einsum_form* form) {
    if (const auto* read = std::get_if<read_source>(&done)) {
        return {{}, {{read->into, of_rank.buffers[static_cast<std::size_t>(read->into)].region}}};
    }
    if (const auto* sum = std::get_if<combination>(&done)) {
        return {{{sum->from, sum->region}}, {{sum->into, sum->region}}};
    }
    if (const auto* moved = std::get_if<local_copy>(&done)) {
        return {{{moved->from, moved->region}}, {{moved->into, moved->region}}};
    }
    const contraction& call = std::get<contraction>(done);
    accesses made;
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        made.reads.push_back(
            {call.operands[operand], form == nullptr ? box{} : region_of(form->operands[operand], call.ranges)});
    }
    made.writes.push_back({call.output, form == nullptr ? box{} : region_of(form->output, call.ranges)});
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
