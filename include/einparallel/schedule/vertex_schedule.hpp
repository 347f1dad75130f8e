#pragma once
// The schedule of one vertex: gather what does not travel, contract while something travels, reduce what is still
// partial.

#include <einparallel/layout/levels.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/feed.hpp>
#include <einparallel/schedule/gather_reduce.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/ring_k.hpp>
#include <einparallel/schedule/ring_mn.hpp>
#include <einparallel/schedule/sink.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <span>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// True where the output's chunks go round a ring: the output travels, and there are enough chunks (k_ring_suits).
EINPARALLEL_INLINE bool runs_k_ring(const task& work);

/// Memory of a k ring on one rank, in pieces of the output: the rank's piece and three halves. Two of the halves lie in
/// the piece where its halves are contiguous.
EINPARALLEL_INLINE double chunks_of_k_ring(const task& work);

/// Writes the schedule of one rank for a task; for master–worker, the schedule of the master. `output`: the buffer for
/// the rank's piece of the output.
void write_vertex(auto& sink, const task& work, buffer_id output) {
    if (work.travelling == all_travel) {
        feed_workers(sink, work, output);
        return;
    }
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (!work.travels(operand) && !work.holds(operand)) {
            sink.block(operand) =
                gather(sink, work.operands[operand], work.operand_bytes[operand], sink.block(operand));
        }
    }
    if (runs_k_ring(work)) {
        ring_k(sink, work, output);
        return;
    }
    const bool reduces = work.output.replication() > 1;
    const buffer_id block =
        reduces ? sink.add(sink.ring(work.output, work.output_bytes).block(), work.output_bytes) : output;
    const auto travelling = std::size_t(work.travelling);
    if (work.travelling >= 0 && work.travels(travelling)) {
        ring_mn(sink, work, travelling, block);
    } else {
        sink.repeat(compute_phase, 0, 1,
                    [&](auto& now, int) { sink.contract(now, {}, {}, block, write_mode::overwrite); });
    }
    if (reduces) {
        reduce(sink, work, block, output);
    } else if (work.form.running.terms != no_label) {
        hand_on(sink, work, output);
    }
}

}  // namespace EINPARALLEL_DETAIL

/// Appends to `of_rank` the gathering of a tensor, from phase `first_phase` on; `piece` holds the rank's piece. Returns
/// the buffer with the whole block, for tasks that hold this operand (task::held).
EINPARALLEL_INLINE buffer_id schedule_gathering(program& of_rank, const distribution& resting, int rank,
                                                buffer_id piece, std::size_t first_phase,
                                                const rank_groups& groups = {});

/// Appends to `of_rank` the steps of `rank` for a task, from phase `first_phase` on.
/// Buffer `operands[r]` holds the rank's resting piece of operand r (distribution work.operands[r]), or its whole block
/// where the task holds the operand. These buffers are only read. Returns the buffer that holds the rank's resting
/// piece of the output after these steps. A rank outside the mesh does nothing and gets an empty buffer. Messages: all
/// operands that do not travel are all-gathered at the same time; then one piece of the travelling tensor moves per
/// phase; then, where the output is Partial and did not travel, it is reduce-scattered. A tensor whose block q ranks
/// share costs each of them (q-1)/q of the block, whichever way it moves. Rings and trees go round the groups of
/// `groups` before they leave them.
EINPARALLEL_INLINE buffer_id schedule_vertex(program& of_rank, std::size_t vertex, const task& work, int rank,
                                             std::span<const buffer_id> operands, std::size_t first_phase,
                                             const rank_groups& groups = {});

}  // namespace einparallel
