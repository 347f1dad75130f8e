#pragma once
// An MPI communicator that the library owns.

#include <einparallel/mpi/error.hpp>
#include <einparallel/notation/compiled.hpp>

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
    EINPARALLEL_INLINE [[nodiscard]] static communicator duplicate_of(MPI_Comm original);

    /// Those of `ranks` that share memory with this one and name the same group. Collective. @throws mpi_error
    EINPARALLEL_INLINE [[nodiscard]] static communicator of_node(const communicator& ranks, int group = 0);

    /// Takes the communicator.
    communicator(communicator&& other) noexcept
        : handle_(std::exchange(other.handle_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

    communicator(const communicator&) = delete;
    communicator& operator=(const communicator&) = delete;

    /// Frees the duplicate; does nothing once MPI is finalised. Formally collective (MPI_Comm_free).
    ~communicator() { release(); }

    /// MPI's handle; it stays this object's.
    [[nodiscard]] MPI_Comm native() const noexcept { return handle_; }
    /// Number of this rank.
    [[nodiscard]] int rank() const noexcept { return rank_; }
    /// Number of ranks.
    [[nodiscard]] int size() const noexcept { return size_; }

private:
    EINPARALLEL_INLINE static communicator owning(MPI_Comm made);
    EINPARALLEL_INLINE void release() noexcept;

    MPI_Comm handle_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace einparallel
