#pragma once
// Non-blocking messages of boxes: started, polled while work goes on, and completed whatever happens.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

/// Messages in flight on one communicator. Between two ranks, messages match in the order in which both sides start
/// them. No call but wait() throws for what MPI says: a rank that loses one message still completes the others.
/// Buffers and types must live until wait() returns.
class transfers : private detail::not_copied {
public:
    /// Refers to `ranks`, which must outlive it.
    explicit transfers(const communicator& ranks) : ranks_(ranks.native()) {}

    /// Completes what is in flight.
    ~transfers() { complete(); }

    /// Makes room for so many messages at once, so that starting one does not allocate.
    void reserve(std::size_t messages) { messages_.reserve(messages); }

    /// Starts to receive from `peer` into the elements that `where` describes, from `buffer` on.
    EINPARALLEL_INLINE void receive(void* buffer, const box_type& where, int peer) {
        start(buffer, where, {MPI_REQUEST_NULL, peer, false});
    }

    /// Starts to send the elements that `where` describes, from `buffer` on, to `peer`.
    EINPARALLEL_INLINE void send(const void* buffer, const box_type& where, int peer) {
        start(const_cast<void*>(buffer), where, {MPI_REQUEST_NULL, peer, true});
        bytes_sent_ += where.bytes;
    }

    /// Lets MPI work on the messages, one by one, so that it is known whose failure it is; true where none is in flight
    /// any more.
    EINPARALLEL_INLINE bool poll() noexcept {
        for (int done = 1; arrived_ < messages_.size() && done != 0; arrived_ += done != 0 ? 1 : 0) {
            const int code = MPI_Test(&messages_[arrived_].request, &done, MPI_STATUS_IGNORE);
            note(code, "MPI_Test", messages_[arrived_]);
            done = code != MPI_SUCCESS ? 1 : done;
        }
        return arrived_ == messages_.size();
    }

    /// Messages that have arrived, from the first one started on.
    [[nodiscard]] std::size_t arrived() const noexcept { return arrived_; }

    /// Completes the first message that poll() has not found arrived. @pre there is one
    EINPARALLEL_INLINE void wait_next() noexcept {
        note(MPI_Wait(&messages_[arrived_].request, MPI_STATUS_IGNORE), "MPI_Wait", messages_[arrived_]);
        ++arrived_;
    }

    /// Completes all messages.
    /// @throws mpi_error for the first MPI call that failed since the last wait(), with the peer of its message
    EINPARALLEL_INLINE void wait() {
        complete();
        if (code_ != MPI_SUCCESS) {
            const int code = std::exchange(code_, MPI_SUCCESS);
            throw mpi_error(std::string(call_) + (lost_.sends ? " of a message to rank " : " of a message from rank ") +
                                std::to_string(lost_.peer),
                            code);
        }
    }

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept { return bytes_sent_; }

private:
    static constexpr int tag = 0;

    struct message {
        MPI_Request request;  ///< null where the call failed: arrived
        int peer = 0;
        bool sends = false;  ///< this rank does
    };

    EINPARALLEL_INLINE void start(void* buffer, const box_type& where, message next) {
        auto* const first = static_cast<std::byte*>(buffer) + where.offset;
        const MPI_Datatype type = where.type.native();
        const int count = int(where.count);
        const int code = next.sends ? MPI_Isend(first, count, type, next.peer, tag, ranks_, &next.request)
                                    : MPI_Irecv(first, count, type, next.peer, tag, ranks_, &next.request);
        note(code, next.sends ? "MPI_Isend" : "MPI_Irecv", next);
        messages_.push_back(next);
    }

    EINPARALLEL_INLINE void note(int code, const char* call, const message& lost) noexcept {
        if (code != MPI_SUCCESS && code_ == MPI_SUCCESS) {
            code_ = code;
            call_ = call;
            lost_ = lost;
        }
    }

    EINPARALLEL_INLINE void complete() noexcept {
        while (arrived_ < messages_.size()) {
            wait_next();
        }
        messages_.clear();
        arrived_ = 0;
    }

    MPI_Comm ranks_;
    std::vector<message> messages_;
    std::size_t arrived_ = 0;  ///< messages that are done, from the first on
    std::size_t bytes_sent_ = 0;
    int code_ = MPI_SUCCESS;
    const char* call_ = "";
    message lost_{};
};

}  // namespace einparallel
