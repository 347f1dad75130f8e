#pragma once
// Transport: how the messages of a program's steps travel between ranks.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/node_window.hpp>
#include <einparallel/run/space.hpp>
#include <einparallel/schedule/neighbours.hpp>
#include <einparallel/schedule/program.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A box of a buffer that is copied to or from a dense one on the host.
struct staged_box {
    std::vector<index> extents;
    std::ptrdiff_t offset = 0;  ///< bytes from the buffer's start to the first element
    std::vector<index> strides;
    std::vector<index> dense;
    std::size_t element_bytes = 0;
};

/// A message made ready: contiguous elements, or those that a derived datatype describes. Boxes in short runs have been
/// packed by the space before (schedule/packing.hpp). Of messages that travel through the host `elements` are those
/// there.
struct prepared_message {
    int peer = 0;
    buffer_id place = no_buffer;
    box_type elements;
    staged_box staged{};
};

/// What one step exchanges with other ranks.
struct prepared_messages {
    std::vector<prepared_message> receives;
    std::vector<prepared_message> sends;
    std::vector<neighbour_phase> clears;  ///< before the step: neighbours have read what it overwrites
    std::vector<neighbour_phase> reads;   ///< at its end: neighbours have written what later steps read in place
    std::size_t bytes_read = 0;
    std::size_t next_phase = 0;  ///< that this rank enters then; 0 where no neighbour waits for this program

    /// Step number `position` of a program; `window`: what it shares with its neighbours; `staging`: the memory
    /// space's.
    EINPARALLEL_INLINE prepared_messages(const program& of_rank, std::size_t position, const window_plan& window = {},
                                         std::size_t staging = 0);

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
    [[nodiscard]] std::size_t bytes_received() const {
        std::size_t sum = 0;
        for (const prepared_message& each : receives) {
            sum += each.elements.bytes;
        }
        return sum;
    }
};

/// Bytes of staged messages on the host, each on a cache line.
EINPARALLEL_INLINE std::size_t staging_bytes(const std::vector<prepared_message>& messages);

/// Carries the messages of one step at a time over MPI, and keeps ranks that read each other's memory in step. Buffers
/// are addresses that only the transport and the memory space look behind. Straight from the space's memory: what is
/// sent must have been written (memory_space::finish) before the step begins. Through the host (space.staging()):
/// what leaves is copied out when the work given before the step is done, and sent then; what arrives is copied in, and
/// later work waits for that. What neighbours read must have been written before the step is completed.
class transport {
public:
    /// Refers to `ranks` and `space`, which must outlive it.
    explicit transport(const communicator& ranks, const memory_space& space = the_host)
        : space_(space), arrivals_(ranks), flight_(ranks) {}

    /// Makes room for so many messages in a step, and bytes on the host, so that starting them does not allocate.
    void reserve(std::size_t messages, std::size_t bytes_out = 0, std::size_t bytes_in = 0) {
        flight_.reserve(messages);
        arrivals_.reserve(messages);
        leaving_.reserve(messages);
        const auto grow = [&](memory_block& block, std::size_t bytes) {
            if (block.bytes() < bytes) {
                block = {};
                block = memory_block(space_.on_host(), bytes);
            }
        };
        grow(out_, bytes_out);
        grow(in_[0], bytes_in);
        grow(in_[1], bytes_in);
    }

    /// For the program that comes next: the window of its node, or null.
    void share(const node_window* window) { window_ = window; }

    /// Returns when neighbours have entered these phases.
    EINPARALLEL_INLINE void await(const std::vector<neighbour_phase>& neighbours);

    /// Starts the messages of a step, after await(of_step.clears). `starts`: where each buffer begins; `given`: the
    /// work of all steps before.
    EINPARALLEL_INLINE void start(const prepared_messages& of_step, std::span<std::byte* const> starts,
                                  work_token given = no_work);

    /// Advances them; true where all have arrived.
    EINPARALLEL_INLINE bool poll() noexcept;

    /// Returns when all have arrived, and neighbours' buffers hold what later steps read.
    /// @throws mpi_error for the first MPI call that failed in this step, and what copies from and to the host threw
    EINPARALLEL_INLINE void complete(const prepared_messages& of_step);

    /// Tells neighbours that the work and the messages of a step are done.
    void enter_next(const prepared_messages& of_step) const { window_->enter(of_step.next_phase); }

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept { return flight_.bytes_sent(); }
    /// Bytes read in neighbours' memory since then.
    [[nodiscard]] std::size_t bytes_read() const noexcept { return bytes_read_; }

private:
    /// A message on its way out of the space.
    struct leaving_message {
        const prepared_message* what;
        std::byte* out;
        work_token copied;
    };

    /// f(); keeps what it throws first for complete(): a rank that fails keeps to the schedule.
    template <class F>
    void attempt(F&& f) noexcept {
        try {
            f();
        } catch (...) {
            failure_ = failure_ == nullptr ? std::current_exception() : failure_;
        }
    }
    EINPARALLEL_INLINE void send_next();
    EINPARALLEL_INLINE void bring_in_next();

    const memory_space& space_;
    std::array<memory_block, 2> in_;  ///< of every other step: what has arrived in one is copied in during the next
    std::array<work_token, 2> copied_in_{};
    std::array<bool, 2> was_used_{};
    memory_block out_;
    std::size_t side_ = 0;  ///< of in_, in this step
    std::vector<leaving_message> leaving_;
    std::size_t sent_ = 0;  ///< of those
    const prepared_messages* step_ = nullptr;
    std::span<std::byte* const> starts_;
    work_token given_ = no_work;
    std::size_t brought_in_ = 0;  ///< messages of the step
    std::size_t bytes_in_ = 0;    ///< of those
    std::exception_ptr failure_;
    transfers arrivals_;  ///< through the host; the destructors complete what uses the memory above
    transfers flight_;
    const node_window* window_ = nullptr;
    std::size_t bytes_read_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
