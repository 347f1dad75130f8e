#pragma once
// Element-wise vertices whose output takes the memory of an operand that nobody reads later.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where each element of the output depends on the operand's element at the same position and on no other element
/// of the operand. `replaces`: value of kernel::replaces() for the einsum's kernel.
EINPARALLEL_INLINE bool is_elementwise_in(const einsum_form& form, bool replaces, std::size_t operand);
/// The same test for operand `number` of a call. For a softmax it is true where the operand has the output's labels.
EINPARALLEL_INLINE bool is_elementwise_in(const program& of_rank, const contraction& call, std::size_t number);

/// Makes an operand the lender of an output (buffer::lender) where the output may replace its elements one by one: from
/// the first call that writes the output on, nothing on this rank but these calls uses the operand. Elements of inputs
/// are never replaced: they may lie in memory of the application, or in memory read for the run.
EINPARALLEL_INLINE void compute_in_place(program& of_rank);

/// True where a result may overwrite the elements of input `vertex`: from its first write on, nothing on this rank
/// reads them, except the calls that replace them one by one. `alive`: the program's lifetimes.
EINPARALLEL_INLINE bool may_replace(const program& of_rank, std::span<const lifetime> alive, std::size_t vertex,
                                    buffer_id result);

}  // namespace einparallel::EINPARALLEL_DETAIL
