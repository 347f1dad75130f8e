#pragma once
// Copies boxes of strided memory, whatever the elements are.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// Copies the elements that slot 1 of the nest walks over to the elements that slot 0 walks over.
/// @pre every loop moves slot 0, no extent is 0, loops are sorted by slot 0
EINPARALLEL_INLINE void copy_nest(const loop_nest& nest, std::size_t element_bytes, void* into, const void* from);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// into[i] = from[i] for every i of a box with these extents. Strides are in elements, of any sign. Contiguous runs are
/// copied with memcpy. Where the two sides are contiguous along different dimensions, blocks are transposed in
/// registers. All available threads share a copy of 1 MiB or more.
/// @param element_bytes 1, 2, 4, 8 or 16
/// @pre the two sides do not overlap
EINPARALLEL_INLINE void copy_box(index_span extents, std::size_t element_bytes, void* into, index_span into_strides,
                                 const void* from, index_span from_strides);

}  // namespace einparallel
