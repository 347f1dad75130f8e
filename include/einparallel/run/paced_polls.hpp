#pragma once
// Polling of messages from inside a contraction, at a pace.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/transport.hpp>

#include <mpi.h>

#include <functional>

namespace einparallel::EINPARALLEL_DETAIL {

/// The function of a progress hook: every `seconds_between` it polls the messages of a step until they have arrived,
/// and calls the application's progress function, where there is one.
class paced_polls {
public:
    paced_polls(transport& ranks, const std::function<void()>* users) : ranks_(ranks), users_(users) {}

    /// Messages have been started since the last call.
    void start_step() { arrived_ = false; }

    /// True where nothing is left to advance.
    bool operator()() {
        if (const double now = MPI_Wtime(); now >= next_) {
            next_ = now + seconds_between;
            arrived_ = arrived_ || ranks_.poll();
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
    double next_ = MPI_Wtime() + seconds_between;
    bool arrived_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
