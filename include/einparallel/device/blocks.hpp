#pragma once
// Calls on blocks of device memory: their loops fused as the host's are, and launched.

#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// into[i] = from[i] for every i of a box; strides in elements, any sign. @pre the two sides do not overlap
EINPARALLEL_INLINE void copy_on_device(launch::stream on, std::span<const index> extents, std::size_t element_bytes,
                                       void* into, std::span<const index> into_strides, const void* from,
                                       std::span<const index> from_strides);

/// Bytes of workspace of a join: known before anything is allocated, since addresses do not matter to it.
EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, const block_call& call);

/// Computes one block: what the kernel with this ⊗ and ⊕ does on the host.
EINPARALLEL_INLINE void join_on_device(launch::stream on, const op_program& program, const block_call& call,
                                       void* workspace);

/// into[i] = into[i] ⊕ from[i] for every i of a box, ⊕ that of the program.
EINPARALLEL_INLINE void combine_on_device(launch::stream on, const op_program& program, std::span<const index> extents,
                                          void* into, std::span<const index> into_strides, const void* from,
                                          std::span<const index> from_strides);

/// z = softmax of x along a label of a call with one operand, float or double.
EINPARALLEL_INLINE void softmax_on_device(launch::stream on, element_type element, const block_call& call,
                                          label_id along);

}  // namespace einparallel::EINPARALLEL_DETAIL
