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
    communicator own;
    detail::check_mpi(MPI_Comm_dup(original, &own.handle_), "MPI_Comm_dup");
    detail::check_mpi(MPI_Comm_set_errhandler(own.handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    detail::check_mpi(MPI_Comm_rank(own.handle_, &own.rank_), "MPI_Comm_rank");
    detail::check_mpi(MPI_Comm_size(own.handle_, &own.size_), "MPI_Comm_size");
    return own;
}

}  // namespace einparallel
