#pragma once
// Labels of a product that a single operand has: the product distributes over their sum, so they are summed first and
// need not enter the product's own loops.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>

#include <cstddef>

namespace einparallel::detail {

/// Slots of a product of two operands.
inline constexpr std::size_t z_slot = 0;
inline constexpr std::size_t x_slot = 1;
inline constexpr std::size_t y_slot = 2;

/// A contracted label that only the operand of this slot has.
inline bool is_one_sided(const loop_nest& nest, std::size_t loop, std::size_t slot) {
    const index* const moves = nest.of(loop);
    return moves[z_slot] == 0 && moves[slot] != 0 && moves[x_slot + y_slot - slot] == 0;
}

/// Elements of the operand once its one-sided labels are summed; 0 where it has none.
inline std::size_t reduced_size(const loop_nest& nest, std::size_t slot) {
    index size = 1;
    bool one_sided = false;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const bool summed = is_one_sided(nest, loop, slot);
        one_sided = one_sided || summed;
        size *= nest.of(loop)[slot] != 0 && !summed ? nest.extents[loop] : 1;
    }
    return one_sided ? static_cast<std::size_t>(size) : 0;
}

/// The sum over the operand's one-sided labels, as a nest of its own: slot 0 is dense memory of reduced_size elements,
/// slot 1 the operand. The product's nest walks the dense memory from now on.
inline loop_nest take_one_sided(loop_nest& nest, std::size_t slot) {
    loop_nest reduction(2);
    nest.sort_by(slot);
    index size = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        index* const moves = nest.of(loop);
        if (moves[slot] == 0) {
            continue;
        }
        index* const added = reduction.add(nest.extents[loop]);
        added[1] = moves[slot];
        if (!is_one_sided(nest, loop, slot)) {
            added[0] = size;
            moves[slot] = size;
            size *= nest.extents[loop];
        }
    }
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        if (is_one_sided(nest, loop, slot)) {
            nest.remove(loop);
        }
    }
    reduction.fuse();
    reduction.sort_by(0);
    return reduction;
}

}  // namespace einparallel::detail
