#pragma once

#include <einparallel/kernel/join_product.hpp>

#include <einparallel/kernel/gemm.hpp>
#include <einparallel/kernel/product_loops.hpp>
#include <einparallel/kernel/tuning.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE bool run_in_tiles(loop_nest& nest, const tile_kernel& kernel, const void* x, const void* y, void* z,
                                     write_mode mode) {
    gemm_axis m;
    gemm_axis n;
    gemm_axis k;
    const odometer::loop_list batch = sort_axes(nest, x_slot, y_slot, m, n, k);
    if (m.size < 4 || n.size < kernel.columns / 2 || k.size < 4 || m.size * n.size * k.size < 4096) {
        return false;
    }
    const auto [outside, inside] = threads_for_batch(m.size * n.size * k.size, odometer(nest, batch).size());
    run_blocked(kernel, m, n, k, {nest, batch, x, x_slot, y, y_slot, z, mode == write_mode::combine, outside, inside});
    return true;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
