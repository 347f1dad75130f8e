#pragma once

#include <einparallel/mpi/communicator.hpp>

#include <einparallel/notation/error.hpp>

#include <algorithm>

namespace einparallel {

EINPARALLEL_SELDOM communicator communicator::duplicate_of(MPI_Comm original) {
    detail::expect(detail::mpi_is_running(), "communicator: MPI is not initialised, or already finalised");
    detail::expect(original != MPI_COMM_NULL, "communicator: MPI_COMM_NULL cannot be duplicated");
    int joins_two_groups = 0;
    detail::check_mpi(MPI_Comm_test_inter(original, &joins_two_groups), "MPI_Comm_test_inter");
    detail::expect(joins_two_groups == 0, "communicator: an intercommunicator has no single numbering of ranks");
    MPI_Comm made = MPI_COMM_NULL;
    detail::check_mpi(MPI_Comm_dup(original, &made), "MPI_Comm_dup");
    return owning(made);
}

EINPARALLEL_SELDOM communicator communicator::of_node(const communicator& ranks) {
    MPI_Comm node = MPI_COMM_NULL;
    detail::check_mpi(MPI_Comm_split_type(ranks.handle_, MPI_COMM_TYPE_SHARED, ranks.rank_, MPI_INFO_NULL, &node),
                      "MPI_Comm_split_type");
    return owning(node);
}

EINPARALLEL_SELDOM communicator communicator::owning(MPI_Comm made) {
    communicator own;
    own.handle_ = made;
    detail::check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    detail::check_mpi(MPI_Comm_rank(made, &own.rank_), "MPI_Comm_rank");
    detail::check_mpi(MPI_Comm_size(made, &own.size_), "MPI_Comm_size");
    return own;
}

EINPARALLEL_SELDOM void allreduce_minimum(const communicator& ranks, std::span<std::uint64_t> numbers) {
    detail::check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, numbers.data(), int(numbers.size()), MPI_UINT64_T, MPI_MIN, ranks.native()),
        "MPI_Allreduce");
}

EINPARALLEL_SELDOM bool all_of(const communicator& ranks, bool here) {
    std::uint64_t least = here ? 1 : 0;
    allreduce_minimum(ranks, {&least, 1});
    return least == 1;
}

EINPARALLEL_SELDOM void broadcast(const communicator& ranks, void* data, std::size_t bytes, int root) {
    constexpr std::size_t at_once = std::size_t{1} << 30U;
    auto* next = static_cast<std::byte*>(data);
    while (bytes > 0) {
        const std::size_t now = std::min(bytes, at_once);
        detail::check_mpi(MPI_Bcast(next, int(now), MPI_BYTE, root, ranks.native()), "MPI_Bcast");
        next += now;
        bytes -= now;
    }
}

EINPARALLEL_SELDOM void allgather(const communicator& ranks, std::span<const std::int64_t> mine,
                                  std::span<std::int64_t> all) {
    const int count = int(mine.size());
    detail::check_mpi(MPI_Allgather(mine.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, ranks.native()),
                      "MPI_Allgather");
}

}  // namespace einparallel
