#pragma once
// The progress hook of a contraction: a function called between its blocks, by which messages advance meanwhile.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cerrno>
#include <memory>

namespace einparallel {

/// A function that a contraction calls between its blocks, at most once per `interval` points, until the function
/// returns true: nothing is left to advance. Called only on the thread that constructed the hook; blocks, order of
/// summation and results are the same with and without one. What the function throws ends the contraction and leaves
/// its output unspecified.
class progress_hook : private detail::not_copied {
public:
    /// Points of the iteration space: some 10 µs of a matrix product, some 100 µs of work that is bound by memory.
    static constexpr index interval = index{1} << 18;

    /// @param advance bool(): true where nothing is left; outlives the hook
    template <class Advance>
    explicit progress_hook(Advance& advance)
        : advance_([](void* context) { return bool((*static_cast<Advance*>(context))()); }),
          context_(const_cast<void*>(static_cast<const void*>(std::addressof(advance)))) {}

    /// Where the calling thread has its errno: an address that no other living thread has, one for all units.
    static const void* this_thread() { return &errno; }

    /// Reports `points` more as computed; from threads other than the hook's, nothing.
    void report(index points) {
        if (this_thread() != owner_ || finished_) {
            return;
        }
        points_ += points;
        if (points_ >= interval) {
            points_ = 0;
            finished_ = advance_(context_);
        }
    }

private:
    bool (*advance_)(void*);
    void* context_;
    const void* owner_ = this_thread();
    index points_ = 0;
    bool finished_ = false;
};

namespace EINPARALLEL_DETAIL {

/// The same where there may be no hook.
inline void report(progress_hook* hook, index points) {
    if (hook != nullptr) {
        hook->report(points);
    }
}

/// Units of `points` points each that are computed between two reports.
constexpr index units_between_reports(index points) {
    return points >= progress_hook::interval ? 1 : progress_hook::interval / (points < 1 ? 1 : points);
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
