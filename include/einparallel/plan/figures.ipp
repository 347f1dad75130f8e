#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/figures.hpp>

#include <einparallel/plan/lower_bound.hpp>
#include <einparallel/plan/program.ipp>
#include <einparallel/plan/traffic.hpp>

#include <algorithm>
#include <cmath>

namespace einparallel {

EINPARALLEL_INLINE std::optional<double> vertex_figures::over_least(int ranks) const {
    if (!least_bytes) {
        return std::nullopt;
    }
    const double sent = static_cast<double>(gathered_bytes + aggregated_bytes) / ranks;
    return sent == 0 && *least_bytes == 0 ? 1 : sent / *least_bytes;
}

EINPARALLEL_INLINE std::vector<vertex_figures> figures_of(const plan& shown) {
    std::vector<vertex_figures> figures(shown.vertices().size());
    const std::vector<std::size_t> held = detail::held_by_vertex(shown, 0);
    for (std::size_t number = 0; number < figures.size(); ++number) {
        const planned_vertex& each = shown.vertices()[number];
        if (each.is_input()) {
            continue;
        }
        vertex_figures& made = figures[number];
        made.gathered_bytes = static_cast<std::size_t>(std::llround(detail::gathered_bytes(each.work)));
        made.aggregated_bytes = static_cast<std::size_t>(std::llround(detail::aggregated_bytes(each.work)));
        made.repartitioned_bytes = each.bytes - std::min(each.bytes, made.gathered_bytes + made.aggregated_bytes);
        made.held_bytes = held[number];
        const bool is_contraction =
            each.origin != nullptr && each.origin->work != nullptr && each.origin->work->is_contraction();
        const bool one_size =
            detail::all_in(each.work.operand_bytes, [&](std::size_t bytes) { return bytes == each.work.output_bytes; });
        // A sum that is not finished here, or not begun, is no contraction by itself; and what feeds workers from one
        // rank is none between blocks at rest.
        const bool whole = each.work.carried == no_label && each.work.pending == no_label &&
                           each.algorithm != algorithm::master_worker;
        const std::optional<contraction_shape> shape = contraction_shape_of(each.work.form, each.work.extents);
        if (is_contraction && one_size && whole && shape) {
            made.least_bytes =
                lower_bound_words(*shape, each.work.ranks.size()) * static_cast<double>(each.work.output_bytes);
        }
    }
    return figures;
}

}  // namespace einparallel
