#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<index> strides_of(const buffer& place) {
    return place.strides.empty() ? dense_strides(place.region) : place.strides;
}

EINPARALLEL_INLINE box region_of(const std::vector<label_id>& labels, const std::vector<interval>& ranges) {
    return {list_of(labels, [&](label_id label) {
        return label == no_label ? interval{0, 1} : ranges[std::size_t(label)];
    })};
}

EINPARALLEL_INLINE box region_read(const operand_read& read, const std::vector<interval>& ranges) {
    const box region = region_of(read.labels, ranges);
    return read.at.is_plain() ? region : region.empty() ? no_box(read.at.functions.size()) : read.at.reach(ranges);
}

EINPARALLEL_INLINE accesses accesses_of(const program& of_rank, const action& done, const einsum_form* form) {
    if (const auto* read = std::get_if<read_source>(&done)) {
        return {{}, {{read->into, of_rank[read->into].region}}};
    }
    if (const auto* moved = std::get_if<local_move>(&done)) {
        return {{{moved->from, moved->region}}, {{moved->into, moved->region}}};
    }
    const contraction& call = std::get<contraction>(done);
    accesses made;
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        const operand_read* const read = form == nullptr ? nullptr : call.read_of(*form, operand);
        made.reads.push_back({call.operands[operand], form == nullptr ? box{}
                                                      : read != nullptr
                                                          ? region_read(*read, call.ranges)
                                                          : region_of(call.labels_of(*form, operand), call.ranges)});
    }
    made.writes.push_back({call.output, form == nullptr ? box{} : region_of(form->output, call.ranges)});
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::size_t bytes_sent(const program& of_rank, bool again) {
    const auto bytes = [&](const message& sent) { return detail::bytes_of(of_rank, sent.place, sent.region); };
    return detail::sum_in(of_rank.steps, std::size_t{0}, [&](const step& each) {
        return again && each.once ? 0 : detail::sum_in(each.sends, std::size_t{0}, bytes);
    });
}

}  // namespace einparallel
