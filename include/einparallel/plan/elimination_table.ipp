#pragma once
// Tables of the elimination: sums over the classes of several variables, and how one variable's elimination reads them.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/pairwise.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A table over the classes of several variables, row-major in the order of `scope`.
struct elimination_table {
    std::vector<std::size_t> scope;
    std::vector<std::shared_ptr<const state_classes>> classes;
    std::shared_ptr<const std::vector<double>> cost;
    bool alive = true;
    std::size_t weight = 0;  ///< variables that were eliminated into it
};

/// Position of a variable in a sorted list; the list's length where it is not there.
EINPARALLEL_INLINE std::size_t position_in(const std::vector<std::size_t>& sorted, std::size_t variable) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), variable);
    return static_cast<std::size_t>((place != sorted.end() && *place == variable ? place : sorted.end()) -
                                    sorted.begin());
}

/// Coarsest classes that tell apart whatever any of `parts` tells apart.
EINPARALLEL_INLINE std::shared_ptr<const state_classes> common_refinement(
    const std::vector<std::shared_ptr<const state_classes>>& parts) {
    bool equal = true;
    for (const auto& part : parts) {
        equal = equal && part == parts.front();
    }
    if (equal) {
        return parts.front();
    }
    auto refined = std::make_shared<state_classes>();
    numbering numbers;
    std::vector<index> key(parts.size());
    for (std::size_t state = 0; state < parts.front()->of_state.size(); ++state) {
        for (std::size_t part = 0; part < parts.size(); ++part) {
            key[part] = parts[part]->of_state[state];
        }
        refined->of_state.push_back(static_cast<int>(numbers.number_of(key).first));
    }
    refined->count = numbers.size();
    return refined;
}

/// A table, and what a class of the variable or of a neighbour adds to the position in it.
struct table_reading {
    const double* cost = nullptr;
    std::vector<std::size_t> own;
    std::vector<std::vector<std::size_t>> others;  ///< by neighbour; empty where the table does not know it
    bool own_in_order = false;                     ///< own classes lie one behind the other
    bool first_in_order = false;                   ///< classes of the first neighbour do

    [[nodiscard]] bool knows_first() const { return !others.empty() && !others.front().empty(); }
};

EINPARALLEL_INLINE table_reading reading_of(std::size_t variable, const elimination_table& table,
                                            const state_classes& own, const std::vector<std::size_t>& scope,
                                            const std::vector<std::shared_ptr<const state_classes>>& classes) {
    table_reading made;
    made.cost = table.cost->data();
    made.own.assign(own.count, 0);
    made.others.resize(scope.size());
    std::size_t stride = 1;
    for (std::size_t place = table.scope.size(); place-- > 0;) {
        const bool is_own = table.scope[place] == variable;
        const std::size_t other = position_in(scope, table.scope[place]);
        const state_classes& fine = is_own ? own : *classes[other];
        const state_classes& coarse = *table.classes[place];
        std::vector<std::size_t>& steps = is_own ? made.own : made.others[other];
        steps.resize(fine.count, 0);
        for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
            steps[static_cast<std::size_t>(fine.of_state[state])] =
                stride * static_cast<std::size_t>(coarse.of_state[state]);
        }
        stride *= coarse.count;
    }
    const auto in_order = [](const std::vector<std::size_t>& steps) {
        std::size_t expected = 0;
        return std::all_of(steps.begin(), steps.end(), [&](std::size_t step) { return step == expected++; });
    };
    made.own_in_order = in_order(made.own);
    made.first_in_order = made.knows_first() && in_order(made.others.front());
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
