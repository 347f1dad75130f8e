#pragma once
// Transport: how the messages of a program's steps travel between ranks, and advance while a rank computes.

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/prepared_step.ipp>
#include <einparallel/run/trace.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The observers of a run on this rank: the application's functions and trace, or null; and how failures name it.
struct run_watch {
    const std::function<void()>* progress = nullptr;
    const vertex_function* vertices = nullptr;
    trace* seen = nullptr;
    int rank = 0;
    const char* call = "run";
};

inline const run_watch unwatched;

/// Carries the messages of one step at a time over MPI. Buffers are addresses that only the transport and the memory
/// space look behind. Straight from the space's memory: a step's messages begin when the work given before it is done.
/// Through the host (space.staging()): what leaves is copied out when that work is done, and sent then; what arrives is
/// copied in, and later work waits for that.
class transport {
public:
    /// Refers to `ranks` and `space`, which must outlive it.
    explicit transport(const communicator& ranks, const memory_space& space = the_host)
        : space_(space), passes_host_(space.staging() > 0), flight_(ranks) {}

    /// Makes room for the messages of a step, so that starting them does not allocate.
    void reserve(const message_room& most) {
        flight_.reserve(most.messages);
        copied_out_.reserve(most.messages);
        out_.grow(space_.on_host(), most.out);
        in_[0].grow(space_.on_host(), most.in);
        in_[1].grow(space_.on_host(), most.in);
    }

    /// A program begins. `watch` outlives it.
    EINPARALLEL_SELDOM void begin(const run_watch& watch) {
        watch_ = &watch;
        next_poll_ = MPI_Wtime() + seconds_between_polls;
        given_ = no_work;
    }

    /// Starts the messages of a step. `starts`: where each buffer begins.
    EINPARALLEL_SELDOM void start(const prepared_step& of_step, const std::vector<std::byte*>& starts) {
        step_ = &of_step;
        starts_ = &starts;
        has_arrived_ = false;
        hook_.reset();
        if (!of_step.messages.empty() || watch_->progress != nullptr) {
            hook_.emplace(*this);
        }
        if (of_step.messages.empty()) {
            return;
        }
        side_ = 1 - side_;
        if (!passes_host_) {
            attempt([&] { space_.finish(given_); });
        } else if (const work_token earlier = std::exchange(copied_in_[side_], no_work); earlier != no_work) {
            attempt([&] { space_.finish(earlier); });
        }
        has_device_time_ = space_.times(activity::transfer, of_step.vertex);
        if (watch_->seen != nullptr) {
            under_way_.emplace(watch_->seen, activity::transfer, of_step.vertex, bytes_of(of_step, true),
                               bytes_of(of_step, false));
        }
        for (const prepared_message& each : of_step.messages) {
            std::byte* const block = each.block.address(starts);
            if (!each.is_sent) {
                flight_.receive(passes_host_ ? in_[side_].data() + each.at : block, each.elements, each.peer);
            } else if (!passes_host_) {
                flight_.send(block, each.elements, each.peer);
            } else {
                copied_out_.push_back(given_);
                attempt([&] {
                    copied_out_.back() = space_.bring_out({each.extents, out_.data() + each.at, each.dense, block,
                                                           each.block.strides, each.element_bytes},
                                                          given_);
                });
            }
        }
    }

    /// The hook of the step's contractions, which polls now and then and calls the application's progress function;
    /// null where there is nothing to do.
    progress_hook* hook() { return hook_.has_value() ? &*hook_ : nullptr; }

    /// Of the hook: true where nothing is left to advance.
    EINPARALLEL_SELDOM bool operator()() {
        if (const double now = MPI_Wtime(); now >= next_poll_) {
            next_poll_ = now + seconds_between_polls;
            poll();
            if (watch_->progress != nullptr) {
                (*watch_->progress)();
            }
        }
        return has_arrived_ && watch_->progress == nullptr;
    }

