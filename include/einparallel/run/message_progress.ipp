#pragma once
// Who advances messages while a rank computes: polls from inside its contractions, or a thread.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/run/transport.ipp>

#include <mpi.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A thread that advances the messages of one step at a time while its owner computes. Sleeps between steps, and not in
/// them: it wants a core of its own.
class communication_thread {
public:
    /// @throws error where no thread can be had
    EINPARALLEL_INLINE communication_thread() {
        try {
            thread_ = std::thread([this] { advance(); });
        } catch (const std::system_error& failure) {
            throw error(std::string("use_communication_thread: no thread can be had: ") + failure.what());
        }
    }
    communication_thread(const communication_thread&) = delete;
    communication_thread& operator=(const communication_thread&) = delete;
    ~communication_thread() {
        tell(over);
        thread_.join();
    }

    /// From here to end() nobody else may touch `ranks`. @pre not begun
    EINPARALLEL_INLINE void begin(transport& ranks) {
        ranks_ = &ranks;
        arrived_.reset();
        tell(given);
    }

    /// Returns when the thread has let go of them: MPI_Wtime() when all messages had arrived; nothing where some are
    /// under way. @pre begun
    EINPARALLEL_INLINE std::optional<double> end() {
        tell(enough);
        step_.wait(enough);
        return arrived_;
    }

private:
    enum step : int { none, given, enough, over };  // given and enough: told by the owner; none: by the thread

    void tell(step next) {
        step_ = next;
        step_.notify_one();
    }

    EINPARALLEL_INLINE void advance() {
        for (;;) {
            step_.wait(none);
            if (step_ == over) {
                return;
            }
            for (bool is_there = false; step_ == given && !is_there; std::this_thread::yield()) {
                is_there = ranks_->poll();
                if (is_there) {
                    arrived_ = MPI_Wtime();
                }
            }
            step_.wait(given);
            tell(none);
        }
    }

    std::atomic<int> step_ = none;
    transport* ranks_ = nullptr;
    std::optional<double> arrived_;
    std::thread thread_;
};

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
