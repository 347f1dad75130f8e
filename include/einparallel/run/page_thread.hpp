#pragma once
// The thread that moves elements between memory and storage while a rank computes. It makes no MPI call, and it does
// not outlive the run that started it.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <signal.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Carries out tasks one after the other, in the order in which they are given.
class page_thread : private not_copied {
public:
    using task_function = std::function<void()>;

    /// Starts the thread. @throws error where the system has no thread left
    EINPARALLEL_INLINE explicit page_thread(std::size_t most_tasks) {
        tasks_.reserve(most_tasks);
        sigset_t all;  // signals are the application's: its own threads take them
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            worker_ = std::thread([this] { work(); });
        } catch (const std::system_error& failed) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw error(sentence({"the thread that reads and writes storage cannot be started: ", failed.what()}));
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    /// Waits until the task under way is done; tasks behind it are left out.
    ~page_thread() {
        {
            const std::lock_guard guard(mutex_);
            ends_ = true;
        }
        given_.notify_one();
        worker_.join();
    }

    /// Gives a task, and returns the number of tasks given so far.
    EINPARALLEL_INLINE std::size_t give(task_function task) {
        std::size_t count = 0;
        {
            const std::lock_guard guard(mutex_);
            tasks_.push_back(std::move(task));
            count = tasks_.size();
        }
        given_.notify_one();
        return count;
    }

    /// Returns when the first `count` tasks are done. Once a task has failed, those behind it are not done.
    /// @throws what the first task that failed threw, in each call
    EINPARALLEL_INLINE void wait(std::size_t count) {
        std::unique_lock guard(mutex_);
        done_.wait(guard, [&] { return next_ >= count || failure_ != nullptr; });
        if (failure_ != nullptr) {
            std::rethrow_exception(failure_);
        }
    }

private:
    EINPARALLEL_INLINE void work() {
        std::unique_lock guard(mutex_);
        for (;;) {
            given_.wait(guard, [this] { return ends_ || (next_ < tasks_.size() && failure_ == nullptr); });
            if (ends_) {
                return;
            }
            const task_function task = std::move(tasks_[next_]);
            guard.unlock();
            std::exception_ptr failed;
            try {
                task();
            } catch (...) {
                failed = std::current_exception();
            }
            guard.lock();
            failure_ = failed;
            next_ += failed == nullptr ? 1 : 0;
            done_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable given_;
    std::condition_variable done_;
    std::vector<task_function> tasks_;
    std::size_t next_ = 0;  ///< the first task that is not done
    std::exception_ptr failure_;
    bool ends_ = false;
    std::thread worker_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
