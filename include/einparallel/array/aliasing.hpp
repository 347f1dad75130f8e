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

/// Row-major, without gaps.
EINPARALLEL_INLINE bool is_dense(index_span extents, const index* strides);

/// Several indices of the block have one address: it cannot be written element by element. Where the search is given
/// up, as of overlap, also said where none are.
EINPARALLEL_INLINE bool overlaps_itself(index_span extents, const index* strides);

/// Throws where a statement or einsum cannot read a block.
EINPARALLEL_INLINE void check_readable(const strided_block& block);

/// Some byte is in both blocks. Of b counts what is read with its labels. Also said where the search is given up: among
/// strides of several dimensions that have nothing to do with each other, not those of views of one array.
EINPARALLEL_INLINE bool overlap(const strided_block& a, const strided_block& b);

}  // namespace einparallel::EINPARALLEL_DETAIL
