#pragma once
// Whether two strided blocks of memory, or two indices of one block, have bytes in common.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// A strided block in memory, with the lowest and one past the highest address that it touches; an empty block touches
/// none.
struct touched_memory {
    EINPARALLEL_INLINE touched_memory(const void* first, std::span<const index> all_extents,
                                      std::span<const index> all_strides, std::size_t bytes);

    const void* data;
    std::span<const index> extents;
    std::span<const index> strides;  ///< in elements
    std::size_t element_bytes;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

/// Several indices of the block are one place: it cannot be written element by element.
EINPARALLEL_INLINE bool shares_places(std::span<const index> extents, std::span<const index> strides);

/// Throws where a statement or einsum cannot read a block …
EINPARALLEL_INLINE void check_readable(const touched_memory& block);

/// … or write it.
EINPARALLEL_INLINE void check_writable(const touched_memory& block);

/// The blocks may have bytes in common; false only where they have none.
EINPARALLEL_INLINE bool overlap(const touched_memory& a, const touched_memory& b);

}  // namespace einparallel::EINPARALLEL_DETAIL
