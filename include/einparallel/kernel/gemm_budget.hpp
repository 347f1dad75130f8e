#pragma once
// What the packed blocks of a matrix product may take of the caches.

#include <einparallel/kernel/cache_sizes.hpp>
#include <einparallel/kernel/micro_kernel.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::detail {

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
    static gemm_budget of(const tile_kernel& kernel, const cache_sizes& caches = cache_sizes::here()) {
        gemm_budget budget;
        const bool wide = static_cast<std::size_t>(kernel.columns) * kernel.b_bytes > 64;
        const std::size_t second =
            caches.second > 0 ? std::min(caches.second, std::size_t{1} << 20) : std::size_t{wide ? 1024U : 512U} << 10;
        budget.a = second / 32 * 15;
        budget.b_alone = second / 4 * 3;
        budget.sliver = caches.first > 0
                            ? std::clamp(caches.first, std::size_t{16} << 10, std::size_t{64} << 10) / 8 * 5
                            : std::size_t{wide ? 32U : 20U} << 10;
        return budget;
    }
};

}  // namespace einparallel::detail
