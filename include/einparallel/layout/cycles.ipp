#pragma once

#include <einparallel/layout/cycles.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<box> in_cycles(const box& region, const std::vector<index>& lengths) {
    std::vector<box> boxes(region.nothing ? 0 : 1);
    for (std::size_t dimension = 0; dimension < lengths.size(); ++dimension) {
        const index length = lengths[dimension];
        const index end = region.sides[dimension].end;
        std::vector<box> longer;
        for (index at = region.sides[dimension].begin; at < end;) {
            const index first = at % length;
            const index cycles = first == 0 ? std::max<index>(1, (end - at) / length) : 1;
            const interval in_cycle{first, std::min(length, first + end - at)};
            for (box each : boxes) {
                each.sides.push_back({at / length, at / length + cycles});
                each.sides.push_back(in_cycle);
                longer.push_back(std::move(each));
            }
            at += cycles * in_cycle.size();
        }
        boxes = std::move(longer);
    }
    return boxes;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
