#pragma once
// Operands joined of several blocks of memory: a call that reads them becomes calls that read one block each.

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

/// Calls `work` for the smaller ranges of these, by label, in each of which every read is in one box, whose number is
/// said, or in none. Null: no such read. Ascending along every label: a call `combines` where the ones before have
/// written its output.
EINPARALLEL_INLINE void cut_into_boxes(
    const std::vector<interval>& ranges, std::span<const boxed_read* const> reads, label_span output,
    function_ref<void(const std::vector<interval>&, std::span<const std::size_t> found, bool combines)> work);

/// A tensor that is read at functions of a call's labels, and lies in several blocks; where there is none, its elements
/// are all one value.
struct joined_blocks : boxed_read {
    struct block {
        const void* data = nullptr;    ///< its first element
        std::vector<index> strides{};  ///< in elements
    };

    std::vector<block> blocks;  ///< by box
    const void* elsewhere = nullptr;
};

/// Calls `work` with calls that together are this one, each of which reads one block of every operand.
EINPARALLEL_INLINE void split_at_joins(const block_call& call, function_ref<void(const block_call&)> work);

}  // namespace einparallel::EINPARALLEL_DETAIL
