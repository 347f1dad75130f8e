#pragma once

#include <einparallel/run/node_threads.hpp>

#include <einparallel/kernel/threads.hpp>
#include <einparallel/mpi/collective.hpp>
#include <einparallel/mpi/error.hpp>

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE processor_set own_processors() {
    processor_set found{};
#if defined(__linux__)
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        for (std::size_t processor = 0; processor < found.size() * 64; ++processor) {
            if (CPU_ISSET(processor, &allowed)) {
                found[processor / 64] |= static_cast<std::int64_t>(std::uint64_t{1} << (processor % 64));
            }
        }
    }
#endif
    return found;
}

EINPARALLEL_INLINE int fair_share(std::span<const std::int64_t> mine, std::span<const std::int64_t> all) {
    int processors = 0;
    for (const std::int64_t word : mine) {
        processors += std::popcount(static_cast<std::uint64_t>(word));
    }
    int sharing = 0;
    for (std::size_t first = 0; first < all.size(); first += mine.size()) {
        bool meet = false;
        for (std::size_t word = 0; word < mine.size(); ++word) {
            meet = meet || (mine[word] & all[first + word]) != 0;
        }
        sharing += meet ? 1 : 0;
    }
    return std::max(processors / std::max(sharing, 1), 1);
}

EINPARALLEL_INLINE void share_processors(const communicator& ranks) {
    std::array<std::uint64_t, 1> open{has_threads() && std::getenv("OMP_NUM_THREADS") == nullptr ? 1U : 0U};
    allreduce_minimum(ranks, open);
    if (open[0] == 0) {
        return;
    }
    MPI_Comm node = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(ranks.native(), MPI_COMM_TYPE_SHARED, ranks.rank(), MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    int neighbours = 0;
    check_mpi(MPI_Comm_size(node, &neighbours), "MPI_Comm_size");
    const processor_set mine = own_processors();
    std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(neighbours));
    const int count = static_cast<int>(mine.size());
    const int gathered = MPI_Allgather(mine.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, node);
    check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
    check_mpi(gathered, "MPI_Allgather");
    thread_limit().store(fair_share(mine, all), std::memory_order_relaxed);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
