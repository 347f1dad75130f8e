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
    const blocked_gemm product(kernel, m, n, k, inside, nest.hook);
    const auto moved = [](auto* start, index offset, std::size_t element) {
        return start + offset * static_cast<index>(element);
    };
    for_each_point(nest, batch, outside, [&](const index* at) {
        product.run(moved(static_cast<const std::byte*>(x), at[x_slot], kernel.a_element),
                    moved(static_cast<const std::byte*>(y), at[y_slot], kernel.b_element),
                    moved(static_cast<std::byte*>(z), at[z_slot], kernel.c_element), mode == write_mode::combine);
    });
    return true;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
