#pragma once
// Non-blocking messages of boxes: started, polled while work goes on, and completed whatever happens.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace einparallel {

/// Messages in flight on one communicator. Between two ranks, messages match in the order in which both sides start
/// them. No call but wait() throws for what MPI says: a rank that loses one message still completes the others.
/// Buffers and types must live until wait() returns.
class transfers {
public:
    /// Refers to `ranks`, which must outlive it.
    explicit transfers(const communicator& ranks) : ranks_(ranks.native()) {}
    transfers(const transfers&) = delete;
    transfers& operator=(const transfers&) = delete;

    /// Completes what is in flight.
    ~transfers() { complete(); }

    /// Makes room for so many messages at once, so that starting one does not allocate.
    void reserve(std::size_t messages) { requests_.reserve(messages); }

    /// Starts to receive from `peer` into the elements that `where` describes, from `buffer` on.
    void receive(void* buffer, const box_type& where, int peer) {
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

    /// Starts to send the elements that `where` describes, from `buffer` on, to `peer`.
    void send(const void* buffer, const box_type& where, int peer) {
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

    /// Lets MPI work on the messages; true where none is in flight any more.
    bool poll() noexcept {
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

    /// Completes all messages.
    /// @throws mpi_error for the first MPI call that failed since the last wait()
    void wait() {
        complete();
        if (code_ != MPI_SUCCESS) {
            const int code = code_;
            code_ = MPI_SUCCESS;
            throw mpi_error(call_, code);
        }
    }

    [[nodiscard]] bool in_flight() const noexcept {
        return !requests_.empty();
    }

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept {
        return bytes_sent_;
    }

private:
    static constexpr int tag = 0;

    void keep(MPI_Request request) {
        if (request != MPI_REQUEST_NULL) {
            requests_.push_back(request);
        }
    }

    void note(int code, const char* call) noexcept {
        if (code != MPI_SUCCESS && code_ == MPI_SUCCESS) {
            code_ = code;
            call_ = call;
        }
    }

    void complete() noexcept {
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

    MPI_Comm ranks_;
    std::vector<MPI_Request> requests_;
    std::size_t bytes_sent_ = 0;
    int code_ = MPI_SUCCESS;
    const char* call_ = "";
};

}  // namespace einparallel
