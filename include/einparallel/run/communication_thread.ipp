#pragma once
// A thread that advances messages while another one computes.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/transport.ipp>

#include <mpi.h>

#include <atomic>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

namespace einparallel::EINPARALLEL_DETAIL {

/// Advances the messages of one step at a time while its owner computes. Sleeps between steps, and not in them: it
/// wants a core of its own.
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

}  // namespace einparallel::EINPARALLEL_DETAIL
