#pragma once
// An MPI communicator that the library owns, and the few collective calls that exchange control data: small, blocking,
// with bytes and 64-bit numbers.

#include <einparallel/mpi/error.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace einparallel {

/// Owns one communicator, a duplicate of another one, on which MPI returns errors instead of aborting. Move-only,
/// because duplicating is collective and must be visible in the code.
class communicator {
public:
    communicator() noexcept = default;

    /// Duplicates `original`. Collective over it. `original` does not change, nor does its error handler.
    /// @throws error where MPI is not running, or where `original` is null or an intercommunicator; mpi_error where MPI
    /// fails
    EINPARALLEL_INLINE [[nodiscard]] static communicator duplicate_of(MPI_Comm original);

    /// A communicator of those of `ranks` that share memory with this rank. Collective. @throws mpi_error
    EINPARALLEL_INLINE [[nodiscard]] static communicator of_node(const communicator& ranks);

    /// Takes over the communicator of `other`.
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

/// Sets numbers[i] to the smallest numbers[i] of all ranks. Collective; every rank gives equally many numbers. MPICH
/// 4.0 compares them as signed numbers. So where numbers may be beyond 2^63, the result shows only whether all of them
/// are equal.
EINPARALLEL_INLINE void allreduce_minimum(const communicator& ranks, std::span<std::uint64_t> numbers);

/// True where `here` is true on all ranks. Collective.
EINPARALLEL_INLINE bool all_of(const communicator& ranks, bool here);

/// Copies `bytes` bytes from rank `root` to all ranks. Collective; every rank gives the same `bytes` and `root`.
EINPARALLEL_INLINE void broadcast(const communicator& ranks, void* data, std::size_t bytes, int root);

/// Sets all[r * mine.size() + i] to mine[i] of rank r, on every rank. Collective; every rank gives equally many
/// numbers.
/// @pre all.size() == mine.size() * ranks.size()
EINPARALLEL_INLINE void allgather(const communicator& ranks, std::span<const std::int64_t> mine,
                                  std::span<std::int64_t> all);

}  // namespace einparallel
