#pragma once
// What the packed blocks of a matrix product may take of the caches.

#include <einparallel/kernel/cache_sizes.hpp>
#include <einparallel/kernel/tile_kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// What packed blocks may take in bytes: of A in the second-level cache, of B in the last, and of B in the second where
/// A is one block; a sliver of B in the first.
struct gemm_budget {
    std::size_t a = std::size_t{240} << 10;
    std::size_t b = std::size_t{2} << 20;
    std::size_t b_alone = std::size_t{384} << 10;
    std::size_t sliver = std::size_t{20} << 10;
    index longest = 4096;  ///< rows or columns of a block

    /// The shares of the caches that were best where they are 32 and 512 KiB; where they are not known, processors with
    /// wide vectors have larger ones.
    EINPARALLEL_INLINE static gemm_budget of(const tile_kernel& kernel,
                                             const cache_sizes& caches = cache_sizes::here());
};

}  // namespace einparallel::EINPARALLEL_DETAIL
