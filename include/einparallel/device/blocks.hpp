#pragma once
// Calls on blocks of device memory: fuses their loops, as on the host, and launches them.

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

/// A function that launches a join.
using join_function = function_ref<void(const launch::strided_join&)>;

/// Calls visit(launch) for each of the launches that together compute the join of `nest`. The slots of the nest are the
/// output and the operands; `element_bytes`: bytes of one element of each of them. `work` holds their addresses, the
/// mode and the workspace. Sorts the nest.
EINPARALLEL_INLINE void for_each_join(index_span element_bytes, loop_nest& nest, launch::strided_join work,
                                      join_function visit);
/// The same, with the element types of the output and the operands of `program`.
EINPARALLEL_INLINE void for_each_join(const op_program& program, loop_nest& nest, const launch::strided_join& work,
                                      join_function visit);
/// The same for into[i] = from[i], or with `combine` into[i] = into[i] ⊕ from[i], for every i of a box. Strides may
/// have any sign.
EINPARALLEL_INLINE void for_each_join(const box_pair& boxes, bool combine, join_function visit);

/// into[i] = from[i] for every i of a box. @pre the two sides do not overlap
EINPARALLEL_INLINE void copy_on_device(launch::stream on, const box_pair& boxes);

/// Bytes of workspace of a join. They do not depend on addresses, so they are known before anything is allocated.
EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, const block_call& call);
EINPARALLEL_INLINE std::size_t join_workspace_bytes(const op_program& program, loop_nest nest);

/// Computes one block with the ⊗ and ⊕ of `program`, as a kernel does on the host. `launch` launches each join.
/// `divided` becomes 1 where an integer is divided by zero.
EINPARALLEL_INLINE void join_on_device(const op_program& program, const block_call& call, void* workspace,
                                       std::uint32_t* divided, join_function launch);

/// Computes Z, the softmax of X along label `along`, in float or double.
EINPARALLEL_INLINE void softmax_on_device(launch::stream on, element_type element, const block_call& call,
                                          label_id along);

/// Reads elements at positions that data choose, or, where work.replaces, replaces elements at such positions. A
/// replaced tensor that is not the output's memory is copied to it first. Returns false and does nothing where the
/// result is a sum of several elements, is combined with the output, or has too many chosen positions for one launch.
/// @throws error where replacement has too many of them
EINPARALLEL_INLINE bool select_on_device(launch::stream on, const select_work& work, const block_call& call);

}  // namespace einparallel::EINPARALLEL_DETAIL
