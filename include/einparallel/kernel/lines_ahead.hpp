#pragma once
// Asks for memory ahead of its use, a few cache lines at a time while something else is computed.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Cache lines of a block of a matrix: at outer[o] elements and lines[l] bytes from where it starts.
struct line_block {
    const std::byte* start = nullptr;
    const index* outer = nullptr;
    index outers = 0;
    const index* lines = nullptr;
    index line_count = 0;
};

/// A walk over the cache lines of two blocks, one after the other. Processors fetch ahead along few stretches
/// of memory, and not across pages: what is read in another order has to be asked for.
class lines_ahead {
public:
    /// Nothing is asked for. `element` is in bytes.
    explicit lines_ahead(index element) : element_(element) {}

    /// @pre fewer than two blocks were added; there are lines in this one
    void add(const line_block& block) { blocks_[count_++] = block; }

    /// All lines, spread over `calls` calls of ask().
    void spread(index calls) {
        index lines = 0;
        for (index block = 0; block < count_; ++block) {
            lines += blocks_[block].outers * blocks_[block].line_count;
        }
        rate_ = (lines * whole + calls - 1) / calls;
    }

    /// Never inlined: it is called between vector kernels, of which there are many.
    [[gnu::noinline]] void ask() {
        credit_ += rate_;
        index due = credit_ / whole;
        credit_ -= due * whole;
        while (due > 0 && at_block_ < count_) {
            const line_block& block = blocks_[at_block_];
            const index last = std::min(block.line_count, at_line_ + due);
            const std::byte* const row = block.start + block.outer[at_outer_] * element_;
            due -= last - at_line_;
            for (index line = at_line_; line < last; ++line) {
                __builtin_prefetch(row + block.lines[line]);
            }
            at_line_ = last;
            if (at_line_ == block.line_count) {
                at_line_ = 0;
                ++at_outer_;
                if (at_outer_ == block.outers) {
                    at_outer_ = 0;
                    ++at_block_;
                }
            }
        }
    }

private:
    static constexpr index whole = 64;  ///< a line in units of credit

    line_block blocks_[2];
    index count_ = 0;
    index element_;
    index at_block_ = 0;
    index at_outer_ = 0;
    index at_line_ = 0;
    index rate_ = 0;
    index credit_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
