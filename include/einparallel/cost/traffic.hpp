#pragma once
// What a vertex's own work costs this library's executor: bytes and seconds in closed form, equal to sums over the
// schedules.

#include <einparallel/cost/lasting.hpp>
#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/objective.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Polling the messages of a step and calling the kernel once more cost as much as so many messages (64³ on two ranks
/// of a node: 1.5 µs, a message 3).
inline constexpr double messages_per_step = 0.5;

/// Elements that the blocks of all kernel calls cover, each block counted once: all of a tensor, or the diagonal blocks
/// where a cut label stands twice.
EINPARALLEL_INLINE double covered_elements(const std::vector<label_id>& labels, const std::vector<index>& extents,
                                           const mesh& ranks);

/// Bytes that all ranks together send to hand round one operand. Every way to hand round a block that q ranks share
/// moves each element of it to q − 1 ranks once.
EINPARALLEL_INLINE double gathered_bytes(const task& work, std::size_t operand);

/// Bytes that all ranks together send to aggregate the output of one task: every way to reduce a block that q ranks
/// have summands of moves each element of it to q − 1 ranks once. Of running sums, the rows that are handed on.
EINPARALLEL_INLINE double aggregated_bytes(const task& work);

/// Bytes that all ranks together send for one task, in all its runs, or in one where what it holds is there.
EINPARALLEL_INLINE double task_bytes(const task& work, const lasting_work& lasting = {});

/// Seconds of the rank with the largest share, by its schedule, in all runs, or in one where what the task holds is
/// there. Every step of a ring takes the longer of its arithmetic and its transfer, and a share of the shorter
/// (machine::exposed).
EINPARALLEL_INLINE double task_seconds(const task& work, double operations_per_point, const machine& constants,
                                       const lasting_work& lasting = {});

/// Seconds of gathering the blocks of one operand before anything else.
EINPARALLEL_INLINE double gather_seconds(const task& work, std::size_t operand, const machine& constants);

/// Chooses what travels round a ring. Where the planner is free to, the fastest by task_seconds() among nothing (gather
/// first, reduce last), each operand that fills a ring and the output; under a memory limit (0: none),
/// the fastest that keeps to it by task_memory(), or what needs the least. Otherwise, and where bytes or numbers are
/// minimised without a limit, what choose_travelling() says. Operands that may be held and do not travel are.
EINPARALLEL_INLINE void choose_best_travelling(task& work, algorithm wanted, double operations_per_point,
                                               const machine& constants, objective minimised, std::size_t memory_limit,
                                               const lasting_work& lasting = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
