#pragma once
// What a vertex's own work takes of a rank's memory.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/task.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// Elements of the largest piece that a rank stores of a tensor.
EINPARALLEL_INLINE double largest_piece(const distribution& resting);

/// Bytes that the rank with the largest share holds while it contracts: gathered blocks, two pieces of a tensor that
/// travels round a ring, and the elements that it writes.
EINPARALLEL_INLINE double task_memory(const task& work);

}  // namespace einparallel::EINPARALLEL_DETAIL
