#pragma once
// The thread that moves elements between memory and storage while a rank computes. It makes no MPI call, and it does
// not outlive the run that started it.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/side_thread.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Carries out tasks one after the other, in the order in which they are given.
class page_thread : private not_copied {
public:
    using task_function = std::function<void()>;

    /// Starts the thread. @throws error where the system has no thread left
    EINPARALLEL_INLINE explicit page_thread(std::size_t most_tasks) : thread_([this] { work(); }) {
        const monitor::guard inside = shared_.enter();
        tasks_.reserve(most_tasks);
    }

    /// Waits until the task under way is done; tasks behind it are left out.
    ~page_thread() {
        const monitor::guard inside = shared_.enter();
        ends_ = true;
        shared_.tell();
    }

    /// Gives a task, and returns the number of tasks given so far.
    EINPARALLEL_INLINE std::size_t give(task_function task) {
        const monitor::guard inside = shared_.enter();
        tasks_.push_back(std::move(task));
        shared_.tell();
        return tasks_.size();
    }

    /// Returns when the first `count` tasks are done. Once a task has failed, those behind it are not done.
    /// @throws what the first task that failed threw, in each call
    EINPARALLEL_INLINE void wait(std::size_t count) {
        monitor::guard inside = shared_.enter();
        shared_.wait(inside, [&] { return next_ >= count || failure_ != nullptr; });
        if (failure_ != nullptr) {
            std::rethrow_exception(failure_);
        }
    }

private:
    EINPARALLEL_INLINE void work() {
        monitor::guard inside = shared_.enter();
        for (;;) {
            shared_.wait(inside, [this] { return ends_ || (next_ < tasks_.size() && failure_ == nullptr); });
            if (ends_) {
                return;
            }
            const task_function task = std::move(tasks_[next_]);
            inside.unlock();
            std::exception_ptr failed;
            try {
                task();
            } catch (...) {
                failed = std::current_exception();
            }
            inside.lock();
            failure_ = failed;
            next_ += failed == nullptr ? 1 : 0;
            shared_.tell();
        }
    }

    monitor shared_;
    std::vector<task_function> tasks_;
    std::size_t next_ = 0;  ///< the first task that is not done
    std::exception_ptr failure_;
    bool ends_ = false;
    side_thread thread_;  ///< last: it uses the others
};

}  // namespace einparallel::EINPARALLEL_DETAIL
