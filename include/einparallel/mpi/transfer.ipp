#pragma once

#include <einparallel/mpi/transfer.hpp>

namespace einparallel {

EINPARALLEL_INLINE void transfers::receive(void* buffer, const box_type& where, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto* first = static_cast<std::byte*>(buffer) + where.offset;
#if MPI_VERSION >= 4
    note(MPI_Irecv_c(first, where.count, where.type.native(), peer, tag, ranks_, &request), "MPI_Irecv_c");
#else
    note(MPI_Irecv(first, static_cast<int>(where.count), where.type.native(), peer, tag, ranks_, &request),
         "MPI_Irecv");
#endif
    keep(request);
}

EINPARALLEL_INLINE void transfers::send(const void* buffer, const box_type& where, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    const auto* first = static_cast<const std::byte*>(buffer) + where.offset;
#if MPI_VERSION >= 4
    note(MPI_Isend_c(first, where.count, where.type.native(), peer, tag, ranks_, &request), "MPI_Isend_c");
#else
    note(MPI_Isend(first, static_cast<int>(where.count), where.type.native(), peer, tag, ranks_, &request),
         "MPI_Isend");
#endif
    keep(request);
    bytes_sent_ += where.bytes;
}

EINPARALLEL_INLINE bool transfers::poll() noexcept {
    if (requests_.empty()) {
        return true;
    }
    int done = 0;
    const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    note(code, "MPI_Testall");
    if (code != MPI_SUCCESS) {
        complete();
        return true;
    }
    if (done != 0) {
        requests_.clear();
    }
    return done != 0;
}

EINPARALLEL_INLINE void transfers::wait() {
    complete();
    if (code_ != MPI_SUCCESS) {
        const int code = code_;
        code_ = MPI_SUCCESS;
        throw mpi_error(call_, code);
    }
}

EINPARALLEL_INLINE bool transfers::in_flight() const noexcept {
    return !requests_.empty();
}

EINPARALLEL_INLINE std::size_t transfers::bytes_sent() const noexcept {
    return bytes_sent_;
}

EINPARALLEL_INLINE void transfers::keep(MPI_Request request) {
    if (request != MPI_REQUEST_NULL) {
        requests_.push_back(request);
    }
}

EINPARALLEL_INLINE void transfers::note(int code, const char* call) noexcept {
    if (code != MPI_SUCCESS && code_ == MPI_SUCCESS) {
        code_ = code;
        call_ = call;
    }
}

EINPARALLEL_INLINE void transfers::complete() noexcept {
    if (requests_.empty()) {
        return;
    }
    const int code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) {
        note(code, "MPI_Waitall");
        // Waitall may leave some of them pending once one has failed.
        for (MPI_Request& request : requests_) {
            if (request != MPI_REQUEST_NULL) {
                note(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
            }
        }
    }
    requests_.clear();
}

}  // namespace einparallel
