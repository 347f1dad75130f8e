#pragma once
// From the loops of a product of two operands to the three indices of a matrix product and a batch of them.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Puts the loops into the indices of C(m, n) = Σ_k A(m, k) · B(k, n), where A and B are the operands of these slots.
/// Columns run as the output has them, rows as A; the summed index as an operand has it where that lets a panel be read
/// contiguously. Sorts the nest by the output.
/// @return the loops that all three tensors have
EINPARALLEL_INLINE odometer::loop_list sort_axes(loop_nest& nest, std::size_t a_slot, std::size_t b_slot, gemm_axis& m,
                                                 gemm_axis& n, gemm_axis& k);

}  // namespace einparallel::EINPARALLEL_DETAIL
