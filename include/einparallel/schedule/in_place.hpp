#pragma once
// Element-wise vertices in the memory of an operand that nobody reads later.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where an element of the output is made of the operand's at the same place, and of no other of it. `replaces`:
/// as of the einsum's kernel.
EINPARALLEL_INLINE bool is_elementwise_in(const einsum_form& form, bool replaces, std::size_t operand);

/// Names as lender of an output (buffer::lender) the operand whose elements it replaces one by one: where from the
/// first of the calls that write it, nobody on this rank but them names the operand. Elements of inputs are never
/// replaced: they may lie in memory of the application's, or that was brought for the run.
EINPARALLEL_INLINE void compute_in_place(program& of_rank, function_ref<const einsum_form&(std::size_t)> form_of,
                                         function_ref<bool(std::size_t)> replaces);

}  // namespace einparallel::EINPARALLEL_DETAIL
