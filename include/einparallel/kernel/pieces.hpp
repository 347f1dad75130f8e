#pragma once
// Operands that do not lie in one block of memory: a call that reads them is computed in parts, each of which reads one
// block.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A tensor that lies in boxes, and where a call reads it.
struct boxed_read {
    affine_map at;           ///< of labels of the call, which run from 0
    std::vector<box> boxes;  ///< by what functions run through
};
inline constexpr std::size_t in_no_box = std::size_t(-1);

/// Calls `work` for parts of the call on these ranges, by label, in each of which every read is in one box, whose
/// number is said, or in none. Null: no such read. Ascending along every label: a part `combines` where the ones before
/// have written its output.
EINPARALLEL_INLINE void cut_into_boxes(
    const std::vector<interval>& ranges, std::span<const boxed_read* const> reads, label_span output,
    function_ref<void(const std::vector<interval>&, std::span<const std::size_t> found, bool combines)> work);

/// A tensor that is read at functions of a call's labels, and lies in pieces; where there is no piece, its elements are
/// all one value.
struct operand_pieces : boxed_read {
    struct piece {
        const void* data = nullptr;    ///< its first element
        std::vector<index> strides{};  ///< in elements
    };

    std::vector<piece> pieces;  ///< by box
    const void* elsewhere = nullptr;
};

/// Calls `work` for parts of the call that read one piece of every operand.
EINPARALLEL_INLINE void in_parts(const block_call& call, function_ref<void(const block_call&)> work);

}  // namespace einparallel::EINPARALLEL_DETAIL
