#pragma once
// Asks for memory ahead of its use, a few cache lines at a time while something else is computed.

#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::detail {

/// A walk over the cache lines of a block of a matrix: at outer[o] elements and lines[l] bytes from where it starts.
/// Processors fetch ahead along few stretches of memory, and not across pages: what is read in another order has to be
/// asked for.
class lines_ahead {
public:
    /// Nothing is asked for.
    lines_ahead() = default;

    /// From outer index `begin` of this block on, and up to it in the next one of the same shape, spread over `calls`
    /// calls of ask(). `element` is in bytes.
    lines_ahead(const std::byte* start, const std::byte* next, index element, const index* outer, index outers,
                const index* lines, index line_count, index begin, index calls)
        : start_(start),
          next_(next),
          element_(element),
          outer_(outer),
          outers_(outers),
          lines_(lines),
          line_count_(line_count),
          at_outer_(begin),
          rate_((outers * line_count * whole + calls - 1) / calls) {}

    /// Never inlined: it is called between vector kernels, of which there are many.
    [[gnu::noinline]] void ask() {
        credit_ += rate_;
        index due = credit_ / whole;
        credit_ -= due * whole;
        while (due > 0) {
            if (at_outer_ == outers_) {
                at_outer_ = 0;
                start_ = next_;
            }
            const index last = std::min(line_count_, at_line_ + due);
            const std::byte* const row = start_ + outer_[at_outer_] * element_;
            due -= last - at_line_;
            for (index line = at_line_; line < last; ++line) {
                __builtin_prefetch(row + lines_[line]);
            }
            at_line_ = last;
            if (at_line_ == line_count_) {
                at_line_ = 0;
                ++at_outer_;
            }
        }
    }

private:
    static constexpr index whole = 64;  ///< a line in units of credit

    const std::byte* start_ = nullptr;
    const std::byte* next_ = nullptr;
    index element_ = 1;
    const index* outer_ = nullptr;
    index outers_ = 0;
    const index* lines_ = nullptr;
    index line_count_ = 0;
    index at_outer_ = 0;
    index at_line_ = 0;
    index rate_ = 0;
    index credit_ = 0;
};

}  // namespace einparallel::detail
