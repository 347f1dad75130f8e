#pragma once
// Operands that do not lie in one block of memory: a call that reads them is computed in parts, each of which reads one
// block.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A tensor that is read at functions of a call's labels, and lies in pieces; where there is no piece, its elements are
/// all one value.
struct operand_pieces {
    struct piece {
        box region;                    ///< in the tensor's indices
        const void* data = nullptr;    ///< its first element
        std::vector<index> strides{};  ///< in elements
    };

    std::vector<index_function> at;  ///< by dimension; labels run from 0 in a call
    std::vector<piece> pieces;
    const void* elsewhere = nullptr;
};

/// From an element to the next along a label, in an operand with these strides; and, with no_label, from its first
/// element to the one where all labels are 0.
EINPARALLEL_INLINE index move_along(label_id label, std::span<const index_function> at, const index* strides);

/// Calls `work` for parts of the call, in ascending order along every label, so that the first one of an output element
/// overwrites it where the call does and the others combine. `pieces` and bytes of an element are by operand; null:
/// the block is all of the operand.
EINPARALLEL_INLINE void in_parts(const block_call& call, std::span<const operand_pieces* const> pieces,
                                 std::span<const std::size_t> operand_bytes, std::size_t output_bytes,
                                 function_ref<void(const block_call&)> work);

}  // namespace einparallel::EINPARALLEL_DETAIL