    /// Lets the step's messages advance.
    EINPARALLEL_SELDOM void poll() noexcept {
        bool is_out = true;
        while (is_out && sent_ < copied_out_.size()) {
            attempt([&] { is_out = space_.is_done(copied_out_[sent_]); });
            if (is_out) {
                send_next();
            }
        }
        has_arrived_ = has_arrived_ || (flight_.poll() && is_out);
        while (passes_host_ && brought_in_ < std::min(flight_.arrived(), receives())) {
            bring_in_next();
        }
        if (has_arrived_) {
            under_way_.reset();
        }
    }

    /// The step's work is given. Returns when all its messages have arrived.
    /// @throws mpi_error for the first MPI call that failed in this step, and what copies from and to the host threw
    EINPARALLEL_SELDOM void complete() {
        {
            trace* const seen = step_->messages.empty() || has_device_time_ ? nullptr : watch_->seen;
            const timed_span waiting(seen, activity::wait, step_->vertex);
            while (sent_ < copied_out_.size()) {
                attempt([&] { space_.finish(copied_out_[sent_]); });
                send_next();
            }
            while (passes_host_ && brought_in_ < receives()) {
                flight_.wait_next();
                bring_in_next();
            }
            attempt([&] { flight_.wait(); });
            under_way_.reset();
        }
        copied_out_.clear();
        sent_ = brought_in_ = 0;
        attempt([&] { given_ = space_.given(); });
        if (failure_ != nullptr) {
            std::rethrow_exception(std::exchange(failure_, nullptr));
        }
    }

    /// Bytes handed to MPI since this object was made.
    std::size_t bytes_sent() const noexcept { return flight_.bytes_sent(); }

private:
    static constexpr double seconds_between_polls = 2e-4;

    /// f(); keeps what it throws first for complete(): a rank that fails keeps to the schedule.
    EINPARALLEL_SELDOM void attempt(function_ref<void()> f) noexcept {
        try {
            f();
        } catch (...) {
            failure_ = failure_ == nullptr ? std::current_exception() : failure_;
        }
    }

    /// Messages of the step through the host that arrive: the first ones, also in flight.
    std::size_t receives() const { return step_->messages.size() - copied_out_.size(); }

    EINPARALLEL_SELDOM void send_next() {
        const prepared_message& next = step_->messages[receives() + sent_++];
        flight_.send(out_.data() + next.at, next.elements, next.peer);
    }

    EINPARALLEL_SELDOM void bring_in_next() {
        const prepared_message& next = step_->messages[brought_in_++];
        attempt([&] {
            copied_in_[side_] = space_.bring_in({next.extents, next.block.address(*starts_), next.block.strides,
                                                 in_[side_].data() + next.at, next.dense, next.element_bytes},
                                                given_);
        });
    }

    const memory_space& space_;
    bool passes_host_;
    const run_watch* watch_ = &unwatched;
    const prepared_step* step_ = nullptr;
    const std::vector<std::byte*>* starts_ = nullptr;
    work_token given_ = no_work;  ///< before the step
    bool has_arrived_ = false;    ///< every message of the step
    std::optional<progress_hook> hook_;
    double next_poll_ = 0;
    std::optional<timed_span> under_way_;
    bool has_device_time_ = false;
    std::array<memory_block, 2> in_;  ///< of every other step: what has arrived in one is copied in during the next
    std::array<work_token, 2> copied_in_{};
    std::size_t side_ = 0;  ///< of in_, in this step
    memory_block out_;
    std::vector<work_token> copied_out_;  ///< by message that leaves through the host
    std::size_t sent_ = 0;                ///< of those
    std::size_t brought_in_ = 0;          ///< of the others
    std::exception_ptr failure_;
    transfers flight_;  ///< its destructor completes what uses the memory above
};

}  // namespace einparallel::EINPARALLEL_DETAIL
