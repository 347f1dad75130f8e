#pragma once

#include <einparallel/schedule/vertex_schedule.hpp>

#include <einparallel/schedule/recorder.ipp>

#include <bit>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::size_t tree_rounds(int ranks) {
    return std::size_t(std::bit_width(unsigned(ranks - 1)));
}

EINPARALLEL_INLINE bool runs_k_ring(const task& work) {
    return work.travelling == output_travels && k_ring_suits(work);
}

EINPARALLEL_INLINE double chunks_of_k_ring(const task& work) {
    return halves_are_contiguous(work.output.held_by(0), *work.output.cut()) ? 1.5 : 2.5;
}

/// The share of the iteration space that `rank` computes, by label.
EINPARALLEL_INLINE std::vector<interval> ranges_of(const task& work, int rank) {
    if (work.travelling == all_travel) {
        return fed_ranges(work, rank);
    }
    std::vector<interval> ranges = cut_along(work.extents, work.ranks).block_of_rank(rank).sides;
    if (work.form.running.terms != no_label) {
        ranges[std::size_t(work.form.running.terms)] = ranges[std::size_t(work.form.running.sums)];
    }
    if (work.pending != no_label) {
        ranges[std::size_t(work.pending)] = work.output.block_of_rank(rank).sides.front();
    }
    return ranges;
}

EINPARALLEL_INLINE distribution row_of_sums(const task& work) {
    std::vector<label_id> labels = work.form.output;
    std::vector<index> bounds = work.output.bounds();
    const auto dimension = find_in(labels, work.form.running.sums) - labels.begin();
    labels[std::size_t(dimension)] = no_label;
    bounds[std::size_t(dimension)] = 1;
    return {bounds, work.ranks, labels, std::size_t(dimension)};
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE buffer_id schedule_gathering(program& of_rank, const distribution& resting, int rank,
                                                buffer_id piece, std::size_t first_phase, const rank_groups& groups) {
    if (rank >= resting.holders()) {
        return piece;
    }
    detail::recorder steps(of_rank, first_phase, rank, groups);
    const buffer_id block = detail::gather(steps, resting, of_rank[piece].element_bytes, piece);
    steps.append();
    return block;
}

EINPARALLEL_INLINE buffer_id schedule_vertex(program& of_rank, std::size_t vertex, const task& work, int rank,
                                             std::span<const buffer_id> operands, std::size_t first_phase,
                                             const rank_groups& groups) {
    const buffer_id output = of_rank.add_buffer(work.output.held_by(rank), work.output_bytes);
    if (rank >= work.ranks.size()) {
        return output;
    }
    detail::recorder steps(of_rank, first_phase, rank, groups, &work, vertex, detail::ranges_of(work, rank),
                           {operands.begin(), operands.end()});
    if (work.travelling == all_travel && rank != work.feed.master) {
        steps.work_for_master();
    } else {
        detail::write_vertex(steps, work, output);
    }
    steps.append();
    return output;
}

}  // namespace einparallel
