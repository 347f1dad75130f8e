#pragma once
// Non-blocking messages of boxes: started, polled while work goes on, and completed whatever happens.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/compiled.hpp>

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
    void reserve(std::size_t messages) {
        requests_.reserve(messages);
        ends_.reserve(messages);
    }

    /// Starts to receive from `peer` into the elements that `where` describes, from `buffer` on.
    EINPARALLEL_INLINE void receive(void* buffer, const box_type& where, int peer);

    /// Starts to send the elements that `where` describes, from `buffer` on, to `peer`.
    EINPARALLEL_INLINE void send(const void* buffer, const box_type& where, int peer);

    /// Lets MPI work on the messages; true where none is in flight any more.
    EINPARALLEL_INLINE bool poll() noexcept;

    /// Messages that have arrived, from the first one started on.
    [[nodiscard]] std::size_t arrived() const noexcept { return arrived_; }

    /// Completes the first message that poll() has not found arrived. @pre there is one
    EINPARALLEL_INLINE void wait_next() noexcept;

    /// Completes all messages.
    /// @throws mpi_error for the first MPI call that failed since the last wait(), with the peer of its message
    EINPARALLEL_INLINE void wait();

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept { return bytes_sent_; }

private:
    static constexpr int tag = 0;

    /// The other end of a message.
    struct message_end {
        int peer = 0;
        bool sends = false;  ///< this rank does
    };

    EINPARALLEL_INLINE void keep(MPI_Request request, message_end end, int code, const char* call);

    EINPARALLEL_INLINE void note(int code, const char* call, message_end end) noexcept;

    EINPARALLEL_INLINE void complete() noexcept;

    MPI_Comm ranks_;
    std::vector<MPI_Request> requests_;
    std::vector<message_end> ends_;  ///< of the same messages
    std::size_t arrived_ = 0;        ///< requests that are done, from the first on
    std::size_t bytes_sent_ = 0;
    int code_ = MPI_SUCCESS;
    const char* call_ = "";
    message_end end_;
};

}  // namespace einparallel
