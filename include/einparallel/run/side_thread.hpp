#pragma once
// A thread beside a rank, and how the two wait for each other. On simulated MPI (SimGrid) a rank is an actor of the
// simulation, and so is its thread: while one waits, other ranks go on and simulated time passes.

#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <functional>
#include <mutex>
#include <utility>

#if defined(SMPI_H)
#include <simgrid/s4u.hpp>
#else
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>
#endif

namespace einparallel::EINPARALLEL_DETAIL {

#if defined(SMPI_H)

/// Seconds since some moment, on the clock of a run.
EINPARALLEL_INLINE double side_seconds() {
    return simgrid::s4u::Engine::get_clock();
}

/// Lets one thread at a time be inside. Who is inside can wait until another one, inside, has changed something.
class monitor : private not_copied {
public:
    using guard = std::unique_lock<simgrid::s4u::Mutex>;
    [[nodiscard]] guard enter() { return guard(*mutex_); }
    /// Is outside until `condition` holds.
    void wait(guard& inside, const auto& condition) { changed_->wait(inside, condition); }
    /// Makes those who wait look at their conditions again.
    void tell() { changed_->notify_all(); }

private:
    simgrid::s4u::MutexPtr mutex_ = simgrid::s4u::Mutex::create();
    simgrid::s4u::ConditionVariablePtr changed_ = simgrid::s4u::ConditionVariable::create();
};

/// A thread of the library.
class side_thread : private not_copied {
public:
    EINPARALLEL_INLINE explicit side_thread(std::function<void()> work)
        : actor_(simgrid::s4u::Actor::create("side thread", simgrid::s4u::this_actor::get_host(), std::move(work))) {}
    /// Waits until its work is done.
    ~side_thread() { actor_->join(); }

private:
    simgrid::s4u::ActorPtr actor_;
};

#else

/// Seconds since some moment, on the clock of a run.
EINPARALLEL_INLINE double side_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Lets one thread at a time be inside. Who is inside can wait until another one, inside, has changed something.
class monitor : private not_copied {
public:
    using guard = std::unique_lock<std::mutex>;
    [[nodiscard]] guard enter() { return guard(mutex_); }
    /// Is outside until `condition` holds.
    void wait(guard& inside, const auto& condition) { changed_.wait(inside, condition); }
    /// Makes those who wait look at their conditions again.
    void tell() { changed_.notify_all(); }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
};

/// A thread of the library. It takes no signals: these are the application's, whose own threads take them.
class side_thread : private not_copied {
public:
    /// @throws error where the system has no thread left
    EINPARALLEL_INLINE explicit side_thread(std::function<void()> work) {
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            thread_ = std::thread(std::move(work));
        } catch (const std::system_error& failed) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw error(sentence({"the thread that reads and writes storage cannot be started: ", failed.what()}));
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    /// Waits until its work is done.
    ~side_thread() { thread_.join(); }

private:
    std::thread thread_;
};

#endif

}  // namespace einparallel::EINPARALLEL_DETAIL
