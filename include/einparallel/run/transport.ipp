#pragma once
// Transport: how the messages of a program's steps travel between ranks.

#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/run/prepared.ipp>

#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Carries the messages of one step at a time over MPI. Buffers are addresses that only the transport and the memory
/// space look behind. Straight from the space's memory: what is sent must have been written (memory_space::finish)
/// before the step begins. Through the host (space.staging()): what leaves is copied out when the work given before the
/// step is done, and sent then; what arrives is copied in, and later work waits for that.
class transport {
public:
    /// Refers to `ranks` and `space`, which must outlive it.
    explicit transport(const communicator& ranks, const memory_space& space = the_host)
        : space_(space), arrivals_(ranks), flight_(ranks) {}

    /// Makes room for the messages of a step, so that starting them does not allocate.
    void reserve(const message_room& most) {
        flight_.reserve(most.messages);
        arrivals_.reserve(most.messages);
        leaving_.reserve(most.messages);
        out_.grow(space_.on_host(), most.out);
        in_[0].grow(space_.on_host(), most.in);
        in_[1].grow(space_.on_host(), most.in);
    }

    /// Starts the messages of a step. `starts`: where each buffer begins; `given`: the work of all steps before.
    EINPARALLEL_INLINE void start(const prepared_messages& of_step, std::span<std::byte* const> starts,
                                  work_token given = no_work) {
        if (space_.staging() == 0) {
            for (const prepared_message& received : of_step.receives) {
                flight_.receive(received.block.address(starts), received.elements, received.peer);
            }
            for (const prepared_message& sent : of_step.sends) {
                flight_.send(sent.block.address(starts), sent.elements, sent.peer);
            }
            return;
        }
        step_ = &of_step;
        starts_ = starts;
        given_ = given;
        side_ = 1 - side_;
        if (std::exchange(was_used_[side_], !of_step.receives.empty())) {
            attempt([&] { space_.finish(copied_in_[side_]); });
        }
        std::byte* at = in_[side_].data();
        for (const prepared_message& received : of_step.receives) {
            arrivals_.receive(at, received.elements, received.peer);
            at += staged(received.elements.bytes);
        }
        at = out_.data();
        for (const prepared_message& sent : of_step.sends) {
            leaving_.push_back({&sent, at, given});
            attempt([&] {
                leaving_.back().copied = space_.bring_out(
                    {sent.extents, at, sent.dense, sent.block.address(starts), sent.block.strides, sent.element_bytes},
                    given);
            });
            at += staged(sent.elements.bytes);
        }
    }

    /// Advances them; true where all have arrived.
    EINPARALLEL_INLINE bool poll() noexcept {
        bool is_out = true;
        while (sent_ < leaving_.size() && is_out) {
            attempt([&] { is_out = space_.is_done(leaving_[sent_].copied); });
            if (is_out) {
                send_next();
            }
        }
        arrivals_.poll();
        while (brought_in_ < arrivals_.arrived()) {
            bring_in_next();
        }
        return flight_.poll() && sent_ == leaving_.size() &&
               (step_ == nullptr || brought_in_ == step_->receives.size());
    }

    /// Returns when all have arrived.
    /// @throws mpi_error for the first MPI call that failed in this step, and what copies from and to the host threw
    EINPARALLEL_INLINE void complete() {
        while (sent_ < leaving_.size()) {
            attempt([&] { space_.finish(leaving_[sent_].copied); });
            send_next();
        }
        while (step_ != nullptr && brought_in_ < step_->receives.size()) {
            arrivals_.wait_next();
            bring_in_next();
        }
        leaving_.clear();
        sent_ = brought_in_ = bytes_in_ = 0;
        step_ = nullptr;
        attempt([&] { arrivals_.wait(); });
        attempt([&] { flight_.wait(); });
        if (failure_ != nullptr) {
            std::rethrow_exception(std::exchange(failure_, nullptr));
        }
    }

    /// Bytes handed to MPI since this object was made.
    [[nodiscard]] std::size_t bytes_sent() const noexcept { return flight_.bytes_sent(); }

private:
    /// A message on its way out of the space.
    struct leaving_message {
        const prepared_message* what;
        std::byte* out;
        work_token copied;
    };

    /// f(); keeps what it throws first for complete(): a rank that fails keeps to the schedule.
    EINPARALLEL_INLINE void attempt(function_ref<void()> f) noexcept {
        try {
            f();
        } catch (...) {
            failure_ = failure_ == nullptr ? std::current_exception() : failure_;
        }
    }

    EINPARALLEL_INLINE void send_next() {
        const leaving_message& next = leaving_[sent_++];
        flight_.send(next.out, next.what->elements, next.what->peer);
    }

    EINPARALLEL_INLINE void bring_in_next() {
        const prepared_message& next = step_->receives[brought_in_++];
        attempt([&] {
            copied_in_[side_] = space_.bring_in({next.extents, next.block.address(starts_), next.block.strides,
                                                 in_[side_].data() + bytes_in_, next.dense, next.element_bytes},
                                                given_);
        });
        bytes_in_ += staged(next.elements.bytes);
    }

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
};

}  // namespace einparallel::EINPARALLEL_DETAIL
