#pragma once
// Memory that the ranks of one node share, owned by a context.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>

#include <mpi.h>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// A window with a segment for every rank of a node, and in front of each segment the phase that its rank has entered.
/// A node is `ranks_per_node` successive ranks of a communicator, as the user says; where they do not share memory the
/// window has none. Scratch only: what the application gets never lies in it.
class node_window {
public:
    /// Collective over `ranks`, which must outlive it. @throws mpi_error
    EINPARALLEL_INLINE node_window(const communicator& ranks, int ranks_per_node);
    node_window(const node_window&) = delete;
    node_window& operator=(const node_window&) = delete;
    /// Collective over the node; but where an exception is on its way that was not agreed on `ranks` MPI keeps the
    /// memory, for its other ranks may never come.
    ~node_window();

    [[nodiscard]] int ranks_per_node() const { return ranks_per_node_; }
    /// Bytes per rank.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    /// Makes room for at least so many bytes per rank, the same on all ranks of the node; what lay in the window is
    /// gone. Collective over the node. False on all of its ranks where there is not as much shared memory: then there
    /// is none.
    EINPARALLEL_INLINE bool grow(std::size_t bytes);

    /// Where the segment of `rank` of the communicator begins. @pre of this node, bytes() > 0
    [[nodiscard]] std::byte* segment(int rank) const { return slot(rank) + header; }
    [[nodiscard]] std::byte* segment() const { return segment(rank_); }

    /// This rank has entered no phase yet. Others must not look before the ranks have met again.
    EINPARALLEL_INLINE void begin() const;
    /// This rank has entered `phase`, and done all that comes earlier.
    EINPARALLEL_INLINE void enter(std::size_t phase) const;
    /// Returns when `rank` has entered `phase`; calls advance() meanwhile.
    template <class Advance>
    void await(int rank, std::size_t phase, Advance advance) const {
        for (int turn = 0; !has_entered(rank, phase); ++turn) {
            if (turn > patience) {
                advance();
                rest();
            }
        }
    }

private:
    static constexpr std::size_t header = 128;      ///< two cache lines, fetched together
    static constexpr std::size_t page = 1U << 12U;  ///< segments begin on pages
    static constexpr int patience = 64;

    [[nodiscard]] std::byte* slot(int rank) const {
        return memory_ + static_cast<std::size_t>(rank - first_) * (slot_bytes_);
    }
    EINPARALLEL_INLINE [[nodiscard]] bool has_entered(int rank, std::size_t phase) const;
    /// Lets other ranks of this processor go on; under SMPI a rank that does not call MPI stops all others.
    EINPARALLEL_INLINE void rest() const;
    EINPARALLEL_INLINE void release() noexcept;

    const communicator& ranks_;
    int rank_;
    int ranks_per_node_;
    int first_;
    communicator node_;
    bool shares_ = false;
    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* memory_ = nullptr;  ///< of the node's first rank, as this rank sees it
    std::size_t slot_bytes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
