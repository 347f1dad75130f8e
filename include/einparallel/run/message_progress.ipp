#pragma once
// Messages advance while a rank computes: polls from inside its contractions.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.ipp>

#include <mpi.h>

#include <functional>

namespace einparallel::EINPARALLEL_DETAIL {

/// What watches a run on this rank: the application's functions and trace, or null; and how failures name it.
struct run_watch {
    const std::function<void()>* progress = nullptr;
    const vertex_function* vertices = nullptr;
    trace* seen = nullptr;
    int rank = 0;
    const char* call = "run";
};

/// The function of a progress hook: every `seconds_between` it polls the messages of a step until they have arrived,
/// and calls the application's progress function, where there is one.
class paced_polls {
public:
    paced_polls(transport& ranks, const std::function<void()>* users) : ranks_(ranks), users_(users) {}

    /// Messages have been started since the last call; `flight` is the time that they take.
    void start_step(timed_span& flight) {
        arrived_ = false;
        flight_ = &flight;
    }

    /// Lets the messages of the step advance; true where all have arrived.
    bool poll() {
        if (!arrived_ && ranks_.poll()) {
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
    double next_ = MPI_Wtime() + seconds_between;
    bool arrived_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
