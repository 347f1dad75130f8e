#pragma once
// A thread that advances messages while another one computes.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/transport.hpp>

#include <atomic>
#include <optional>
#include <thread>

namespace einparallel::EINPARALLEL_DETAIL {

/// Advances the messages of one step at a time while its owner computes. Sleeps between steps, and not in them: it
/// wants a core of its own.
class communication_thread {
public:
    /// @throws error where no thread can be had
    EINPARALLEL_INLINE communication_thread();
    communication_thread(const communication_thread&) = delete;
    communication_thread& operator=(const communication_thread&) = delete;
    ~communication_thread();

    /// From here to end() nobody else may touch `ranks`. @pre not begun
    EINPARALLEL_INLINE void begin(transport& ranks);

    /// Returns when the thread has let go of them: MPI_Wtime() when all messages had arrived; nothing where some are
    /// under way. @pre begun
    EINPARALLEL_INLINE std::optional<double> end();

private:
    enum step : int { none, given, enough, over };  // given and enough: told by the owner; none: by the thread

    EINPARALLEL_INLINE void advance();

    std::atomic<int> step_ = none;
    transport* ranks_ = nullptr;
    std::optional<double> arrived_;
    std::thread thread_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
