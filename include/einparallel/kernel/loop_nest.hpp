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

/// The loops of a call. Slot 0 is the output, slot 1 + r is operand r. A tensor without a label is one that the loop
/// moves by a stride of 0, so that a broadcast operand and one that lacks the label are the same thing.
struct loop_nest {
    std::size_t slots = 0;
    small_vector<index, 12> extents;
    small_vector<index, 48> strides;  ///< in elements; loop by loop, `slots` of them each
    bool output_empty = false;        ///< an output label has extent 0: there is nothing to write
    bool sum_empty = false;           ///< a contracted label has extent 0: every output element is the identity
    progress_hook* hook = nullptr;    ///< the call's

    loop_nest() = default;
    explicit loop_nest(std::size_t slot_count) : slots(slot_count) {}
    explicit loop_nest(const block_call& call) : loop_nest(call, call.extents, call.operands.size()) {}
    /// The loops of a call with these extents and the first `operands` of its operands.
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

    /// Adds a loop that moves nothing yet.
    index* add(index extent) {
        extents.push_back(extent);
        strides.resize(strides.size() + slots, 0);
        return of(extents.size() - 1);
    }
    /// Adds the loops of a box that slots 0 and 1 walk; false where it is empty.
    EINPARALLEL_INLINE bool add_box(index_span box_extents, index_span first, index_span second);
    EINPARALLEL_INLINE void remove(std::size_t loop);
    /// Makes one loop of every two that walk like one in all tensors.
    EINPARALLEL_INLINE void fuse();
    /// Largest stride of the slot outermost; loops of equal stride there by the next slots.
    EINPARALLEL_INLINE void sort_by(std::size_t slot);
};

/// Extents of a tensor in a call.
EINPARALLEL_INLINE small_vector<index, 8> extents_of(const block_call& call, label_span labels);

/// Removes the loops that move nothing, which come from sums of equal terms.
/// @return how many equal terms there are for each one that is left
EINPARALLEL_INLINE index drop_resting(loop_nest& nest);

/// The loops of a nest in the order in which they are walked.
struct row_order {
    static constexpr std::size_t none = std::size_t(-1);

    std::size_t inner = none;   ///< the row itself; none where the nest has no loop
    std::size_t second = none;  ///< a loop that continues the row, where it is short
    std::size_t tiled = none;   ///< a loop of the row's kind walked inside a run of the row, for the cache
    bool narrow = false;        ///< lines of an operand serve several steps of an outer loop
    small_vector<std::size_t, 12> outer_output;      ///< outermost first
    small_vector<std::size_t, 12> outer_contracted;  ///< outermost first, inside the output's
};

/// @pre the loops of the nest are sorted by the output's stride
EINPARALLEL_INLINE row_order order_rows(const loop_nest& nest);

/// Steps through the index space of some loops of a nest, last one fastest, and keeps the offset of every slot.
/// No recursion, and two additions per slot and step.
class odometer {
public:
    using loop_list = small_vector<std::size_t, 12>;

    /// @param chosen loops of the nest, outermost first; they and the nest must outlive the odometer
    odometer(const loop_nest& nest, const loop_list& chosen)
        : nest_(&nest), chosen_(&chosen), counters_(chosen.size(), 0) {}
    odometer(const loop_nest& nest, loop_list&& chosen) = delete;

    /// Goes to the next point; false (and back at the start, offsets too) after the last one.
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

/// The loops of the output.
EINPARALLEL_INLINE odometer::loop_list output_loops(const loop_nest& nest);

}  // namespace einparallel::EINPARALLEL_DETAIL
