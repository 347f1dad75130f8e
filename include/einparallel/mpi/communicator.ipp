#pragma once

#include <einparallel/mpi/communicator.hpp>

namespace einparallel {

EINPARALLEL_INLINE void communicator::release() noexcept {
    if (handle_ != MPI_COMM_NULL && detail::mpi_is_running()) {
        MPI_Comm_free(&handle_);
    }
    handle_ = MPI_COMM_NULL;
}

EINPARALLEL_INLINE communicator communicator::duplicate_of(MPI_Comm original) {
    if (!detail::mpi_is_running()) {
        throw error("communicator: MPI is not initialised, or already finalised");
    }
    if (original == MPI_COMM_NULL) {
        throw error("communicator: MPI_COMM_NULL cannot be duplicated");
    }
    int joins_two_groups = 0;
    detail::check_mpi(MPI_Comm_test_inter(original, &joins_two_groups), "MPI_Comm_test_inter");
    if (joins_two_groups != 0) {
        throw error("communicator: an intercommunicator has no single numbering of ranks");
    }
    MPI_Comm made = MPI_COMM_NULL;
    detail::check_mpi(MPI_Comm_dup(original, &made), "MPI_Comm_dup");
    return owning(made);
}

EINPARALLEL_INLINE communicator communicator::of_node(const communicator& ranks, int group) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    detail::check_mpi(MPI_Comm_split_type(ranks.handle_, MPI_COMM_TYPE_SHARED, ranks.rank_, MPI_INFO_NULL, &node),
                      "MPI_Comm_split_type");
    const int split = MPI_Comm_split(node, group, ranks.rank_, &made);
    MPI_Comm_free(&node);
    detail::check_mpi(split, "MPI_Comm_split");
    return owning(made);
}

EINPARALLEL_INLINE communicator communicator::owning(MPI_Comm made) {
    communicator own;
    own.handle_ = made;
    detail::check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    detail::check_mpi(MPI_Comm_rank(made, &own.rank_), "MPI_Comm_rank");
    detail::check_mpi(MPI_Comm_size(made, &own.size_), "MPI_Comm_size");
    return own;
}

}  // namespace einparallel
