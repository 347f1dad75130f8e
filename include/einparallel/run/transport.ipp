#pragma once
// Transport: sends and receives the messages of a program's steps, and lets them advance while a rank computes.

#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/schedule/program.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The observers of a run on this rank: functions and a trace of the application, or null. `rank` and `call` are for
/// error sentences.
struct run_watch {
    const std::function<void()>* progress = nullptr;
    const vertex_function* vertices = nullptr;
    trace* seen = nullptr;
    int rank = 0;
    const char* call = "run";
};

/// The elements of a message, contiguous or described by a derived datatype. Where messages go through the host, `type`
/// describes the elements in host memory: a dense box that is copied to or from the block in the buffer.
struct message_elements {
    box_type type;
    laid_block laid{};  ///< the block in the buffer; this and the fields below are for messages through the host
    std::vector<index> extents{};
    std::vector<index> dense{};
    std::size_t element_bytes = 0;
    std::size_t at = 0;  ///< bytes from the start of the host memory for messages in this direction

    box_pair copied(std::byte* start, std::byte* on_host, bool is_sent) const {
        std::byte* const block = laid.in(start);
        return is_sent ? box_pair{extents, on_host + at, dense, block, laid.strides, element_bytes}
                       : box_pair{extents, block, laid.strides, on_host + at, dense, element_bytes};
    }
};

/// The descriptions of all messages of a program, and the memory that the messages of one step need at most.
class message_table {
public:
    /// `staging`: bytes of the slabs into which messages are cut to go through the host; 0: they do not go through it.
    EINPARALLEL_SELDOM message_table(program& of_rank, std::size_t staging) {
        for (step& each : of_rank.steps) {
            most_ = std::max(
                most_, describe(of_rank, each.receives, staging, in_) + describe(of_rank, each.sends, staging, out_));
        }
    }
    message_table() = default;

    const message_elements& operator[](const message& of) const { return all_[of.elements]; }
    std::size_t most() const { return most_; }  ///< the largest number of messages of a step
    std::size_t out() const { return out_; }    ///< bytes of host memory for messages that are sent
    std::size_t in() const { return in_; }      ///< bytes of host memory for messages that are received

    std::size_t bytes(const std::vector<message>& of) const {
        return sum_in(of, std::size_t{0}, [&](const message& each) { return (*this)[each].type.bytes; });
    }

private:
    /// Describes the messages of a step in one direction, and cuts them into slabs where they go through the host.
    /// Returns their number. Raises `most` to the bytes of host memory that they need.
    EINPARALLEL_SELDOM std::size_t describe(const program& of_rank, std::vector<message>& messages, std::size_t staging,
                                            std::size_t& most) {
        std::size_t at = 0;
        std::vector<message> slabs;
        for (message& each : messages) {
            const buffer& holder = of_rank[each.buffer];
            const std::size_t bytes = holder.element_bytes;
            each.elements = all_.size();
            if (staging == 0) {
                all_.push_back({type_of_box(holder.region, each.region, bytes, largest_count, holder.strides)});
                continue;
            }
            for_each_slab(each.region, bytes, staging, [&](const box& slab) {
                slabs.push_back({each.peer, each.buffer, slab, all_.size()});
                all_.push_back({type_of_box(slab, slab, bytes), lay_out(holder, slab), extents_of(slab),
                                dense_strides(slab), bytes, at});
                most = std::max(most, at + all_.back().type.bytes);
                at += (all_.back().type.bytes + 63) / 64 * 64;  // on cache lines
            });
        }
        if (staging > 0) {
            messages = std::move(slabs);
        }
        return messages.size();
    }

    std::vector<message_elements> all_;
    std::size_t most_ = 0;
    std::size_t out_ = 0;
    std::size_t in_ = 0;
};

/// Sends and receives the messages of one step at a time over MPI. Only the transport and the memory space access the
/// memory behind buffer addresses. Messages directly from the space's memory start when the work given before the step
/// is done. Messages through the host (space.staging()) are copied out when that work is done, and then sent; received
/// ones are copied in, and later work waits for this copy.
class transport {
public:
    /// Refers to `ranks` and `space`, which must outlive it.
    explicit transport(const communicator& ranks, const memory_space& space = the_host)
        : space_(space), passes_host_(space.staging() > 0), flight_(ranks) {}

    /// Reserves memory for the messages of any step, so that starting them does not allocate.
    void reserve(const message_table& of) {
        flight_.reserve(of.most());
        copied_out_.reserve(of.most());
        out_.grow(space_.on_host(), of.out());
        in_[0].grow(space_.on_host(), of.in());
        in_[1].grow(space_.on_host(), of.in());
    }

    /// Begins a run of a program with these messages. All arguments must outlive the run. `starts`: the first byte of
    /// each buffer.
    EINPARALLEL_SELDOM void begin(const run_watch& watch, const message_table& messages,
                                  const std::vector<std::byte*>& starts) {
        watch_ = &watch;
        messages_ = &messages;
        starts_ = &starts;
        next_poll_ = MPI_Wtime() + seconds_between_polls;
        given_ = no_work;
    }

