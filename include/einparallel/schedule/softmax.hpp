#pragma once
// Softmax in one pass: the four contractions that it consists of, replaced by one call.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/op_program.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Where a program computes C = max x, E = exp(x − C), S = Σ E and Y = E / S of whole rows of x, with float or double,
/// and nothing else reads or writes C, E and S: has the step of Y read x and write Y, and leaves the others out. Of
/// rows in more than 48 KiB, the shared memory of a device's block, 1000 at least: one block of a device has each row,
/// and reads it three times, where a long join of few rows is spread over all blocks. Other ranks notice nothing.
EINPARALLEL_INLINE void fuse_softmax(program& of_rank, function_ref<const einsum_form&(std::size_t)> form_of,
                                     function_ref<const op_program&(std::size_t)> program_of);

}  // namespace einparallel::EINPARALLEL_DETAIL
