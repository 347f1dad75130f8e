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
/// them. Only wait() throws where MPI reports an error, so a rank that loses one message still completes the others.
/// Buffers and types must live until wait() returns.
class transfers : private detail::not_copied {
public:
    /// Uses `ranks`, which must outlive this object.
    explicit transfers(const communicator& ranks) : ranks_(ranks.native()) {}

    /// Completes all messages in flight.
    ~transfers() { complete(); }

    /// Reserves memory for `messages` messages at a time, so that starting one does not allocate.
    void reserve(std::size_t messages) { messages_.reserve(messages); }

    /// Starts to receive from `peer` the elements that `where` describes in `buffer`.
    EINPARALLEL_INLINE void receive(void* buffer, const box_type& where, int peer) {
        start(buffer, where, {MPI_REQUEST_NULL, peer, false});
    }

    /// Starts to send to `peer` the elements that `where` describes in `buffer`.
    EINPARALLEL_INLINE void send(const void* buffer, const box_type& where, int peer) {
        start(const_cast<void*>(buffer), where, {MPI_REQUEST_NULL, peer, true});
        bytes_sent_ += where.bytes;
    }

    /// Lets MPI work on the messages, and returns true where all of them have arrived. It tests them one by one, so
    /// that a failure can be attributed to its message.
    EINPARALLEL_INLINE bool poll() noexcept {
        for (int done = 1; arrived_ < messages_.size() && done != 0; arrived_ += done != 0 ? 1 : 0) {
            const int code = MPI_Test(&messages_[arrived_].request, &done, MPI_STATUS_IGNORE);
            note(code, "MPI_Test", messages_[arrived_]);
            done = code != MPI_SUCCESS ? 1 : done;
        }
        return arrived_ == messages_.size();
    }

    /// The number of messages that have arrived, counted from the first one started without a gap.
    [[nodiscard]] std::size_t arrived() const noexcept { return arrived_; }

    /// Completes the first message that is not counted in arrived(). @pre there is one
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
        MPI_Request request;  ///< null where the call failed; such a message counts as arrived
        int peer = 0;
        bool sends = false;  ///< true: this rank sends it
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
    std::size_t arrived_ = 0;  ///< number of messages that are done, counted from the first
    std::size_t bytes_sent_ = 0;
    int code_ = MPI_SUCCESS;
    const char* call_ = "";
    message lost_{};
};

}  // namespace einparallel
