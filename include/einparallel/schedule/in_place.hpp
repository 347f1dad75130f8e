#pragma once
// Element-wise vertices in the memory of an operand that nobody reads later.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where an element of the output is made of the operand's at the same position, and of no other of it.
/// `replaces`: as of the einsum's kernel.
EINPARALLEL_INLINE bool is_elementwise_in(const einsum_form& form, bool replaces, std::size_t operand);
/// The same for what a call reads. For a softmax this holds where its operand has the output's labels.
EINPARALLEL_INLINE bool is_elementwise_in(const program& of_rank, const contraction& call, std::size_t number);

/// Names as lender of an output (buffer::lender) the operand whose elements it replaces one by one: where from the
/// first of the calls that write it, nobody on this rank but them names the operand. Elements of inputs are never
/// replaced: they may lie in memory of the application's, or that was read for the run.
EINPARALLEL_INLINE void compute_in_place(program& of_rank);

/// True where the elements of input `vertex` may give way to a result: where that is written, nobody on this rank reads
/// them any more, but to replace them one by one. `alive`: the program's lifetimes.
EINPARALLEL_INLINE bool may_replace(const program& of_rank, std::span<const lifetime> alive, std::size_t vertex,
                                    buffer_id result);

}  // namespace einparallel::EINPARALLEL_DETAIL
