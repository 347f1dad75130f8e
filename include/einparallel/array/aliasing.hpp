#pragma once
// Whether two strided blocks of memory, or two indices of one block, have bytes in common.

#include <einparallel/kernel/joined.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where the elements lie in row-major order without gaps.
EINPARALLEL_INLINE bool is_dense(index_span extents, const index* strides);

/// True where several indices of the block have one address, so that it cannot be written element by element. Also true
/// where the search is given up, as in overlap().
EINPARALLEL_INLINE bool overlaps_itself(index_span extents, const index* strides);

/// Throws where a statement or einsum cannot read a block.
EINPARALLEL_INLINE void check_readable(const strided_block& block);

/// True where some byte is in both blocks. Of `b`, only the elements count that are read with its labels. Also true
/// where the search is given up: this happens with unrelated strides of several dimensions, not with views of one
/// array.
EINPARALLEL_INLINE bool overlap(const strided_block& a, const strided_block& b);

}  // namespace einparallel::EINPARALLEL_DETAIL
