#pragma once
// The paper's linearisation (EinDecomp §8.4): the longest path first, then the longest path of what is left, and so on.
// Each path is a chain, which dynamic programming solves exactly; edges that leave it are not looked at.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One state per variable. Tables that know more than two variables are left out, and so are edges between paths.
/// Variables are numbered in topological order.
EINPARALLEL_INLINE std::vector<int> minimise_along_paths(const cost_sum& sum) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    const std::size_t count = sum.variables.size();
    std::vector<std::vector<const cost_table*>> entering(count);  // by the later variable
    for (const cost_table& table : sum.tables) {
        if (table.scope.size() == 2) {
            entering[table.scope.back()].push_back(&table);
        }
    }
    std::vector<int> states(count, 0);
    std::vector<bool> taken(count, false);
    for (;;) {
        std::vector<std::pair<std::size_t, std::size_t>> longest(count,
                                                                 {0, none});  // vertices of a path, the one before
        std::size_t end = none;
        for (std::size_t variable = 0; variable < count; ++variable) {
            for (const cost_table* table : taken[variable] ? std::vector<const cost_table*>{} : entering[variable]) {
                const std::size_t maker = table->scope.front();
                if (longest[maker].first > longest[variable].first) {
                    longest[variable] = {longest[maker].first, maker};
                }
            }
            longest[variable].first += taken[variable] ? 0 : 1;
            end = !taken[variable] && (end == none || longest[variable].first > longest[end].first) ? variable : end;
        }
        if (end == none) {
            return states;
        }
        std::vector<std::size_t> path;
        for (; end != none; end = longest[end].second) {
            path.insert(path.begin(), end);
            taken[end] = true;
        }
        cost_sum line;
        for (std::size_t place = 0; place < path.size(); ++place) {
            line.variables.push_back(sum.variables[path[place]]);
            for (const cost_table* table : entering[path[place]]) {
                if (place > 0 && table->scope.front() == path[place - 1]) {
                    line.tables.push_back(*table);
                    line.tables.back().scope = {place - 1, place};
                }
            }
        }
        const minimum least = minimise(line, none);
        for (std::size_t place = 0; place < path.size(); ++place) {
            states[path[place]] = least.states[place];
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
