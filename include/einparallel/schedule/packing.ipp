#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/packing.hpp>

#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes of one contiguous run of a message's elements; all bytes of a contiguous message.
EINPARALLEL_INLINE std::size_t run_bytes(const buffer& holder, const box& region) {
    std::size_t run = holder.element_bytes;
    std::size_t dimension = region.rank();
    while (dimension > 0) {
        --dimension;
        run *= std::size_t(region.sides[dimension].size());
        if (region.sides[dimension] != holder.region.sides[dimension]) {
            break;
        }
    }
    while (dimension > 0 && region.sides[dimension - 1].size() == 1) {
        --dimension;
    }
    return dimension == 0 ? std::size_t(region.size()) * holder.element_bytes : run;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE void pack_strided(program& of_rank, const packing_rule& rule) {
    std::vector<step> steps;
    for (step& each : of_rank.steps) {
        const std::size_t phase = std::exchange(each.phase, 3 * each.phase + 1);
        step before{.phase = 3 * phase, .vertex = each.vertex, .once = each.once};
        step behind{.phase = 3 * phase + 2, .vertex = each.vertex, .once = each.once};
        const bool computes =
            detail::any_in(each.work, [](const action& done) { return std::holds_alternative<contraction>(done); });
        for (std::vector<message>* const messages : {&each.sends, &each.receives}) {
            for (message& moved : *messages) {
                const buffer& holder = of_rank[moved.buffer];
                const std::size_t bytes = std::size_t(moved.region.size()) * holder.element_bytes;
                const std::size_t run = detail::run_bytes(holder, moved.region);
                if (bytes >= rule.least_bytes && run < bytes && (computes || run < rule.shortest_run)) {
                    const buffer_id packed = of_rank.add_buffer(moved.region, holder.element_bytes);
                    messages == &each.sends ? before.move(packed, moved.buffer, moved.region)
                                            : behind.move(moved.buffer, packed, moved.region);
                    moved.buffer = packed;
                }
            }
        }
        for (step* const one : {&before, &each, &behind}) {
            if (one == &each || !one->is_idle()) {
                steps.push_back(std::move(*one));
            }
        }
    }
    of_rank.steps = std::move(steps);
}

}  // namespace einparallel
