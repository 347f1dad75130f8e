#pragma once

#include <einparallel/plan/statistics.hpp>

#include <einparallel/cost/lower_bound.hpp>
#include <einparallel/cost/traffic.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/names.hpp>

#include <algorithm>
#include <cmath>

namespace einparallel {

EINPARALLEL_SELDOM std::optional<double> vertex_statistics::over_least(int ranks) const {
    if (!least_bytes) {
        return std::nullopt;
    }
    const double sent = double(gathered_bytes + aggregated_bytes) / ranks;
    return sent == 0 && *least_bytes == 0 ? 1 : sent / *least_bytes;
}

EINPARALLEL_SELDOM plan_statistics statistics_of(const plan& shown) {
    const detail::plan_memory memory = detail::memory_of(shown, 0);
    plan_statistics made{std::vector<vertex_statistics>(shown.vertices().size()), memory.peak};
    for (std::size_t number = 0; number < made.vertices.size(); ++number) {
        const planned_vertex& each = shown.vertices()[number];
        const task& work = each.work;
        if (each.is_input()) {
            continue;
        }
        vertex_statistics& of = made.vertices[number];
        double gathered = 0;
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            gathered += work.holds(operand) ? 0 : detail::gathered_bytes(work, operand);
        }
        of.gathered_bytes = std::size_t(std::llround(gathered));
        of.aggregated_bytes = std::size_t(std::llround(detail::aggregated_bytes(work)));
        of.repartitioned_bytes = each.bytes - std::min(each.bytes, of.gathered_bytes + of.aggregated_bytes);
        of.held_bytes = memory.by_vertex[number];
        of.paged_bytes = memory.paged[number];
        // A vertex is no contraction by itself if its sum is not finished here, if it reads summands, or if its blocks
        // are gathered already. If a master feeds it, its tensors do not rest in blocks.
        const bool is_contraction = each.origin->work->is_contraction() && work.carried == no_label &&
                                    work.pending == no_label && work.held == 0 &&
                                    each.algorithm != algorithm::master_worker;
        const bool one_size =
            detail::all_in(work.operand_bytes, [&](std::size_t bytes) { return bytes == work.output_bytes; });
        const std::optional<contraction_shape> shape = contraction_shape_of(work.form, work.extents);
        if (is_contraction && one_size && shape) {
            of.least_bytes = lower_bound_words(*shape, work.ranks.size()) * double(work.output_bytes);
        }
    }
    return made;
}

}  // namespace einparallel
