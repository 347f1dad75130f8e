#pragma once
// Polling of messages from inside a contraction, at a pace.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/communication_thread.ipp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.ipp>

#include <mpi.h>

#include <functional>
#include <optional>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// What watches a run on this rank: the application's functions and trace, or null; who advances messages while it
/// computes, or null; and how failures name it.
struct run_watch {
    const std::function<void()>* progress = nullptr;
    const vertex_function* vertices = nullptr;
    trace* seen = nullptr;
    communication_thread* messages = nullptr;
    int rank = 0;
    const char* call = "run";
};

/// The function of a progress hook: every `seconds_between` it polls the messages of a step until they have arrived,
/// and calls the application's progress function, where there is one. Messages that a communication thread advances are
/// not polled.
class paced_polls {
public:
    paced_polls(transport& ranks, const std::function<void()>* users) : ranks_(ranks), users_(users) {}

    /// Messages have been started since the last call; `flight` is the time that they take. `lent_to`: who advances
    /// them until end_step(), or null.
    void start_step(timed_span& flight, communication_thread* lent_to = nullptr) {
        arrived_ = false;
        flight_ = &flight;
        lent_to_ = lent_to;
        if (lent_to != nullptr) {
            lent_to->begin(ranks_);
        }
    }

    /// The work of the step is done, or has failed.
    void end_step() {
        if (communication_thread* const others = std::exchange(lent_to_, nullptr); others != nullptr) {
            if (const std::optional<double> at = others->end()) {
                arrived_ = true;
                flight_->end_at(*at);
            }
        }
    }

    /// Lets the messages of the step advance; true where all have arrived.
    bool poll() {
        if (lent_to_ == nullptr && !arrived_ && ranks_.poll()) {
            arrived_ = true;
            if (flight_ != nullptr) {
                flight_->end();
            }
        }
        return arrived_;
    }

    /// True where nothing is left to advance.
    bool operator()() {
        if (const double now = MPI_Wtime(); now >= next_) {
            next_ = now + seconds_between;
            poll();
            if (users_ != nullptr) {
                (*users_)();
            }
        }
        return arrived_ && users_ == nullptr;
    }

private:
    static constexpr double seconds_between = 2e-4;

    transport& ranks_;
    const std::function<void()>* users_;
    timed_span* flight_ = nullptr;
    communication_thread* lent_to_ = nullptr;
    double next_ = MPI_Wtime() + seconds_between;
    bool arrived_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
