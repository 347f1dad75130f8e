#pragma once

#include <einparallel/mpi/transfer.hpp>

#include <string>
#include <utility>

namespace einparallel {

EINPARALLEL_INLINE void transfers::receive(void* buffer, const box_type& where, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto* first = static_cast<std::byte*>(buffer) + where.offset;
#if MPI_VERSION >= 4
    const int code = MPI_Irecv_c(first, where.count, where.type.native(), peer, tag, ranks_, &request);
#else
    const int code = MPI_Irecv(first, static_cast<int>(where.count), where.type.native(), peer, tag, ranks_, &request);
#endif
    keep(request, {peer, false}, code, "MPI_Irecv");
}

EINPARALLEL_INLINE void transfers::send(const void* buffer, const box_type& where, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    const auto* first = static_cast<const std::byte*>(buffer) + where.offset;
#if MPI_VERSION >= 4
    const int code = MPI_Isend_c(first, where.count, where.type.native(), peer, tag, ranks_, &request);
#else
    const int code = MPI_Isend(first, static_cast<int>(where.count), where.type.native(), peer, tag, ranks_, &request);
#endif
    keep(request, {peer, true}, code, "MPI_Isend");
    bytes_sent_ += where.bytes;
}

/// One by one, so that it is known whose failure it is; MPI works on the others meanwhile.
EINPARALLEL_INLINE bool transfers::poll() noexcept {
    for (int done = 1; arrived_ < requests_.size() && done != 0; arrived_ += done != 0 ? 1 : 0) {
        const int code = MPI_Test(&requests_[arrived_], &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            note(code, "MPI_Test", ends_[arrived_]);
            done = 1;
        }
    }
    return arrived_ == requests_.size();
}

EINPARALLEL_INLINE void transfers::wait() {
    complete();
    if (code_ != MPI_SUCCESS) {
        const int code = std::exchange(code_, MPI_SUCCESS);
        throw mpi_error(std::string(call_) + (end_.sends ? " of a message to rank " : " of a message from rank ") +
                            std::to_string(end_.peer),
                        code);
    }
}

EINPARALLEL_INLINE void transfers::keep(MPI_Request request, message_end end, int code, const char* call) {
    note(code, call, end);
    requests_.push_back(request);  // null where the call failed: arrived
    ends_.push_back(end);
}

EINPARALLEL_INLINE void transfers::note(int code, const char* call, message_end end) noexcept {
    if (code != MPI_SUCCESS && code_ == MPI_SUCCESS) {
        code_ = code;
        call_ = call;
        end_ = end;
    }
}

EINPARALLEL_INLINE void transfers::wait_next() noexcept {
    note(MPI_Wait(&requests_[arrived_], MPI_STATUS_IGNORE), "MPI_Wait", ends_[arrived_]);
    ++arrived_;
}

EINPARALLEL_INLINE void transfers::complete() noexcept {
    while (arrived_ < requests_.size()) {
        wait_next();
    }
    requests_.clear();
    ends_.clear();
    arrived_ = 0;
}

}  // namespace einparallel
