#pragma once
// Threads of the ranks of one node: where nobody said how many, the ranks share the processors that they may run on.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The processors that this process may run on, as bits; none where that is not known.
using processor_set = std::array<std::int64_t, 16>;

EINPARALLEL_INLINE processor_set own_processors();

/// Threads for a process that may run on `mine` beside processes that may run on the sets of `all` (itself among them):
/// as many as there are processors for each of those that it meets on one of them.
EINPARALLEL_INLINE int fair_share(std::span<const std::int64_t> mine, std::span<const std::int64_t> all);

/// Limits the threads of this process to its share of the node. Does nothing where a rank has no OpenMP, or has
/// OMP_NUM_THREADS set. Collective.
EINPARALLEL_INLINE void share_processors(const communicator& ranks);

}  // namespace einparallel::EINPARALLEL_DETAIL
