#pragma once

#include <einparallel/run/node_window.hpp>

#include <einparallel/mpi/collective.hpp>
#include <einparallel/mpi/error.hpp>
#include <einparallel/run/agreement.hpp>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>

namespace einparallel::EINPARALLEL_DETAIL {

using phase_flag = std::atomic<std::uint64_t>;
static_assert(phase_flag::is_always_lock_free, "flags in shared memory must be address-free");

/// Brings pages of shared memory into being, in this rank's part of the machine. A file system that has no room for
/// them would kill the rank at its first touch, but lets a system call fail.
EINPARALLEL_INLINE bool touch(std::byte* memory, std::size_t bytes) {
    const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    std::size_t done = 0;
    while (zeros >= 0 && done < bytes) {
        const ssize_t read = ::read(zeros, memory + done, bytes - done);
        if (read <= 0) {
            break;
        }
        done += static_cast<std::size_t>(read);
    }
    if (zeros >= 0) {
        ::close(zeros);
    }
    return done == bytes;
}

EINPARALLEL_INLINE node_window::node_window(const communicator& ranks, int ranks_per_node)
    : ranks_(ranks),
      rank_(ranks.rank()),
      ranks_per_node_(ranks_per_node),
      first_(rank_ - rank_ % ranks_per_node),
      node_(communicator::of_node(ranks, first_)),
      shares_(node_.size() == std::min(ranks_per_node, ranks.size() - first_)) {}

EINPARALLEL_VIRTUAL node_window::~node_window() {
    if (std::uncaught_exceptions() == 0 || agreed_error::is_thrown_on(ranks_)) {
        release();
    }
}

EINPARALLEL_INLINE void node_window::release() noexcept {
    if (window_ != MPI_WIN_NULL && mpi_is_running()) {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    memory_ = nullptr;
    bytes_ = 0;
}

EINPARALLEL_INLINE bool node_window::grow(std::size_t bytes) {
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
    const int code =
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(slot_bytes_), 1, MPI_INFO_NULL, node_.native(), &own, &window_);
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

EINPARALLEL_INLINE void node_window::begin() const {
    ::new (static_cast<void*>(slot(rank_))) phase_flag(0);
    MPI_Win_sync(window_);
}

EINPARALLEL_INLINE void node_window::enter(std::size_t phase) const {
    MPI_Win_sync(window_);
    reinterpret_cast<phase_flag*>(slot(rank_))->store(phase, std::memory_order_release);
}

EINPARALLEL_INLINE bool node_window::has_entered(int rank, std::size_t phase) const {
    if (reinterpret_cast<phase_flag*>(slot(rank))->load(std::memory_order_acquire) < phase) {
        return false;
    }
    MPI_Win_sync(window_);
    return true;
}

EINPARALLEL_INLINE void node_window::rest() const {
    int arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node_.native(), &arrived, MPI_STATUS_IGNORE);
    std::this_thread::yield();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
