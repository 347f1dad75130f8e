#pragma once
// The operands of a product as they are read: elements of other types, and what is summed or converted before.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/product_rows.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Two operands with elements of type T, or of other types, which are elements of T; and the loops that walk them.
template <Element T>
class pair_operands {
protected:
    pair_operands(loop_nest& nest, const row_operand& x, const row_operand& y) : nest_(nest), x_(x), y_(y) {}

    [[nodiscard]] bool has_others() const { return !x_.template is<T>() || !y_.template is<T>(); }
    /// … but a half in a product of floats.
    static bool converts(const row_operand& operand) {
        return !operand.template is<T>() && !(std::is_same_v<T, float> && is_multiplied_half(operand.element));
    }

    /// Sums the operand over its one-sided labels into dense scratch.
    row_operand reduced(std::size_t slot, const row_operand& from, T* scratch) {
        const loop_nest reduction = take_one_sided(nest_, slot);
        row_operands rows;
        rows.push_back(from);
        product_rows<T> worker(scratch, rows, T(1), write_mode::overwrite);
        run_rows(reduction, worker);
        return {scratch, element_type_of<T>()};
    }

    /// Of halves that all dot products read floats are made once.
    scratch_memory as_floats(std::size_t slot, row_operand& operand, index length) {
        bool moves = false;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            moves = moves || (nest_.in_output(loop) && nest_.of(loop)[slot] != 0);
        }
        const bool wanted = !operand.template is<T>() && !moves;
        scratch_memory made(wanted ? std::size_t(length) * sizeof(T) : 0);
        if constexpr (std::is_same_v<T, float>) {
            if (wanted) {
                widen(operand.element, reinterpret_cast<float*>(made.data()), operand.data, length);
                operand = {made.data(), element_type_of<T>()};
            }
        }
        return made;
    }

    /// Makes elements of T of a small operand of another type that is read several times, in the order in which they
    /// lie.
    scratch_memory as_elements(std::size_t slot, row_operand& operand) {
        constexpr index most = 1 << 20;  // bytes
        odometer::loop_list loops;
        index count = 1;
        for (std::size_t loop = 0; loop < nest_.size() && count <= most; ++loop) {
            if (nest_.of(loop)[slot] != 0) {
                loops.push_back(loop);
                count *= nest_.extents[loop];
            }
        }
        const bool is_read_again = loops.size() < nest_.size();
        if (!converts(operand) || !is_read_again || count * index(sizeof(T)) > most) {
            return scratch_memory(0);
        }
        std::sort(loops.begin(), loops.end(), [&](std::size_t one, std::size_t other) {
            return std::abs(nest_.of(one)[slot]) > std::abs(nest_.of(other)[slot]);
        });
        scratch_memory made(std::size_t(count) * sizeof(T));
        loop_nest copy(2);
        index inside = count;
        for (const std::size_t loop : loops) {
            inside /= nest_.extents[loop];
            index* const moves = copy.add(nest_.extents[loop]);
            moves[0] = inside;
            moves[1] = std::exchange(nest_.of(loop)[slot], inside);
        }
        row_operands rows;
        rows.push_back(operand);
        product_rows<T> worker(made.data(), rows, T(1), write_mode::overwrite);
        copy.fuse();
        run_rows(copy, worker);
        operand = {made.data(), element_type_of<T>()};
        return made;
    }

    /// Where both operands have rows that the other one passes, makes the fewest of them the innermost loop: what they
    /// all read is then read once.
    bool move_rows_inside(odometer::loop_list& points) const {
        auto fewest = points.end();
        bool has_rows[2] = {false, false};
        for (auto loop = points.begin(); loop != points.end(); ++loop) {
            const index* const moves = nest_.of(*loop);
            if ((moves[x_slot] == 0) != (moves[y_slot] == 0)) {
                has_rows[moves[x_slot] == 0 ? 1 : 0] = true;
                fewest = fewest == points.end() || nest_.extents[*loop] < nest_.extents[*fewest] ? loop : fewest;
            }
        }
        if (has_rows[0] && has_rows[1]) {
            std::rotate(fewest, fewest + 1, points.end());
        }
        return has_rows[0] && has_rows[1];
    }

    loop_nest& nest_;
    row_operand x_;
    row_operand y_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
