#pragma once

#include <einparallel/kernel/gemm_budget.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE gemm_budget gemm_budget::of(const tile_kernel& kernel, const cache_sizes& caches) {
    gemm_budget budget;
    const bool wide = static_cast<std::size_t>(kernel.columns) * kernel.b_bytes > 64;
    const std::size_t second =
        caches.second > 0 ? std::min(caches.second, std::size_t{1} << 20) : std::size_t{wide ? 1024U : 512U} << 10;
    budget.a = second / 32 * 15;
    budget.b_alone = second / 4 * 3;
    budget.sliver = caches.first > 0 ? std::clamp(caches.first, std::size_t{16} << 10, std::size_t{64} << 10) / 8 * 5
                                     : std::size_t{wide ? 32U : 20U} << 10;
    return budget;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
