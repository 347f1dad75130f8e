#pragma once
// Rows of exponentials, and exp(x − max x) / Σ exp(x − max x) along one label of a strided tensor, in one pass over
// memory.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// z = softmax of x along a label of a call on blocks with one operand, both tensors with the same labels.
/// @pre the output does not overlap the operand, or is the same memory, label for label
template <class T>
[[gnu::visibility("default")]] void softmax_block(const block_call& call, label_id along);

/// values[i] = exp(values[i]) with the widest instructions of this processor.
template <class T>
[[gnu::visibility("default")]] void exponentials(T* values, index count);

}  // namespace einparallel::EINPARALLEL_DETAIL
