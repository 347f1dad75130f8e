#pragma once
// Memory that the ranks of one node share, owned by a context.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/error.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/agreement.hpp>

#include <fcntl.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>

namespace einparallel::EINPARALLEL_DETAIL {

/// A window with a segment for every rank of a node, and in front of each segment the phase that its rank has entered.
/// A node is `ranks_per_node` successive ranks of a communicator, as the user says; where they do not share memory the
/// window has none. Scratch only: what the application gets never lies in it.
class node_window {
public:
    /// Collective over `ranks`, which must outlive it. @throws mpi_error
    EINPARALLEL_INLINE node_window(const communicator& ranks, int ranks_per_node)
        : ranks_(ranks),
          rank_(ranks.rank()),
          ranks_per_node_(ranks_per_node),
          first_(rank_ - rank_ % ranks_per_node),
          node_(communicator::of_node(ranks, first_)),
          shares_(node_.size() == std::min(ranks_per_node, ranks.size() - first_)) {}
    node_window(const node_window&) = delete;
    node_window& operator=(const node_window&) = delete;
    /// Collective over the node; but where an exception is on its way that was not agreed on `ranks` MPI keeps the
    /// memory, for its other ranks may never come.
    ~node_window() {
        if (std::uncaught_exceptions() == 0 || agreed_error::is_thrown_on(ranks_)) {
            release();
        }
    }

    [[nodiscard]] int ranks_per_node() const { return ranks_per_node_; }
    /// Bytes per rank.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    /// Makes room for at least so many bytes per rank, the same on all ranks of the node; what lay in the window is
    /// gone. Collective over the node. False on all of its ranks where there is not as much shared memory: then there
    /// is none.
    EINPARALLEL_INLINE bool grow(std::size_t bytes) {
        if (bytes <= bytes_) {
            return true;
        }
        release();
        slot_bytes_ = (header + bytes + page - 1) / page * page;
        struct statvfs room {};
        const bool fits = ::statvfs("/dev/shm", &room) != 0 ||
                          slot_bytes_ / room.f_frsize < room.f_bavail / static_cast<unsigned>(node_.size());
        if (!all_of(node_, shares_ && fits)) {
            return false;
        }
        void* own = nullptr;
        const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(slot_bytes_), 1, MPI_INFO_NULL, node_.native(),
                                                 &own, &window_);
        if (!all_of(node_, code == MPI_SUCCESS)) {
            window_ = MPI_WIN_NULL;
            return false;
        }
        MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
        // Segments follow each other; some MPIs give everybody the address of the first one.
        MPI_Aint size = 0;
        int unit = 0;
        check_mpi(MPI_Win_shared_query(window_, 0, &size, &unit, &own), "MPI_Win_shared_query");
        memory_ = static_cast<std::byte*>(own);
        check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
        const bool touched = touch(slot(rank_), slot_bytes_);
        if (touched) {
            begin();
        }
        if (!all_of(node_, touched)) {
            release();
            return false;
        }
        bytes_ = bytes;
        return true;
    }

    /// Where the segment of `rank` of the communicator begins. @pre of this node, bytes() > 0
    [[nodiscard]] std::byte* segment(int rank) const { return slot(rank) + header; }
    [[nodiscard]] std::byte* segment() const { return segment(rank_); }

    /// This rank has entered no phase yet. Others must not look before the ranks have met again.
    EINPARALLEL_INLINE void begin() const {
        ::new (static_cast<void*>(slot(rank_))) phase_flag(0);
        MPI_Win_sync(window_);
    }
    /// This rank has entered `phase`, and done all that comes earlier.
    EINPARALLEL_INLINE void enter(std::size_t phase) const {
        MPI_Win_sync(window_);
        flag(rank_).store(phase, std::memory_order_release);
    }
    /// Returns when `rank` has entered `phase`; calls advance() meanwhile.
    template <class Advance>
    void await(int rank, std::size_t phase, Advance advance) const {
        for (int turn = 0; flag(rank).load(std::memory_order_acquire) < phase; ++turn) {
            if (turn > patience) {
                advance();
                rest();
            }
        }
        MPI_Win_sync(window_);
    }

private:
    using phase_flag = std::atomic<std::uint64_t>;
    static_assert(phase_flag::is_always_lock_free, "flags in shared memory must be address-free");

    static constexpr std::size_t header = 128;      ///< two cache lines, fetched together
    static constexpr std::size_t page = 1U << 12U;  ///< segments begin on pages
    static constexpr int patience = 64;

    [[nodiscard]] std::byte* slot(int rank) const {
        return memory_ + static_cast<std::size_t>(rank - first_) * slot_bytes_;
    }
    [[nodiscard]] phase_flag& flag(int rank) const { return *reinterpret_cast<phase_flag*>(slot(rank)); }

    /// Brings pages of shared memory into being, in this rank's part of the machine. A file system that has no room for
    /// them would kill the rank at its first touch, but lets a system call fail.
    EINPARALLEL_INLINE static bool touch(std::byte* memory, std::size_t bytes) {
        const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
        std::size_t done = 0;
        for (ssize_t read = 1; zeros >= 0 && done < bytes && read > 0;
             done += static_cast<std::size_t>(std::max<ssize_t>(read, 0))) {
            read = ::read(zeros, memory + done, bytes - done);
        }
        if (zeros >= 0) {
            ::close(zeros);
        }
        return done == bytes;
    }

    /// Lets other ranks of this processor go on; under SMPI a rank that does not call MPI stops all others.
    EINPARALLEL_INLINE void rest() const {
        int arrived = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node_.native(), &arrived, MPI_STATUS_IGNORE);
        std::this_thread::yield();
    }

    EINPARALLEL_INLINE void release() noexcept {
        if (window_ != MPI_WIN_NULL && mpi_is_running()) {
            MPI_Win_unlock_all(window_);
            MPI_Win_free(&window_);
        }
        memory_ = nullptr;
        bytes_ = 0;
    }

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
