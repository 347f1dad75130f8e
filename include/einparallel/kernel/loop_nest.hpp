#pragma once
// A call on blocks as a bare loop nest: which loops there are, and by how much each moves every tensor.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a call. Slot 0 is the output, slot 1 + r is operand r. A loop moves every slot by a stride. Where a
/// tensor lacks the label of the loop, its stride is 0, as it is for a broadcast operand: both are treated alike.
struct loop_nest {
    std::size_t slots = 0;
    small_vector<index, 12> extents;
    small_vector<index, 48> strides;  ///< in elements: `slots` strides for each loop, loop after loop
    bool output_empty = false;        ///< an output label has extent 0: there is nothing to write
    bool sum_empty = false;           ///< a contracted label has extent 0: every output element is the identity
    progress_hook* hook = nullptr;    ///< the progress hook of the call

    loop_nest() = default;
    explicit loop_nest(std::size_t slot_count) : slots(slot_count) {}
    explicit loop_nest(const block_call& call) : loop_nest(call, call.extents, call.operands.size()) {}
    /// The loops of a call with other extents, `call_extents`, and only the first `operands` of its operands.
    EINPARALLEL_INLINE loop_nest(const block_call& call, index_span call_extents, std::size_t operands);

    [[nodiscard]] std::size_t size() const { return extents.size(); }
    [[nodiscard]] index* of(std::size_t loop) { return strides.data() + loop * slots; }
    [[nodiscard]] const index* of(std::size_t loop) const { return strides.data() + loop * slots; }
    [[nodiscard]] bool in_output(std::size_t loop) const { return of(loop)[0] != 0; }

    /// True where nothing is contracted.
    [[nodiscard]] bool all_in_output() const {
        for (std::size_t loop = 0; loop < size(); ++loop) {
            if (!in_output(loop)) {
                return false;
            }
        }
        return true;
    }

    /// Adds a loop whose strides are 0 so far, and returns its strides.
    index* add(index extent) {
        extents.push_back(extent);
        strides.resize(strides.size() + slots, 0);
        return of(extents.size() - 1);
    }
    /// Adds the loops over a box, with the strides `first` for slot 0 and `second` for slot 1. Returns false where the
    /// box is empty.
    EINPARALLEL_INLINE bool add_box(index_span box_extents, index_span first, index_span second);
    EINPARALLEL_INLINE void remove(std::size_t loop);
    /// Replaces every two loops that one loop can replace in all slots.
    EINPARALLEL_INLINE void fuse();
    /// Sorts the loops by the size of their strides in `slot`, the largest outermost. Where these are equal, the
    /// strides of the next slots decide.
    EINPARALLEL_INLINE void sort_by(std::size_t slot);
};

/// The extents of a tensor with these labels in a call.
EINPARALLEL_INLINE small_vector<index, 8> extents_of(const block_call& call, label_span labels);

/// Removes the loops that move no slot. Such a loop sums equal terms.
/// @return how many equal terms each remaining point stands for
EINPARALLEL_INLINE index drop_resting(loop_nest& nest);

/// The loops along a row.
struct row_loops_along {
    static constexpr std::size_t none = std::size_t(-1);

    std::size_t inner = none;    ///< the loop along the row; none where the nest has no loop
    std::size_t second = none;   ///< a loop that continues the row, where `inner` is short
    bool folds = false;          ///< `inner` is contracted, and `second` is a loop of the output
    bool folds_operand = false;  ///< the same, of elements of the first operand where they lie
};

/// The loops of a nest in the order in which they are walked.
struct row_order : row_loops_along {
    std::size_t tiled = none;  ///< a loop inside each piece of the row, to reuse cache lines; of the kind of `inner`
    bool narrow = false;       ///< the next outer loop reuses cache lines of an operand, if rows are short
    small_vector<std::size_t, 12> outer_output;      ///< other loops of the output, outermost first
    small_vector<std::size_t, 12> outer_contracted;  ///< other contracted loops, outermost first; inside the output's

    /// The loop that is walked from one row to the next, where rows are not summed.
    [[nodiscard]] std::size_t next() const {
        return outer_contracted.empty() ? tiled : outer_contracted[outer_contracted.size() - 1];
    }
};

/// Which stretches of a row a worker sums, each by itself.
struct row_folds {
    index longest = 0;       ///< points of the longest stretch of results that it sums; 0 where it sums none
    bool operands = false;   ///< it also sums elements of the first operand where they lie, in longer stretches
    index shortest = 0;      ///< of those
    bool positions = false;  ///< it finds positions: only where operands lie, of one extreme element for each stretch
};

/// Chooses the order in which the loops of a nest are walked.
/// @pre the loops of the nest are sorted by the output's stride
EINPARALLEL_INLINE row_order order_rows(const loop_nest& nest, const row_folds& folds = {});

/// Steps through the points of some loops of a nest, the last loop fastest, and keeps the offset of every slot. It uses
/// no recursion, and two additions per slot and step.
class odometer {
public:
    using loop_list = small_vector<std::size_t, 12>;

    /// @param chosen loops of the nest, outermost first; they and the nest must outlive the odometer
    odometer(const loop_nest& nest, const loop_list& chosen)
        : nest_(&nest), chosen_(&chosen), counters_(chosen.size(), 0) {}
    odometer(const loop_nest& nest, loop_list&& chosen) = delete;

    /// Goes to the next point and moves `offsets` there. After the last point it goes back to the first point, and
    /// returns false.
    bool advance(index* offsets) {
        for (std::size_t position = chosen_->size(); position-- > 0;) {
            const std::size_t loop = (*chosen_)[position];
            const index* moves = nest_->of(loop);
            if (++counters_[position] < nest_->extents[loop]) {
                for (std::size_t slot = 0; slot < nest_->slots; ++slot) {
                    offsets[slot] += moves[slot];
                }
                return true;
            }
            counters_[position] = 0;
            const index back = nest_->extents[loop] - 1;
            for (std::size_t slot = 0; slot < nest_->slots; ++slot) {
                offsets[slot] -= back * moves[slot];
            }
        }
        return false;
    }

    /// How many points of the last loop there are from this one on.
    [[nodiscard]] index left() const {
        const std::size_t last = chosen_->size() - 1;
        return chosen_->empty() ? 1 : nest_->extents[(*chosen_)[last]] - counters_[last];
    }

    /// The number of points.
    [[nodiscard]] index size() const {
        return product_in(*chosen_, index{1}, [&](std::size_t loop) { return nest_->extents[loop]; });
    }

    /// Goes from the first point to point `number`. `offsets` are those of the first point before, and those of point
    /// `number` after.
    void go_to(index number, index* offsets) {
        for (std::size_t position = chosen_->size(); position-- > 0;) {
            const std::size_t loop = (*chosen_)[position];
            const index step = number % nest_->extents[loop];
            number /= nest_->extents[loop];
            counters_[position] = step;
            for (std::size_t slot = 0; slot < nest_->slots; ++slot) {
                offsets[slot] += step * nest_->of(loop)[slot];
            }
        }
    }

private:
    const loop_nest* nest_;
    const loop_list* chosen_;
    small_vector<index, 12> counters_;
};

/// The loops of a nest for which are(loop) is true.
odometer::loop_list loops_that(const loop_nest& nest, const auto& are) {
    odometer::loop_list loops;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (are(loop)) {
            loops.push_back(loop);
        }
    }
    return loops;
}

/// The loops of a nest that move the output.
EINPARALLEL_INLINE odometer::loop_list output_loops(const loop_nest& nest);

}  // namespace einparallel::EINPARALLEL_DETAIL
