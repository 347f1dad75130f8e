#pragma once
// Packing: a block of a scattered matrix becomes micro-panels, which micro-kernels read from one end to the other.

#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// A block to pack. Columns of its tile are indices of C, of which a micro-panel has columns.run, rows are steps of the
/// summed index. The last micro-panel is filled up with copies of the last index.
struct packed_block {
    copy_tile tile;
    index count = 0;  ///< columns that are no such copies
    /// columns.from[i + period] = columns.from[i] + 1 where both lie in one stretch of run · period columns, and count
    /// is a multiple of that: the matrix is contiguous along an index outside those that C is contiguous along. 0
    /// where it is not.
    index period = 0;
    index run = 0;
};

/// tile_kernel::pack_a and pack_b where elements are packed as they are: tile.unit bytes each, whatever they mean.
EINPARALLEL_INLINE void pack_panels(const void* context, void* into, const void* from, const packed_block& block);

}  // namespace einparallel::EINPARALLEL_DETAIL
