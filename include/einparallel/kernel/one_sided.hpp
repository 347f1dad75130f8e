#pragma once
// Labels of a product that a single operand has: the product distributes over their sum, so they are summed first and
// need not enter the product's own loops.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

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
EINPARALLEL_INLINE std::size_t reduced_size(const loop_nest& nest, std::size_t slot);

/// The sum over the operand's one-sided labels, as a nest of its own: slot 0 is dense memory of reduced_size elements,
/// slot 1 the operand. The product's nest walks the dense memory from now on.
EINPARALLEL_INLINE loop_nest take_one_sided(loop_nest& nest, std::size_t slot);

}  // namespace einparallel::EINPARALLEL_DETAIL
