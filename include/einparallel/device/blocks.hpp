#pragma once
// Calls on blocks of device memory: their loops fused as the host's are, and launched.

#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/operations/op_program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// Launches a join.
using join_function = function_ref<void(const launch::strided_join&)>;

/// Calls visit for launches that together compute the join of a nest, whose slots are the output and the operands with
/// elements of so many bytes. `work` holds where they begin, the mode and the workspace. Sorts the nest.
EINPARALLEL_INLINE void for_each_join(index_span element_bytes, loop_nest& nest, launch::strided_join work,
                                      join_function visit);
/// The same for the output and the operands of a program.
EINPARALLEL_INLINE void for_each_join(const op_program& program, loop_nest& nest, const launch::strided_join& work,
                                      join_function visit);
/// The same for into[i] = from[i], or into[i] ⊕ from[i], for every i of a box; strides of any sign.
EINPARALLEL_INLINE void for_each_join(const box_pair& boxes, bool combine, join_function visit);

/// into[i] = from[i] for every i of a box. @pre the two sides do not overlap
EINPARALLEL_INLINE void copy_on_device(launch::stream on, const box_pair& boxes);

/// Bytes of workspace of a join: known before anything is allocated, since addresses do not matter to it.
EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, const block_call& call);
EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, loop_nest nest);

/// Computes one block: what the kernel with this ⊗ and ⊕ does on the host.
EINPARALLEL_INLINE void join_on_device(const op_program& program, const block_call& call, void* workspace,
                                       std::uint32_t* divided, join_function launch);

/// Z = softmax of X along a label, float or double.
EINPARALLEL_INLINE void softmax_on_device(launch::stream on, element_type element, const block_call& call,
                                          label_id along);

/// What data choose of a tensor, or where they say that it is replaced: one launch or more, and a copy of what is
/// replaced where the output is other memory. False, and nothing done, where more than one element may be summed, or
/// added to what is there.
EINPARALLEL_INLINE bool select_on_device(launch::stream on, const select_work& work, const block_call& call);

}  // namespace einparallel::EINPARALLEL_DETAIL
