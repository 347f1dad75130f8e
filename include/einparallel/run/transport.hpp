#pragma once
// Transport: how the messages of a program's steps travel between ranks.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/node_window.hpp>
#include <einparallel/schedule/neighbours.hpp>
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

/// What one step exchanges with other ranks.
struct prepared_messages {
    std::vector<prepared_message> receives;
    std::vector<prepared_message> sends;
    std::vector<neighbour_phase> clears;  ///< before the step: neighbours have read what it overwrites
    std::vector<neighbour_phase> reads;   ///< at its end: neighbours have written what later steps read in place
    std::size_t bytes_read = 0;
    std::size_t next_phase = 0;  ///< that this rank enters then; 0 where no neighbour waits for this program

    /// Step number `position` of a program; `window`: what it shares with its neighbours.
    EINPARALLEL_INLINE prepared_messages(const program& of_rank, std::size_t position, const window_plan& window = {});

    /// True where something has to happen before the work begins.
    [[nodiscard]] bool waits() const { return !receives.empty() || !sends.empty() || !clears.empty(); }
    [[nodiscard]] bool has_neighbours() const { return next_phase > 0; }
    /// Sent, and read from neighbours.
    [[nodiscard]] std::size_t bytes() const {
        std::size_t sum = bytes_read;
        for (const prepared_message& each : sends) {
            sum += each.elements.bytes;
        }
        return sum;
    }
};

/// Carries the messages of one step at a time over MPI, and keeps ranks that read each other's memory in step. Buffers
/// are addresses that only the transport and the memory space look behind; what is sent must have been written
/// (memory_space::finish) before the step begins, what neighbours read before it is completed.
class transport {
public:
    /// Refers to `ranks`, which must outlive it.
    explicit transport(const communicator& ranks) : flight_(ranks) {}

    /// Makes room for so many messages in a step, so that starting them does not allocate.
    void reserve(std::size_t messages) { flight_.reserve(messages); }

    /// For the program that comes next: the window of its node, or null.
    void share(const node_window* window) { window_ = window; }

    /// Starts the messages of a step. `starts`: where each buffer begins.
    EINPARALLEL_INLINE void start(const prepared_messages& of_step, std::span<std::byte* const> starts);

    /// Advances them; true where all have arrived.
    bool poll() noexcept { return flight_.poll(); }

    /// Returns when all have arrived, and neighbours' buffers hold what later steps read.
    /// @throws mpi_error for the first MPI call that failed in this step
    EINPARALLEL_INLINE void complete(const prepared_messages& of_step);

    /// Tells neighbours that the work and the messages of a step are done.
    void enter_next(const prepared_messages& of_step) const { window_->enter(of_step.next_phase); }

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept { return flight_.bytes_sent(); }
    /// Bytes read in neighbours' memory since then.
    [[nodiscard]] std::size_t bytes_read() const noexcept { return bytes_read_; }

private:
    EINPARALLEL_INLINE void await(const std::vector<neighbour_phase>& neighbours);

    transfers flight_;
    const node_window* window_ = nullptr;
    std::size_t bytes_read_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
