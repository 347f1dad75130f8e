#pragma once
// Operands that consist of several blocks of memory. A call that reads them becomes calls that read one block each.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A tensor that is stored in boxes, and the index functions at which a call reads it.
struct boxed_read {
    affine_map at;           ///< functions of the labels of the call, which run from 0
    std::vector<box> boxes;  ///< a side is an interval of the values of one function
};
inline constexpr std::size_t in_no_box = std::size_t(-1);

/// Cuts `ranges`, one for each label, into smaller ranges in which every read lies in one box or in none, and calls
/// `work` for each of them. `found` has the number of the box for each read, or in_no_box. A null read is never in a
/// box. The ranges ascend along every label. `combines` is true where calls before have written the same output.
EINPARALLEL_INLINE void cut_into_boxes(
    const std::vector<interval>& ranges, std::span<const boxed_read* const> reads, label_span output,
    function_ref<void(const std::vector<interval>&, std::span<const std::size_t> found, bool combines)> work);

/// A tensor that is read at functions of a call's labels, and is stored in several blocks. Outside all of them its
/// elements have one value.
struct joined_blocks : boxed_read {
    struct block {
        const void* data = nullptr;    ///< its first element
        std::vector<index> strides{};  ///< in elements
    };

    std::vector<block> blocks;        ///< one for each box
    const void* elsewhere = nullptr;  ///< the value outside all boxes
};

/// Splits a call into calls that each read one block of every operand, and calls `work` with each of these.
EINPARALLEL_INLINE void split_at_joins(const block_call& call, function_ref<void(const block_call&)> work);

}  // namespace einparallel::EINPARALLEL_DETAIL
