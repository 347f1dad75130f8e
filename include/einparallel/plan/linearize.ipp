#pragma once
// The paper's linearisation (EinDecomp §8.4): the longest path first, then the longest path of what is left, and so on.
// Each path is a chain, which dynamic programming solves exactly; edges that leave it are not looked at.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One state per variable. Tables that know more than two variables are left out, and so are edges between paths.
/// Variables are numbered in topological order.
EINPARALLEL_INLINE std::vector<int> minimise_along_paths(const cost_sum& sum) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    const std::size_t count = sum.variables.size();
    std::vector<std::vector<std::size_t>> entering(count);  // numbers of tables, by the later variable
    for (std::size_t number = 0; number < sum.tables.size(); ++number) {
        if (sum.tables[number].scope.size() == 2) {
            entering[sum.tables[number].scope.back()].push_back(number);
        }
    }
    std::vector<int> states(count, 0);
    std::vector<bool> taken(count, false);
    std::vector<std::size_t> length(count, 0);  // vertices on the longest path that ends here
    std::vector<std::size_t> before(count, none);
    for (std::size_t left = count; left > 0;) {
        std::size_t end = none;
        for (std::size_t variable = 0; variable < count; ++variable) {
            if (taken[variable]) {
                continue;
            }
            length[variable] = 1;
            before[variable] = none;
            for (const std::size_t number : entering[variable]) {
                const std::size_t maker = sum.tables[number].scope.front();
                if (!taken[maker] && length[maker] + 1 > length[variable]) {
                    length[variable] = length[maker] + 1;
                    before[variable] = maker;
                }
            }
            end = end == none || length[variable] > length[end] ? variable : end;
        }
        std::vector<std::size_t> path;
        for (std::size_t variable = end; variable != none; variable = before[variable]) {
            path.push_back(variable);
            taken[variable] = true;
        }
        std::reverse(path.begin(), path.end());
        cost_sum line;
        for (std::size_t place = 0; place < path.size(); ++place) {
            line.variables.push_back(sum.variables[path[place]]);
            for (const std::size_t number : entering[path[place]]) {
                if (place > 0 && sum.tables[number].scope.front() == path[place - 1]) {
                    line.tables.push_back(sum.tables[number]);
                    line.tables.back().scope = {place - 1, place};
                }
            }
        }
        const minimum least = minimise(line, none);
        for (std::size_t place = 0; place < path.size(); ++place) {
            states[path[place]] = least.states[place];
        }
        left -= path.size();
    }
    return states;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
