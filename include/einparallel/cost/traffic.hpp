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

/// Fixed cost of a step with messages, as a number of messages: polling them, and calling the kernel once more (64³ on
/// two ranks of a node: 1.5 µs, where a message takes 3 µs).
inline constexpr double messages_per_step = 0.5;

/// Terms of a sum for which a kernel reads and writes the output once, whether they come in one call or in several (768
/// x 768 x 3072: 48 calls take as long as one, 96 take 12 % longer).
inline constexpr double terms_per_pass = 64;

/// Up to this many ranks are looked at one by one, where groups of a machine's levels have different numbers of a
/// ring's ranks.
inline constexpr int looked_through = 128;

/// Elements that the blocks of all kernel calls cover, each block counted once: all of a tensor, or the diagonal blocks
/// where a cut label stands twice.
EINPARALLEL_INLINE double covered_elements(const std::vector<label_id>& labels, const std::vector<index>& extents,
                                           const mesh& ranks);

/// Bytes that all ranks together send to hand round one operand. Where q ranks share a block, every algorithm sends
/// each of its elements to q − 1 ranks once.
EINPARALLEL_INLINE double gathered_bytes(const task& work, std::size_t operand);

/// Bytes that all ranks together send to aggregate the output of one task. Where q ranks have summands of a block,
/// every algorithm sends each of its elements q − 1 times. For running sums, the rows that ranks hand on are included.
EINPARALLEL_INLINE double aggregated_bytes(const task& work);

/// Bytes that all ranks together send for one task, over all its runs. Without `lasting`: in one run, for which the
/// blocks that the task holds are there already.
EINPARALLEL_INLINE double task_bytes(const task& work, const lasting_work& lasting = {});

/// Bytes of one task that all ranks together send to ranks in other groups of a level (options.level), over all its
/// runs. They follow from the digits of the ranks' numbers; of tensors over more than `most` ranks for which they do
/// not, they are an estimate.
EINPARALLEL_INLINE double bytes_between(const task& work, const wired_machine& on, int level,
                                        const lasting_work& lasting, int most);

/// Elements that leave groups of a level while all ranks gather their blocks. @param covered  elements of all blocks
EINPARALLEL_INLINE double gathered_beyond(const distribution& blocks, double covered, const wired_machine& on,
                                          int level);

/// Bytes of one operand's gathering that leave groups of a level.
EINPARALLEL_INLINE double gathered_between(const task& work, std::size_t operand, const wired_machine& on, int level,
                                           int most);

/// Bytes that leave groups of a level while the output is aggregated.
EINPARALLEL_INLINE double aggregated_between(const task& work, const wired_machine& on, int level, int most);

/// Seconds of the rank with the largest share, by its schedule, over all its runs. Without `lasting`: in one run, for
/// which the blocks that the task holds are there already. Every step of a ring takes the longer of its arithmetic and
/// its transfer, and a share of the shorter (machine::exposed).
EINPARALLEL_INLINE double task_seconds(const task& work, double operations_per_point, const wired_machine& on,
                                       const lasting_work& lasting = {});

/// Seconds to gather the blocks of one operand before the task starts.
EINPARALLEL_INLINE double gather_seconds(const task& work, std::size_t operand, const wired_machine& on);

/// Sets which tensor of a task travels round a ring, and which operands are held. The possible ways are: nothing
/// travels (operands are gathered first, the output is reduced last), one of the operands that fill a ring, or the
/// output.
/// Where `wanted` is automatic and there is a memory limit in bytes (0: none), it takes the fastest way by
/// task_seconds() that keeps to the limit by task_memory(), or else the way that needs least memory. Where `wanted` is
/// automatic, time is minimised and there is no limit, it takes the fastest way. In all other cases choose_travelling()
/// decides. Operands that may be held are held, unless they travel.
EINPARALLEL_INLINE void choose_best_travelling(task& work, algorithm wanted, double operations_per_point,
                                               const wired_machine& on, objective minimised, std::size_t memory_limit,
                                               const lasting_work& lasting = {}, int level = -1);

}  // namespace einparallel::EINPARALLEL_DETAIL
