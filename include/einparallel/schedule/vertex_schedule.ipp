#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <einparallel/schedule/feed.ipp>
#include <einparallel/schedule/gather.ipp>
#include <einparallel/schedule/ring_k.ipp>
#include <einparallel/schedule/ring_operands.ipp>
#include <einparallel/schedule/steps.ipp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE bool runs_k_ring(const task& work) {
    return work.travelling == output_travels && k_ring_suits(work);
}

EINPARALLEL_INLINE double pieces_of_k_ring(const task& work) {
    const box own = work.output.held_by(0);
    return parts_are_contiguous(own, halved_dimension(own, *work.output.cut())) ? 1.5 : 2.5;
}

EINPARALLEL_INLINE std::vector<std::size_t> double_ring_operands(const task& work) {
    std::vector<std::size_t> together;
    for (std::size_t first = 0; first < work.operands.size() && together.size() < 2; ++first) {
        const auto label_of = [&](std::size_t operand) {
            const distribution& resting = work.operands[operand];
            return fills_ring(resting, 1) && !work.holds(operand) ? work.form.operands[operand][*resting.cut()]
                                                                  : no_label;
        };
        together.clear();
        for (std::size_t operand = first; operand < work.operands.size() && label_of(first) != no_label; ++operand) {
            if (label_of(operand) == label_of(first)) {
                together.push_back(operand);
            }
        }
    }
    return together.size() < 2 ? std::vector<std::size_t>{} : together;
}

EINPARALLEL_INLINE std::vector<std::size_t> travelling_operands(const task& work) {
    if (work.travelling == operands_travel) {
        return double_ring_operands(work);
    }
    const bool one = work.travelling >= 0 && work.operands[static_cast<std::size_t>(work.travelling)].replication() > 1;
    return one ? std::vector{static_cast<std::size_t>(work.travelling)} : std::vector<std::size_t>{};
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE buffer_id schedule_gathering(program& of_rank, const distribution& resting, int rank,
                                                buffer_id piece, std::size_t first_phase) {
    if (rank >= resting.holders()) {
        return piece;
    }
    detail::step_collector steps(of_rank, first_phase);
    const std::size_t element_bytes = of_rank[piece].element_bytes;
    const buffer_id block = detail::gather(steps, resting, rank, element_bytes, piece);
    steps.append();
    return block;
}

EINPARALLEL_INLINE buffer_id schedule_vertex(program& of_rank, std::size_t vertex, const task& work, int rank,
                                             std::span<const buffer_id> operands, std::size_t first_phase) {
    const buffer_id output = of_rank.add_buffer(work.output.held_by(rank), work.output_bytes);
    if (rank >= work.ranks.size()) {
        return output;
    }
    const std::vector<std::size_t> travelling = detail::travelling_operands(work);
    detail::step_collector steps(of_rank, first_phase);
    detail::rank_share share{work, vertex, rank, detail::ranges_of(work, rank), {operands.begin(), operands.end()}};
    if (work.travelling == all_travel) {
        share.ranges = detail::fed_ranges(work, rank);
        if (rank == work.feed.master) {
            detail::feed_workers(steps, share, output);
        } else {
            detail::work_for_master(steps, share);
        }
        steps.append();
        return output;
    }
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (!detail::found_in(operand, travelling) && !work.holds(operand)) {
            share.operands[operand] =
                detail::gather(steps, work.operands[operand], rank, work.operand_bytes[operand], operands[operand]);
        }
    }
    if (detail::runs_k_ring(work)) {
        detail::ring_k(steps, share, output);
    } else {
        const bool reduces = work.output.replication() > 1;
        const buffer_id block =
            reduces ? of_rank.add_buffer(work.output.block_of_rank(rank), work.output_bytes) : output;
        if (travelling.empty()) {
            share.contract(steps.at(detail::compute_phase), share.operands, block, share.ranges, write_mode::overwrite);
        } else if (travelling.size() == 1) {
            detail::ring_mn(steps, share, travelling.front(), block);
        } else {
            detail::ring_double(steps, share, travelling, block);
        }
        if (reduces) {
            detail::reduce(steps, share, block, output);
        }
    }
    steps.append();
    return output;
}

}  // namespace einparallel
