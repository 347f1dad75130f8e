#pragma once

#include <einparallel/schedule/feed.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<interval> fed_slice(const task& work, std::vector<interval> ranges, int turn) {
    interval& side = ranges[std::size_t(work.feed.label)];
    side = block_of(side, work.feed.slices, turn);
    return ranges;
}

EINPARALLEL_INLINE box fed_operand(const task& work, const std::vector<interval>& ranges, std::size_t operand,
                                   int turn) {
    const std::vector<label_id>& labels = work.form.operands[operand];
    const bool whole = !work.form.in_operand(operand, work.feed.label);
    const std::vector<interval> sent = whole || turn >= work.feed.slices ? ranges : fed_slice(work, ranges, turn);
    return turn >= work.feed.slices || (whole && turn > 0) || region_of(work.form.output, sent).empty()
               ? no_box(labels.size())
               : region_of(labels, sent);
}

EINPARALLEL_INLINE box fed_output(const task& work, const std::vector<interval>& ranges, int turn) {
    return turn < 2 ? no_box(work.form.output.size()) : region_of(work.form.output, fed_slice(work, ranges, turn - 2));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
