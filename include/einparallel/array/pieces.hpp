#pragma once
// Operands that do not lie in one block of memory: a call that reads them is computed in parts, each of which reads one
// block.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A tensor that lies in boxes, and at which of its indices a call reads it; no functions: it is no such operand.
struct boxed_read {
    std::span<const index_function> at;
    std::span<const box> boxes;
};
inline constexpr std::size_t in_no_box = std::size_t(-1);

/// ⌈a / b⌉. @pre b > 0
constexpr index quotient_above(index a, index b) {
    return a / b + (a % b > 0 ? 1 : 0);
}

/// Calls `work` for parts of the call on these ranges, by label, in each of which every read is in one box, whose
/// number is said, or in none. Ascending along every label: a part `combines` where the ones before have written its
/// output.
EINPARALLEL_INLINE void cut_into_boxes(
    const std::vector<interval>& ranges, std::span<const boxed_read> reads, label_span output,
    function_ref<void(const std::vector<interval>&, std::span<const std::size_t> found, bool combines)> work);

/// What a call reads of a block at functions of labels, the block's first element being that of `region`: the strides
/// along these labels, in elements. Returns how far from that the element is where all labels are 0. `bounds` of the
/// tensor count where a function runs through several dimensions.
EINPARALLEL_INLINE index strides_of_read(std::span<const index_function> at, label_span labels, const box& region,
                                         index_span strides, std::span<index> made, index_span bounds = {});

/// At which indices of a tensor with these bounds the elements of one with these extents are, whose dimensions are the
/// labels, where both have them in row-major order. @pre as many elements
EINPARALLEL_INLINE std::vector<index_function> reshaping(index_span bounds, index_span extents);

/// A box by what functions run through: of several dimensions from its first element to behind its last one.
EINPARALLEL_INLINE box fused_box(std::span<const index_function> at, index_span bounds, box region);

/// The other way round: the smallest box around these elements.
EINPARALLEL_INLINE box unfused_box(std::span<const index_function> at, index_span bounds, box region);

/// A tensor that is read at functions of a call's labels, and lies in pieces; where there is no piece, its elements are
/// all one value.
struct operand_pieces {
    struct piece {
        const void* data = nullptr;    ///< its first element
        std::vector<index> strides{};  ///< in elements
    };

    std::vector<index_function> at;  ///< by dimension; labels run from 0 in a call
    std::vector<box> boxes;          ///< of the pieces, in the tensor's indices
    std::vector<piece> pieces;
    const void* elsewhere = nullptr;
};

/// Calls `work` for parts of the call that read one piece of every operand.
EINPARALLEL_INLINE void in_parts(const block_call& call, function_ref<void(const block_call&)> work);

}  // namespace einparallel::EINPARALLEL_DETAIL
