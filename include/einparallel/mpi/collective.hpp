#pragma once
// The few collective calls that control traffic needs: small, blocking, in bytes and 64-bit numbers.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace einparallel {

/// numbers[i] = the smallest numbers[i] over all ranks. Collective; every rank brings as many numbers.
EINPARALLEL_INLINE void allreduce_minimum(const communicator& ranks, std::span<std::uint64_t> numbers);

/// True where it is true on all ranks. Collective.
EINPARALLEL_INLINE bool all_of(const communicator& ranks, bool here);

/// Copies `bytes` bytes from the root to everybody. Collective; every rank says the same number and root.
EINPARALLEL_INLINE void broadcast(const communicator& ranks, void* data, std::size_t bytes, int root);

/// all[rank * mine.size() + i] = mine[i] of that rank, everywhere. Collective; every rank brings as many numbers.
/// @pre all.size() == mine.size() * ranks.size()
EINPARALLEL_INLINE void allgather(const communicator& ranks, std::span<const std::int64_t> mine,
                                  std::span<std::int64_t> all);

}  // namespace einparallel
