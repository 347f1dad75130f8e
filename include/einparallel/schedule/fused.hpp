#pragma once
// Calls of a rank instead of other ones that take more memory: softmax in one pass, instead of the four contractions
// that it consists of, and chains of calls strip by strip.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Where a program computes C = max x, E = exp(x − C), S = Σ E and Y = E / S of whole rows of x, with float or double,
/// and nothing else reads or writes C, E and S: has the step of Y read x and write Y, and leaves the others out. Of
/// rows in more than 48 KiB, the shared memory of a device's block, 1000 at least: one block of a device has each row,
/// and reads it three times, where a long join of few rows is spread over all blocks. Other ranks notice nothing.
EINPARALLEL_INLINE void fuse_softmax(program& of_rank);

/// Has chains of calls run strip by strip along a label that all of their outputs have: products, what is made of their
/// elements, sums of that. What one call alone makes and one alone reads is then there for a strip at a time, and all
/// strips of a tensor lie in the same memory. A step that exchanges messages is in no chain. The largest such
/// tensor comes in strips of so many bytes at least, few enough that packing anew what they do not cut, of the
/// products' operands, takes a few percent of a chain's time; and nothing changes where that would hold no less memory.
/// Other ranks notice nothing.
EINPARALLEL_INLINE void compute_in_strips(program& of_rank, std::size_t strip_bytes);

}  // namespace einparallel::EINPARALLEL_DETAIL
