#pragma once

#include <einparallel/kernel/product_axes.hpp>

#include <einparallel/kernel/one_sided.hpp>
#include <einparallel/notation/box.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE odometer::loop_list sort_axes(loop_nest& nest, std::size_t a_slot, std::size_t b_slot, gemm_axis& m,
                                                 gemm_axis& n, gemm_axis& k) {
    odometer::loop_list batch;
    const auto is_contiguous_in_sum = [&](std::size_t slot) {
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (nest.of(loop)[slot] == 1 && !nest.in_output(loop)) {
                return true;
            }
        }
        return false;
    };
    nest.sort_by(is_contiguous_in_sum(a_slot) || !is_contiguous_in_sum(b_slot) ? a_slot : b_slot);
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (!nest.in_output(loop)) {
            k.add(nest.extents[loop], nest.of(loop)[a_slot], nest.of(loop)[b_slot]);
        }
    }
    nest.sort_by(z_slot);
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const index* const moves = nest.of(loop);
        if (moves[z_slot] == 0) {
            continue;
        }
        if (moves[a_slot] != 0 && moves[b_slot] == 0) {
            m.add(nest.extents[loop], moves[a_slot], moves[z_slot]);
        } else if (moves[b_slot] != 0 && moves[a_slot] == 0) {
            n.add(nest.extents[loop], moves[b_slot], moves[z_slot]);
        } else {
            batch.push_back(loop);
        }
    }
    m.move_contiguous(false);
    n.move_contiguous(true);
    return batch;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
