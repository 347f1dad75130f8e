#pragma once
// A call on blocks as a bare loop nest: which loops there are, and by how much each moves every tensor.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace einparallel::detail {

/// The loops of a call. Slot 0 is the output, slot 1 + r is operand r. A tensor without a label is one that the loop
/// moves by a stride of 0, so that a broadcast operand and one that lacks the label are the same thing.
struct loop_nest {
    std::size_t slots = 0;
    small_vector<index, 12> extents;
    small_vector<index, 48> strides;  ///< in elements; loop by loop, `slots` of them each
    bool output_empty = false;        ///< an output label has extent 0: there is nothing to write
    bool sum_empty = false;           ///< a contracted label has extent 0: every output element is the identity

    loop_nest() = default;
    explicit loop_nest(std::size_t slot_count) : slots(slot_count) {}
    explicit loop_nest(const block_call& call);

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
    bool add_box(std::span<const index> box_extents, std::span<const index> first, std::span<const index> second);
    void remove(std::size_t loop);
    /// Makes one loop of every two that walk like one in all tensors.
    void fuse();
    /// Largest stride of the slot outermost; loops of equal stride there by the next slots.
    void sort_by(std::size_t slot);
};

inline loop_nest::loop_nest(const block_call& call) : slots(call.operands.size() + 1) {
    small_vector<std::int16_t, 32> loop_of(call.extents.size(), -1);
    const auto visit = [&](std::size_t slot, std::span<const label_id> labels, std::span<const index> moves) {
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] == no_label) {
                continue;
            }
            const auto label = static_cast<std::size_t>(labels[dimension]);
            const index extent = call.extents[label];
            if (extent == 1) {
                continue;
            }
            if (extent == 0) {
                (slot == 0 ? output_empty : sum_empty) = true;
                continue;
            }
            if (loop_of[label] < 0) {
                loop_of[label] = static_cast<std::int16_t>(extents.size());
                add(extent);
            }
            of(static_cast<std::size_t>(loop_of[label]))[slot] += moves[dimension];
        }
    };
    visit(0, call.output.labels, call.output.strides);
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        visit(operand + 1, call.operands[operand].labels, call.operands[operand].strides);
    }
    fuse();
}

inline bool loop_nest::add_box(std::span<const index> box_extents, std::span<const index> first,
                               std::span<const index> second) {
    for (std::size_t dimension = 0; dimension < box_extents.size(); ++dimension) {
        if (box_extents[dimension] <= 0) {
            return false;
        }
        if (box_extents[dimension] > 1) {
            index* const moves = add(box_extents[dimension]);
            moves[0] = first[dimension];
            moves[1] = second[dimension];
        }
    }
    fuse();
    return true;
}

inline void loop_nest::remove(std::size_t loop) {
    const std::size_t last = size() - 1;
    for (std::size_t next = loop; next < last; ++next) {
        extents[next] = extents[next + 1];
        std::copy(of(next + 1), of(next + 1) + slots, of(next));
    }
    extents.resize(last);
    strides.resize(last * slots);
}

inline void loop_nest::fuse() {
    for (std::size_t inner = 0; inner < size();) {
        bool fused = false;
        const index length = extents[inner];
        const index* const inside = of(inner);
        for (std::size_t outer = 0; outer < size() && !fused; ++outer) {
            if (outer == inner) {
                continue;
            }
            const index* const outside = of(outer);
            bool alike = true;
            for (std::size_t slot = 0; slot < slots && alike; ++slot) {
                alike = outside[slot] == length * inside[slot];
            }
            if (alike) {
                extents[inner] *= extents[outer];
                remove(outer);
                fused = true;
            }
        }
        inner = fused ? 0 : inner + 1;
    }
}

inline void loop_nest::sort_by(std::size_t slot) {
    const auto before = [&](std::size_t left, std::size_t right) {
        for (std::size_t each = slot; each < slot + slots; ++each) {
            const std::size_t compared = each % slots;
            const index a = of(left)[compared] < 0 ? -of(left)[compared] : of(left)[compared];
            const index b = of(right)[compared] < 0 ? -of(right)[compared] : of(right)[compared];
            if (a != b) {
                return a > b;
            }
        }
        return false;
    };
    for (std::size_t placed = 1; placed < size(); ++placed) {
        for (std::size_t loop = placed; loop > 0 && before(loop, loop - 1); --loop) {
            std::swap(extents[loop], extents[loop - 1]);
            std::swap_ranges(of(loop), of(loop) + slots, of(loop - 1));
        }
    }
}

/// Removes the loops that move nothing, which come from sums of equal terms.
/// @return how many equal terms there are for each one that is left
inline index drop_resting(loop_nest& nest) {
    index repeats = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        const index* const moves = nest.of(loop);
        if (std::all_of(moves, moves + nest.slots, [](index stride) { return stride == 0; })) {
            repeats *= nest.extents[loop];
            nest.remove(loop);
        }
    }
    return repeats;
}

/// Steps through the index space of some loops of a nest, last one fastest, and keeps the offset of every slot.
/// No recursion, and two additions per slot and step.
class odometer {
public:
    using loop_list = small_vector<std::size_t, 12>;

    /// @param chosen loops of the nest, outermost first; the nest must outlive the odometer
    odometer(const loop_nest& nest, const loop_list& chosen)
        : nest_(&nest), chosen_(chosen), counters_(chosen.size(), 0) {}

    /// Goes to the next point; false (and back at the start, offsets too) after the last one.
    bool advance(index* offsets) {
        for (std::size_t position = chosen_.size(); position-- > 0;) {
            const std::size_t loop = chosen_[position];
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

    /// How many points there are.
    [[nodiscard]] index size() const {
        index points = 1;
        for (const std::size_t loop : chosen_) {
            points *= nest_->extents[loop];
        }
        return points;
    }

    /// Goes from the first point to point `number`; offsets are those of the first.
    void go_to(index number, index* offsets) {
        for (std::size_t position = chosen_.size(); position-- > 0;) {
            const std::size_t loop = chosen_[position];
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
    loop_list chosen_;
    small_vector<index, 12> counters_;
};

/// Steps through the elements of the output.
inline odometer output_points(const loop_nest& nest) {
    odometer::loop_list loops;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (nest.in_output(loop)) {
            loops.push_back(loop);
        }
    }
    return {nest, loops};
}

}  // namespace einparallel::detail
