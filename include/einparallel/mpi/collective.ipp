#pragma once

#include <einparallel/mpi/collective.hpp>

#include <algorithm>

namespace einparallel {

EINPARALLEL_INLINE void allreduce_minimum(const communicator& ranks, std::span<std::uint64_t> numbers) {
    detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T,
                                    MPI_MIN, ranks.native()),
                      "MPI_Allreduce");
}

EINPARALLEL_INLINE bool all_of(const communicator& ranks, bool here) {
    std::uint64_t least = here ? 1 : 0;
    allreduce_minimum(ranks, {&least, 1});
    return least == 1;
}

EINPARALLEL_INLINE void broadcast(const communicator& ranks, void* data, std::size_t bytes, int root) {
    constexpr std::size_t at_once = std::size_t{1} << 30U;
    auto* next = static_cast<std::byte*>(data);
    while (bytes > 0) {
        const std::size_t now = std::min(bytes, at_once);
        detail::check_mpi(MPI_Bcast(next, static_cast<int>(now), MPI_BYTE, root, ranks.native()), "MPI_Bcast");
        next += now;
        bytes -= now;
    }
}

EINPARALLEL_INLINE void allgather(const communicator& ranks, std::span<const std::int64_t> mine,
                                  std::span<std::int64_t> all) {
    const int count = static_cast<int>(mine.size());
    detail::check_mpi(MPI_Allgather(mine.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, ranks.native()),
                      "MPI_Allgather");
}

}  // namespace einparallel
