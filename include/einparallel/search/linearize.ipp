#pragma once
// The paper's linearisation (EinDecomp §8.4): the longest path first, then the longest path of what is left, and so on.
// Each path is a chain, which dynamic programming solves exactly; edges that leave it are not looked at.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/search/solver/solve.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Chooses one state per variable. Only tables over two variables that are neighbours on a path count. Variables must
/// be numbered in topological order.
EINPARALLEL_INLINE std::vector<int> minimise_along_paths(cost_sum sum) {
    constexpr std::size_t none = std::size_t(-1);
    const std::size_t count = sum.variables.size();
    std::erase_if(sum.tables, [](const cost_table& table) { return table.scope.size() != 2; });
    const auto ends_of = [](const cost_table& table) { return std::minmax(table.scope.front(), table.scope.back()); };
    std::vector<std::pair<std::size_t, std::size_t>> in_turn;  // the later variable, and the table
    for_each_in(sum.tables, [&](const auto& table) { in_turn.emplace_back(ends_of(table).second, in_turn.size()); });
    sort_range(in_turn);
    std::vector<std::size_t> before(count, none);  // by variable: the one before it on its path
    std::vector<bool> taken(count, false);
    for (std::size_t left = count; left > 0;) {
        std::vector<std::pair<std::size_t, std::size_t>> longest(count, {1, none});  // vertices, and the one before
        for (const auto& [variable, number] : in_turn) {
            const std::size_t from = ends_of(sum.tables[number]).first;
            std::pair<std::size_t, std::size_t>& known = longest[variable];
            if (!taken[from] && longest[from].first >= known.first) {
                known = {longest[from].first + 1, from};
            }
        }
        std::size_t end = none;
        for (std::size_t variable = 0; variable < count; ++variable) {
            end = !taken[variable] && (end == none || longest[variable].first > longest[end].first) ? variable : end;
        }
        for (; end != none; end = before[end]) {
            before[end] = longest[end].second;
            taken[end] = true;
            --left;
        }
    }
    std::erase_if(sum.tables,
                  [&](const cost_table& table) { return before[ends_of(table).second] != ends_of(table).first; });
    return minimise(sum, none).states;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
