#pragma once
// An MPI communicator that the library owns.

#include <einparallel/mpi/error.hpp>

#include <mpi.h>

#include <utility>

namespace einparallel {

/// Owns one communicator, a duplicate of somebody else's, on which MPI reports errors instead of aborting. Move-only,
/// for duplicating is collective and must be seen where it happens.
class communicator {
public:
    communicator() noexcept = default;

    /// Duplicates `original`. Collective over it. Nothing of `original` changes, its error handler included.
    /// @throws error where MPI is not running or `original` is null or joins two groups; mpi_error
    [[nodiscard]] static communicator duplicate_of(MPI_Comm original);

    communicator(communicator&& other) noexcept
        : handle_(std::exchange(other.handle_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

    communicator& operator=(communicator&& other) noexcept {
        if (this != &other) {
            release();
            handle_ = std::exchange(other.handle_, MPI_COMM_NULL);
            rank_ = other.rank_;
            size_ = other.size_;
        }
        return *this;
    }

    communicator(const communicator&) = delete;
    communicator& operator=(const communicator&) = delete;

    /// Frees the duplicate; does nothing once MPI is finalised. Formally collective (MPI_Comm_free).
    ~communicator() { release(); }

    [[nodiscard]] MPI_Comm native() const noexcept { return handle_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }

private:
    void release() noexcept {
        if (handle_ != MPI_COMM_NULL && detail::mpi_is_running()) {
            MPI_Comm_free(&handle_);
        }
        handle_ = MPI_COMM_NULL;
    }

    MPI_Comm handle_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
};

inline communicator communicator::duplicate_of(MPI_Comm original) {
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
