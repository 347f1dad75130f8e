#pragma once
// Threads of the ranks of one node: where their number is not set, the ranks share the processors that they may run on.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The processors that a process may run on, one bit each; no bits where they are not known.
using processor_set = std::array<std::int64_t, 16>;

EINPARALLEL_INLINE processor_set own_processors();

/// The number of threads for a process that may run on the processors `mine`: their number divided by the number of
/// processes that share at least one of them. `all`: the sets of all processes of the node, this one included.
EINPARALLEL_INLINE int fair_share(std::span<const std::int64_t> mine, std::span<const std::int64_t> all);

/// Limits the threads of this process to its share of the node. Does nothing if any rank has no OpenMP or has
/// OMP_NUM_THREADS set. Collective.
EINPARALLEL_INLINE void share_processors(const communicator& ranks);

}  // namespace einparallel::EINPARALLEL_DETAIL
