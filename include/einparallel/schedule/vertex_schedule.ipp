#pragma once

#include <einparallel/schedule/vertex_schedule.hpp>

#include <einparallel/schedule/gather.ipp>
#include <einparallel/schedule/reduce.ipp>
#include <einparallel/schedule/ring_k.ipp>
#include <einparallel/schedule/ring_mn.ipp>
#include <einparallel/schedule/steps.ipp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE bool runs_k_ring(const task& work) {
    return work.travelling == output_travels && k_ring_suits(work);
}

EINPARALLEL_INLINE bool runs_mn_ring(const task& work, std::size_t operand) {
    return work.travelling == static_cast<int>(operand) && work.operands[operand].replication() > 1;
}

/// Phases of a task, part by part; the parts follow each other.
struct task_phases {
    std::size_t gather = 0;
    std::size_t compute = 0;
    std::size_t reduce = 0;

    [[nodiscard]] std::size_t total() const { return gather + compute + reduce; }
};

EINPARALLEL_INLINE task_phases count_phases(const task& work) {
    task_phases count;
    count.compute = runs_k_ring(work) ? ring_k_phases(work.output) : 1;
    count.reduce = runs_k_ring(work) ? 0 : reduce_phases(work.output);
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (runs_mn_ring(work, operand)) {
            count.compute = ring_mn_phases(work.operands[operand]);
        } else {
            count.gather = std::max(count.gather, gather_phases(work.operands[operand]));
        }
    }
    return count;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::size_t phases_of(const task& work) {
    return detail::count_phases(work).total();
}

EINPARALLEL_INLINE buffer_id schedule_vertex(program& of_rank, std::size_t vertex, const task& work, int rank,
                                             std::span<const buffer_id> operands, std::size_t first_phase) {
    const buffer_id output = of_rank.add_buffer(work.output.held_by(rank), work.output_bytes);
    if (rank >= work.ranks.size()) {
        return output;
    }
    const detail::task_phases count = detail::count_phases(work);
    detail::step_collector steps(of_rank, first_phase, count.total());
    detail::rank_share share{work, vertex, rank, detail::ranges_of(work, rank), {operands.begin(), operands.end()}};
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (!detail::runs_mn_ring(work, operand)) {
            share.operands[operand] =
                detail::gather(steps, work.operands[operand], rank, work.operand_bytes[operand], operands[operand]);
        }
    }
    if (detail::runs_k_ring(work)) {
        detail::ring_k(steps, share, count.gather, output);
    } else {
        const bool reduces = work.output.replication() > 1;
        const buffer_id block =
            reduces ? of_rank.add_buffer(work.output.block_of_rank(rank), work.output_bytes) : output;
        const std::size_t travelling = static_cast<std::size_t>(std::max(work.travelling, 0));
        if (work.travelling >= 0 && detail::runs_mn_ring(work, travelling)) {
            detail::ring_mn(steps, share, count.gather, travelling, block);
        } else {
            share.contract(steps.at(count.gather), share.operands, block, share.ranges, write_mode::overwrite);
        }
        if (reduces) {
            detail::reduce(steps, share, count.gather + count.compute, block, output);
        }
    }
    steps.append();
    return output;
}

}  // namespace einparallel