    /// Starts the messages of a step.
    EINPARALLEL_SELDOM void start(const step& of_step) {
        step_ = &of_step;
        has_arrived_ = false;
        hook_.reset();
        if (has_messages() || watch_->progress != nullptr) {
            hook_.emplace(*this);
        }
        if (!has_messages()) {
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
            under_way_.emplace(watch_->seen, activity::transfer, of_step.vertex, messages_->bytes(of_step.sends),
                               messages_->bytes(of_step.receives));
        }
        for (const message& each : of_step.receives) {
            const message_elements& elements = (*messages_)[each];
            flight_.receive(passes_host_ ? in_[side_].data() + elements.at : start_of(each), elements.type, each.peer);
        }
        for (const message& each : of_step.sends) {
            const message_elements& elements = (*messages_)[each];
            if (!passes_host_) {
                flight_.send(start_of(each), elements.type, each.peer);
                continue;
            }
            copied_out_.push_back(given_);
            attempt([&] {
                copied_out_.back() = space_.copy_out(elements.copied(start_of(each), out_.data(), true), given_);
            });
        }
    }

    /// The hook that the step's contractions call now and then: it polls, and calls the application's progress
    /// function. Null where it would have nothing to do.
    progress_hook* hook() { return hook_.has_value() ? &*hook_ : nullptr; }

    /// The hook's function. True where nothing is left to advance.
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
        while (passes_host_ && unloaded_ < std::min(flight_.arrived(), step_->receives.size())) {
            copy_in_next();
        }
        if (has_arrived_) {
            under_way_.reset();
        }
    }

    /// Completes the step after its work is given; returns when all its messages are sent and received.
    /// @throws mpi_error and other errors: the first failure of an MPI call, or of a copy from or to the host, in the
    /// step
    EINPARALLEL_SELDOM void complete() {
        {
            trace* const seen = !has_messages() || has_device_time_ ? nullptr : watch_->seen;
            const timed_span waiting(seen, activity::wait, step_->vertex);
            while (sent_ < copied_out_.size()) {
                attempt([&] { space_.finish(copied_out_[sent_]); });
                send_next();
            }
            while (passes_host_ && unloaded_ < step_->receives.size()) {
                flight_.wait_next();
                copy_in_next();
            }
            attempt([&] { flight_.wait(); });
            under_way_.reset();
        }
        copied_out_.clear();
        sent_ = unloaded_ = 0;
        attempt([&] { given_ = space_.given(); });
        if (failure_ != nullptr) {
            std::rethrow_exception(std::exchange(failure_, nullptr));
        }
    }

    /// Bytes handed to MPI since this object was made.
    std::size_t bytes_sent() const noexcept { return flight_.bytes_sent(); }

private:
    static constexpr double seconds_between_polls = 2e-4;

    /// Calls f(). Keeps the first exception for complete(), so that a rank that fails still follows the schedule.
    EINPARALLEL_SELDOM void attempt(function_ref<void()> f) noexcept {
        try {
            f();
        } catch (...) {
            failure_ = failure_ == nullptr ? std::current_exception() : failure_;
        }
    }

    bool has_messages() const { return !step_->receives.empty() || !step_->sends.empty(); }
    std::byte* start_of(const message& of) const { return (*starts_)[std::size_t(of.buffer)]; }

    EINPARALLEL_SELDOM void send_next() {
        const message& next = step_->sends[sent_++];
        const message_elements& elements = (*messages_)[next];
        flight_.send(out_.data() + elements.at, elements.type, next.peer);
    }

    /// Copies the next received message to its buffer. Receives are started before sends, so they come first in
    /// flight_.
    EINPARALLEL_SELDOM void copy_in_next() {
        const message& next = step_->receives[unloaded_++];
        attempt([&] {
            copied_in_[side_] =
                space_.copy_in((*messages_)[next].copied(start_of(next), in_[side_].data(), false), given_);
        });
    }

    const memory_space& space_;
    bool passes_host_;
    const run_watch* watch_ = nullptr;
    const step* step_ = nullptr;
    const message_table* messages_ = nullptr;
    const std::vector<std::byte*>* starts_ = nullptr;
    work_token given_ = no_work;  ///< the work given before the step
    bool has_arrived_ = false;    ///< true: all messages of the step are complete
    std::optional<progress_hook> hook_;
    double next_poll_ = 0;
    std::optional<timed_span> under_way_;
    bool has_device_time_ = false;
    std::array<memory_block, 2> in_;  ///< used in turn, so messages of one step are copied in during the next one
    std::array<work_token, 2> copied_in_{};
    std::size_t side_ = 0;  ///< position in in_ for this step
    memory_block out_;
    std::vector<work_token> copied_out_;  ///< for each message sent through the host: its copy to the host
    std::size_t sent_ = 0;                ///< number of these messages that are sent
    std::size_t unloaded_ = 0;            ///< number of messages received through the host that are copied in
    std::exception_ptr failure_;
    transfers flight_;  ///< last: its destructor completes messages in the memory above
};

}  // namespace einparallel::EINPARALLEL_DETAIL
