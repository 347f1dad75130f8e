#pragma once
// Master–worker: one rank has all tensors and feeds the others, slice by slice, while it computes (thesis §4, here for
// any number of workers, any label of the output and slices of unequal size).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/sink.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Slice `turn` of a worker's share `ranges`, by label.
EINPARALLEL_INLINE std::vector<interval> fed_slice(const task& work, std::vector<interval> ranges, int turn);

/// The box of an operand that a worker with share `ranges` receives in phase `turn`: one slice, or, for an operand that
/// lacks the label of the slices, all of it in phase 0. Empty where no output element depends on it.
EINPARALLEL_INLINE box fed_operand(const task& work, const std::vector<interval>& ranges, std::size_t operand,
                                   int turn);

/// The box of the output that a worker with share `ranges` sends back in phase `turn`.
EINPARALLEL_INLINE box fed_output(const task& work, const std::vector<interval>& ranges, int turn);

/// The master's schedule. A worker receives a slice in one phase, contracts it in the next and sends its output back in
/// the third: there are two more phases than slices. The master contracts one slice of its own share in every phase,
/// straight into the output; the workers' results are received into the output as well. The master's share has two
/// slices more than a worker's, so that all slices have the same size: ranks wait for each other in every phase.
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
