#pragma once
// Replaces calls of a rank by calls that take less memory: one softmax instead of the four contractions that it
// consists of, and chains of calls that run strip by strip.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Replaces four calls by one softmax where a program computes C = max x, E = exp(x − C), S = Σ E and Y = E / S of
/// whole rows of x in float or double, and nothing else reads or writes C, E and S. The call of Y then reads x, and the
/// other three are removed. Rows of more than 48 KiB (the shared memory of a CUDA block) must be at least 1000 in
/// number: a softmax gives each row to one CUDA block, which reads it three times, whereas the separate calls spread a
/// few long rows over all blocks. Programs of other ranks do not change.
EINPARALLEL_INLINE void fuse_softmax(program& of_rank);

/// Makes chains of calls (for example a product, a function of its elements, a sum of the results) run strip by strip
/// along a label that all their outputs have. A tensor between two calls, which one of them writes and only the other
/// reads, then exists one strip at a time, and all its strips lie in the same memory. A step with messages is in no
/// chain. The strips of the largest such tensor have at least `strip_bytes` bytes. Every strip packs those operands of
/// products again that it does not cut; the number of strips is limited so that this takes a few percent of the chain's
/// time. Where a program would hold more than `limit` bytes (0: none) in strips along one label, a chain is cut along
/// more labels. A chain that would not hold less memory stays as it is. Programs of other ranks do not change.
EINPARALLEL_INLINE void compute_in_strips(program& of_rank, std::size_t strip_bytes, std::size_t limit = 0);

}  // namespace einparallel::EINPARALLEL_DETAIL
