#pragma once
// The loops of a product of two operands: those of a single operand, which are summed first, since the product
// distributes over their sum; the three indices of a matrix product; and a batch of them, shared among the threads.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// Slots of a product of two operands.
inline constexpr std::size_t z_slot = 0;
inline constexpr std::size_t x_slot = 1;
inline constexpr std::size_t y_slot = 2;

/// Which index of a matrix product a loop is.
enum class product_index : std::uint8_t { m, n, k, batch };
inline product_index index_of(const loop_nest& nest, std::size_t loop) {
    const index* const moves = nest.of(loop);
    return moves[z_slot] == 0                         ? product_index::k
           : moves[x_slot] != 0 && moves[y_slot] == 0 ? product_index::m
           : moves[x_slot] == 0 && moves[y_slot] != 0 ? product_index::n
                                                      : product_index::batch;
}

/// True for a loop over a contracted label that only the operand of this slot has: a one-sided label.
inline bool is_one_sided(const loop_nest& nest, std::size_t loop, std::size_t slot) {
    const index* const moves = nest.of(loop);
    return moves[z_slot] == 0 && moves[slot] != 0 && moves[x_slot + y_slot - slot] == 0;
}

/// The contracted loop along which both operands are contiguous, or nest.size().
inline std::size_t dot_loop(const loop_nest& nest) {
    std::size_t loop = 0;
    while (loop < nest.size() && !(!nest.in_output(loop) && nest.of(loop)[x_slot] == 1 && nest.of(loop)[y_slot] == 1)) {
        ++loop;
    }
    return loop;
}

/// Elements of the operand after its one-sided labels are summed; 0 where it has no such label.
EINPARALLEL_INLINE std::size_t reduced_size(const loop_nest& nest, std::size_t slot);

/// Removes the one-sided labels of an operand from the nest of a product. Returns the sum over them as a nest of its
/// own: slot 0 is dense memory of reduced_size elements, slot 1 the operand. The product's nest walks the dense memory
/// from now on.
EINPARALLEL_INLINE loop_nest take_one_sided(loop_nest& nest, std::size_t slot);

/// Puts the loops into the indices of C(m, n) = Σ_k A(m, k) · B(k, n), where A and B are the operands of these slots.
/// Columns follow the order of the output, rows the order of A. The summed index follows the order of the operand of
/// which a panel can then be read contiguously. @pre the nest is sorted by the output
/// @return the loops that all three tensors have
EINPARALLEL_INLINE odometer::loop_list sort_axes(const loop_nest& nest, std::size_t a_slot, std::size_t b_slot,
                                                 gemm_axes& axes);

/// Makes the shortest loop that moves only one operand the innermost loop, where both operands have such loops, so that
/// its points read the same elements of the other operand. Returns whether both have such loops.
EINPARALLEL_INLINE bool move_rows_inside(const loop_nest& nest, odometer::loop_list& points);

/// Calls visit(offsets, first, count) until all points of the loops are visited; threads share the points. At each
/// point of the loops begins a stretch of `length` points, at these offsets, one for each slot of the nest. A visit
/// covers `count` points of the stretch, from point `first` on. Each of them is reported to the nest's hook as `work`
/// points of the iteration space. With `work` 0 the visitor reports.
EINPARALLEL_INLINE void visit_points(const loop_nest& nest, const odometer::loop_list& loops, index length, index work,
                                     int threads, function_ref<void(const index*, index, index)> visit);

/// Calls visit(offsets) for every point of a batch. The visitor reports to the nest's hook.
template <class Visit>
void for_each_point(const loop_nest& nest, const odometer::loop_list& batch, int threads, const Visit& visit) {
    visit_points(nest, batch, 1, 0, threads, [&](const index* at, index /*first*/, index /*count*/) { visit(at); });
}

/// Calls visit(offsets, count, moves) for stretches of `count` points along the last loop of the batch. From one point
/// to the next, tensors move by `moves`. `work`: points of the iteration space at each point.
template <class Visit>
void for_each_stretch(const loop_nest& nest, odometer::loop_list batch, index work, int threads, const Visit& visit) {
    index length = 1;
    index moves[3] = {0, 0, 0};
    if (!batch.empty()) {
        length = nest.extents[batch.back()];
        std::copy_n(nest.of(batch.back()), nest.slots, moves);
        batch.resize(batch.size() - 1);
    }
    visit_points(nest, batch, length, work, threads, [&](const index* at, index first, index count) {
        const index from[3] = {at[0] + first * moves[0], at[1] + first * moves[1], at[2] + first * moves[2]};
        visit(from, count, moves);
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
