#pragma once
// The best placement of a graph, found by the paper's linearisation or by a search. The search begins with placements
// on smaller numbers of ranks.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/partition.ipp>
#include <einparallel/search/pins.ipp>
#include <einparallel/search/search.hpp>
#include <einparallel/search/search.ipp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Smaller numbers of ranks, on which a plan may be better than on all ranks: close numbers with the most divisors, and
/// under time, where a plan may leave many ranks idle, powers of two.
EINPARALLEL_INLINE std::vector<int> rival_numbers(int processes, bool in_time) {
    constexpr int close = 256;
    constexpr std::size_t most = 6;
    std::vector<std::pair<std::size_t, int>> known;
    for (int number = std::max(processes - processes / 10, processes - close); number < processes; ++number) {
        known.emplace_back(divisors_of(number).size(), number);
    }
    std::sort(known.begin(), known.end(), std::greater<>());
    known.resize(std::min(known.size(), most));
    std::vector<int> numbers = list_of(known, [](const auto& each) { return each.second; });
    if (in_time) {
        const auto power = int(std::bit_floor(unsigned(processes)));
        numbers.insert(numbers.end(), {power, power / 2});
    }
    return numbers;
}

/// On a machine with levels entries take longer: the search on levels has the effort divided by this.
inline constexpr std::size_t effort_of_levels = 4;

/// A placement on `ranks` ranks, in which only the listed numbers of ranks compete. Its bound is no bound for other
/// numbers.
EINPARALLEL_INLINE placed_graph placement_on(int ranks, const einsum_graph& graph, options asked, place_table& table,
                                             std::size_t effort, const std::vector<placed_graph>& known = {}) {
    asked.processes = ranks;
    asked.on_progress = {};
    std::vector<vertex_cuts> usual = cuts_of_graph(graph, asked);
    for_each_in(usual, [](vertex_cuts& each) {
        for_each_in(each.families, [](partition_family& family) { family.any_from = 0; });
    });
    return placement_search(graph, asked, usual, table).run(effort, known);
}

/// Placements of a small graph on fewer ranks, from which the search then begins. A number of ranks that suits several
/// neighbours together is not found by changing one vertex at a time. Several numbers get a small share of the effort,
/// then the best number gets half of it.
EINPARALLEL_INLINE std::vector<placed_graph> placements_on_fewer(const einsum_graph& graph, const options& asked,
                                                                 place_table& table) {
    constexpr std::size_t glance = 32;  // the effort is divided by it
    constexpr std::size_t look = 2;
    std::vector<int> numbers = rival_numbers(asked.processes, asked.objective == objective::time);
    std::erase_if(numbers, [&](int number) {
        return number < 1 || number >= asked.processes ||
               any_in(graph.vertices, [&](const auto& each) { return mesh{pinned_axes(*each)}.size() > number; });
    });
    placed_graph best;
    int best_number = 0;
    for (const int number : numbers) {
        placed_graph found = placement_on(number, graph, asked, table, asked.effort / glance);
        if (found.cost < best.cost) {
            best = std::move(found);
            best_number = number;
        }
    }
    if (best_number == 0) {
        return {};
    }
    return {placement_on(best_number, graph, asked, table, asked.effort / look, {best})};
}

/// The best placement on a machine on which all ranks are alike, or, of the `known` ones and those near them, on a
/// machine with levels.
EINPARALLEL_INLINE placed_graph placement_for(const einsum_graph& graph, const options& asked,
                                              const std::vector<vertex_cuts>& may_be, place_table& table,
                                              const std::vector<placed_graph>& near = {}) {
    placement_search search(graph, asked, may_be, table);
    if (!near.empty()) {
        return search.run(asked.effort, near);
    }
    if (asked.method == method::linearized) {
        return search.run_along_paths();
    }
    const auto einsums = count_if_in(graph.vertices, [](const auto& each) { return !each->is_input(); });
    if (!any_in(may_be, &vertex_cuts::has_others) || einsums < 2 ||
        einsums > std::ptrdiff_t(placement_search::few_vertices)) {
        return search.run(asked.effort);
    }
    const std::vector<placed_graph> known = placements_on_fewer(graph, asked, table);
    return search.run(known.empty() ? asked.effort : asked.effort / 2, known);
}

/// On a machine with levels the search begins with the best placement for ranks that are all alike, so that no plan is
/// worse for knowing the machine.
EINPARALLEL_INLINE placed_graph best_placement(const einsum_graph& graph, const options& asked,
                                               const std::vector<vertex_cuts>& may_be, place_table& table) {
    options levels = asked;
    levels.level = asked.objective == objective::bytes ? asked.level : -1;
    if (table.on().is_flat() || asked.objective == objective::paper || asked.method == method::linearized) {
        return placement_for(graph, levels, may_be, table);
    }
    options flat = asked;
    flat.level = -1;
    flat.on_progress = {};
    table.price_flat(true);
    const placed_graph near = placement_for(graph, flat, may_be, table);
    table.price_flat(false);
    levels.effort /= effort_of_levels;
    return placement_for(graph, levels, may_be, table, {near});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
