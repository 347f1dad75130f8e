#pragma once
// Loops of a copy that are walked as one index.

#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A loop and by how much it moves either side.
struct copy_loop {
    index extent;
    index into;  ///< bytes
    index from;  ///< bytes
};

/// An index made of several loops, innermost first.
class copy_loops {
public:
    [[nodiscard]] std::size_t size() const { return loops_.size(); }
    [[nodiscard]] bool empty() const { return loops_.empty(); }
    [[nodiscard]] const copy_loop& operator[](std::size_t position) const { return loops_[position]; }
    [[nodiscard]] const copy_loop* begin() const { return loops_.begin(); }
    [[nodiscard]] const copy_loop* end() const { return loops_.end(); }

    void add(const copy_loop& loop) { loops_.push_back(loop); }
    void remove(std::size_t position) {
        std::copy(loops_.begin() + position + 1, loops_.end(), loops_.begin() + position);
        loops_.resize(loops_.size() - 1, {});
    }
    /// Smallest stride of the one side innermost.
    void sort(index copy_loop::*side) {
        for (std::size_t placed = 1; placed < loops_.size(); ++placed) {
            for (std::size_t at = placed; at > 0 && std::abs(loops_[at].*side) < std::abs(loops_[at - 1].*side); --at) {
                std::swap(loops_[at], loops_[at - 1]);
            }
        }
    }

    /// How many positions there are.
    [[nodiscard]] index count() const {
        index count = 1;
        for (const copy_loop& each : loops_) {
            count *= each.extent;
        }
        return count;
    }
    /// How many positions lie side by side on the one side, each of `element` bytes.
    [[nodiscard]] index run(index copy_loop::*side, index element) const {
        index run = 1;
        for (const copy_loop& each : loops_) {
            if (each.*side != run * element) {
                break;
            }
            run *= each.extent;
        }
        return run;
    }

    /// Where position `number` lies: adds to the two offsets.
    void point(index number, index& into, index& from) const {
        for (const copy_loop& each : loops_) {
            const index step = number % each.extent;
            number /= each.extent;
            into += step * each.into;
            from += step * each.from;
        }
    }

    /// Where positions `first` … first + count − 1 lie. The first places are written also where count is 0.
    void walk(index first, index count, index* into, index* from) const {
        small_vector<index, 12> counters(loops_.size(), 0);
        index to = 0;
        index source = 0;
        for (std::size_t each = 0; each < loops_.size(); ++each) {
            counters[each] = first % loops_[each].extent;
            first /= loops_[each].extent;
            to += counters[each] * loops_[each].into;
            source += counters[each] * loops_[each].from;
        }
        into[0] = to;  // also of no positions
        from[0] = source;
        for (index at = 0; at < count;) {
            const bool loose = loops_.empty();
            const index stretch = loose ? count : std::min(count - at, loops_[0].extent - counters[0]);
            const index to_step = loose ? 0 : loops_[0].into;
            const index from_step = loose ? 0 : loops_[0].from;
            for (index step = 0; step < stretch; ++step) {
                into[at + step] = to + step * to_step;
                from[at + step] = source + step * from_step;
            }
            at += stretch;
            to += stretch * to_step;
            source += stretch * from_step;
            for (std::size_t each = 0; each < loops_.size() && at < count; ++each) {
                counters[each] = each == 0 ? loops_[0].extent : counters[each] + 1;
                if (counters[each] < loops_[each].extent) {
                    break;
                }
                counters[each] = 0;
                to -= loops_[each].extent * loops_[each].into;
                source -= loops_[each].extent * loops_[each].from;
                if (each + 1 < loops_.size()) {
                    to += loops_[each + 1].into;
                    source += loops_[each + 1].from;
                }
            }
        }
    }

private:
    small_vector<copy_loop, 12> loops_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
