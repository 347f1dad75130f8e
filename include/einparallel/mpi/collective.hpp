#pragma once
// The few collective calls that control traffic needs: small, blocking, in bytes and 64-bit numbers.

#include <einparallel/mpi/communicator.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace einparallel {

/// numbers[i] = the smallest numbers[i] over all ranks. Collective; every rank brings as many numbers.
inline void allreduce_minimum(const communicator& ranks, std::span<std::uint64_t> numbers) {
    detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T,
                                    MPI_MIN, ranks.native()),
                      "MPI_Allreduce");
}

/// Copies `bytes` bytes from the root to everybody. Collective; every rank says the same number and root.
inline void broadcast(const communicator& ranks, void* data, std::size_t bytes, int root) {
    constexpr std::size_t at_once = std::size_t{1} << 30U;
    auto* next = static_cast<std::byte*>(data);
    while (bytes > 0) {
        const std::size_t now = std::min(bytes, at_once);
        detail::check_mpi(MPI_Bcast(next, static_cast<int>(now), MPI_BYTE, root, ranks.native()), "MPI_Bcast");
        next += now;
        bytes -= now;
    }
}

/// all[rank * mine.size() + i] = mine[i] of that rank, everywhere. Collective; every rank brings as many numbers.
/// @pre all.size() == mine.size() * ranks.size()
inline void allgather(const communicator& ranks, std::span<const std::int64_t> mine, std::span<std::int64_t> all) {
    const int count = static_cast<int>(mine.size());
    detail::check_mpi(MPI_Allgather(mine.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, ranks.native()),
                      "MPI_Allgather");
}

}  // namespace einparallel
