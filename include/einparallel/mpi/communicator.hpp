#pragma once
// An MPI communicator that the library owns, and the few collective calls that control traffic needs: small, blocking,
// in bytes and 64-bit numbers.

#include <einparallel/mpi/error.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
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

    /// A communicator of the ranks among `ranks` that share memory with this one. Collective. @throws mpi_error
    EINPARALLEL_INLINE [[nodiscard]] static communicator of_node(const communicator& ranks);

    /// Takes the communicator.
    communicator(communicator&& other) noexcept
        : handle_(std::exchange(other.handle_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

    /// Frees the duplicate; does nothing once MPI is finalised. Formally collective (MPI_Comm_free).
    ~communicator() {
        if (handle_ != MPI_COMM_NULL && detail::mpi_is_running()) {
            MPI_Comm_free(&handle_);
        }
    }

    /// MPI's handle. This object still owns it.
    [[nodiscard]] MPI_Comm native() const noexcept { return handle_; }
    /// Number of this rank.
    [[nodiscard]] int rank() const noexcept { return rank_; }
    /// Number of ranks.
    [[nodiscard]] int size() const noexcept { return size_; }

private:
    EINPARALLEL_INLINE static communicator owning(MPI_Comm made);

    MPI_Comm handle_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
};

/// numbers[i] = the smallest numbers[i] over all ranks. Collective; every rank gives as many numbers. MPICH 4.0
/// compares them as numbers with a sign: those beyond 2^63 may only be looked at for being all the same.
EINPARALLEL_INLINE void allreduce_minimum(const communicator& ranks, std::span<std::uint64_t> numbers);

/// True where it is true on all ranks. Collective.
EINPARALLEL_INLINE bool all_of(const communicator& ranks, bool here);

/// Copies `bytes` bytes from the root to everybody. Collective; every rank says the same number and root.
EINPARALLEL_INLINE void broadcast(const communicator& ranks, void* data, std::size_t bytes, int root);

/// all[rank * mine.size() + i] = mine[i] of that rank, everywhere. Collective; every rank gives as many numbers.
/// @pre all.size() == mine.size() * ranks.size()
EINPARALLEL_INLINE void allgather(const communicator& ranks, std::span<const std::int64_t> mine,
                                  std::span<std::int64_t> all);

}  // namespace einparallel
