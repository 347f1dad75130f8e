#pragma once
// Transport: how the messages of a program's steps travel between ranks.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A message made ready: contiguous elements, or those that a derived datatype describes. Boxes in short runs have been
/// packed by the space before (schedule/packing.hpp).
struct prepared_message {
    int peer = 0;
    buffer_id place = no_buffer;
    box_type elements;
};

/// The messages of one step.
struct prepared_messages {
    std::vector<prepared_message> receives;
    std::vector<prepared_message> sends;

    prepared_messages() = default;
    EINPARALLEL_INLINE explicit prepared_messages(const program& of_rank, const step& each);

    [[nodiscard]] bool empty() const { return receives.empty() && sends.empty(); }
    /// That are sent.
    [[nodiscard]] std::size_t bytes() const {
        std::size_t sum = 0;
        for (const prepared_message& each : sends) {
            sum += each.elements.bytes;
        }
        return sum;
    }
};

/// Carries the messages of one step at a time over MPI. Buffers are addresses that only the transport and the memory
/// space look behind; what is sent must have been written (memory_space::finish) before the step begins.
class transport {
public:
    /// Refers to `ranks`, which must outlive it.
    explicit transport(const communicator& ranks) : flight_(ranks) {}

    /// Makes room for so many messages in a step, so that starting them does not allocate.
    void reserve(std::size_t messages) { flight_.reserve(messages); }

    /// Starts the messages of a step. `starts`: where each buffer begins.
    EINPARALLEL_INLINE void start(const prepared_messages& of_step, std::span<std::byte* const> starts);

    /// Advances them; true where all have arrived.
    bool poll() noexcept { return flight_.poll(); }

    /// Returns when all have arrived.
    /// @throws mpi_error for the first MPI call that failed in this step
    void complete() { flight_.wait(); }

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept { return flight_.bytes_sent(); }

private:
    transfers flight_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
