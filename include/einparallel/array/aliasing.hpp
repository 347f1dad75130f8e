#pragma once
// Whether two strided blocks of memory, or two indices of one block, have bytes in common.

#include <einparallel/array/pieces.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Strided memory that a statement reads or writes, with extents and strides that live as long as the statement.
struct block_handle {
    const void* data = nullptr;
    index_span extents;
    const index* strides = nullptr;  ///< in elements
    element_type element;
    const operand_pieces* pieces = nullptr;  ///< where its elements lie, if not in one block

    /// The lowest and one past the highest address of its elements; equal where there are none. @pre one block
    EINPARALLEL_INLINE [[nodiscard]] std::pair<std::uintptr_t, std::uintptr_t> touched() const;
};

/// Row-major, without gaps.
EINPARALLEL_INLINE bool is_dense(index_span extents, const index* strides);

/// Several indices of the block are one place: it cannot be written element by element.
EINPARALLEL_INLINE bool shares_places(index_span extents, const index* strides);

/// Throws where a statement or einsum cannot read a block.
EINPARALLEL_INLINE void check_readable(const block_handle& block);

/// The blocks may have bytes in common; false only where they have none.
EINPARALLEL_INLINE bool overlap(const block_handle& a, const block_handle& b);

}  // namespace einparallel::EINPARALLEL_DETAIL
