#pragma once
// Master–worker: one rank has all tensors and feeds the others, slice by slice, while it computes (thesis §4, for any
// number of workers, any label of the output and slices that are not even).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/sink.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Slice `turn` of a worker's share.
EINPARALLEL_INLINE std::vector<interval> fed_slice(const task& work, std::vector<interval> ranges, int turn);

/// What a worker with these ranges is sent of an operand in phase `turn`: a slice, or all at once of an operand that
/// lacks the label; nothing where the slice makes no element.
EINPARALLEL_INLINE box fed_operand(const task& work, const std::vector<interval>& ranges, std::size_t operand,
                                   int turn);

/// What comes back of the output in phase `turn`.
EINPARALLEL_INLINE box fed_output(const task& work, const std::vector<interval>& ranges, int turn);

/// The master's schedule. A slice comes, is contracted and goes back in three phases that follow each other: two more
/// phases than slices. The master contracts its own share in as many slices as there are phases, straight into the
/// output, where what the workers send back lands as well. Its share is larger by two slices, so that they are
/// alike: ranks wait for each other in every phase.
void feed_workers(auto& sink, const task& work, buffer_id output) {
    const int phases = work.feed.slices + 2;
    const interval own = fed_ranges(work, work.feed.master)[std::size_t(work.feed.label)];
    sink.calls_along(work.feed.label, phases);
    for (int turn = 0; turn < phases; ++turn) {
        sink.repeat(compute_phase, turn, turn + 1, [&](auto& now, int) {
            sink.contract(now, {work.feed.label}, sink.region({{block_of(own, phases, turn)}}, 0), output,
                          write_mode::overwrite);
            sink.for_each_worker(now, work, [&](int worker) {
                const std::vector<interval> ranges = fed_ranges(work, worker);
                for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
                    now.send(worker, sink.block(operand),
                             sink.region(fed_operand(work, ranges, operand, turn), work.operand_bytes[operand]));
                }
                now.receive(worker, output, sink.region(fed_output(work, ranges, turn), work.output_bytes));
            });
        });
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
