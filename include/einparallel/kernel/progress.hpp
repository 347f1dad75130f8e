#pragma once
// The progress hook of a contraction: a function that is called between its blocks, so that messages advance meanwhile.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cerrno>
#include <memory>

namespace einparallel {

/// A function that a contraction calls between its blocks, at most once per `interval` points, until the function
/// returns true because nothing is left to advance. It is called only on the thread that constructed the hook. Blocks,
/// order of summation and results are the same with and without a hook. An exception from the function ends the
/// contraction and leaves its output unspecified.
class progress_hook : private detail::not_copied {
public:
    /// Points of the iteration space between two calls. They take about 10 µs in a matrix product, and about 100 µs in
    /// work that is bound by memory.
    static constexpr index interval = index{1} << 18;

    /// @param advance called as bool advance(): returns true where nothing is left; must outlive the hook
    template <class Advance>
    explicit progress_hook(Advance& advance)
        : advance_([](void* context) { return bool((*static_cast<Advance*>(context))()); }),
          context_(const_cast<void*>(static_cast<const void*>(std::addressof(advance)))) {}

    /// Identifies the calling thread by the address of its errno: no other living thread has this address, and all
    /// units see the same.
    static const void* this_thread() { return &errno; }

    /// Reports that `points` more points are computed. Does nothing on other threads than the hook's.
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

/// Reports to a hook, if there is one.
inline void report(progress_hook* hook, index points) {
    if (hook != nullptr) {
        hook->report(points);
    }
}

/// How many units of `points` points each to compute between two reports.
constexpr index units_between_reports(index points) {
    return points >= progress_hook::interval ? 1 : progress_hook::interval / (points < 1 ? 1 : points);
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
