#pragma once

#include <einparallel/kernel/one_sided.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::size_t reduced_size(const loop_nest& nest, std::size_t slot) {
    index size = 1;
    bool one_sided = false;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const bool summed = is_one_sided(nest, loop, slot);
        one_sided = one_sided || summed;
        size *= nest.of(loop)[slot] != 0 && !summed ? nest.extents[loop] : 1;
    }
    return one_sided ? static_cast<std::size_t>(size) : 0;
}

EINPARALLEL_INLINE loop_nest take_one_sided(loop_nest& nest, std::size_t slot) {
    loop_nest reduction(2);
    reduction.hook = nest.hook;
    nest.sort_by(slot);
    index size = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        index* const moves = nest.of(loop);
        if (moves[slot] == 0) {
            continue;
        }
        index* const added = reduction.add(nest.extents[loop]);
        added[1] = moves[slot];
        if (!is_one_sided(nest, loop, slot)) {
            added[0] = size;
            moves[slot] = size;
            size *= nest.extents[loop];
        }
    }
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        if (is_one_sided(nest, loop, slot)) {
            nest.remove(loop);
        }
    }
    reduction.fuse();
    reduction.sort_by(0);
    return reduction;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
