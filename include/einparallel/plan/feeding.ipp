#pragma once
// Master–worker as a state: which rank feeds, and in which slices it takes least seconds.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/places.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where master–worker may run a vertex: a contraction whose result and way are not the user's to say.
EINPARALLEL_INLINE bool may_be_fed(const vertex& einsum) {
    return einsum.work->is_contraction() && !einsum.constraints.pin && !einsum.constraints.without_communication;
}

/// The rank that holds all elements that somebody holds; nothing where several do.
EINPARALLEL_INLINE std::optional<int> only_holder(const distribution& resting) {
    const std::vector<int> holders = resting.ranks_meeting(whole_box(resting.bounds()));
    return holders.size() == 1 ? std::optional(holders.front()) : std::nullopt;
}

/// The fastest way to feed, whatever the objective: the slices are along some label of the output, as many as pay.
/// @param unfed the task over a mesh of one axis, along a label of the output
EINPARALLEL_INLINE task best_fed(const task& unfed, int master, double operations_per_point, const machine& constants) {
    task best;
    double least = std::numeric_limits<double>::infinity();
    for (const label_id label : unfed.form.output) {
        if (label == no_label) {
            continue;
        }
        constexpr int most = 64;
        const index extent = unfed.extents[static_cast<std::size_t>(label)];
        for (int slices = 1; slices <= most && slices <= std::max<index>(1, extent); slices *= 2) {
            task tried = fed_task(unfed, {master, label, slices});
            const double seconds = task_seconds(tried, operations_per_point, constants);
            if (seconds < least) {
                least = seconds;
                best = std::move(tried);
            }
        }
    }
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
