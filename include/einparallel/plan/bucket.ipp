#pragma once
// One step of the elimination: the minimum over one variable for all that its neighbours can do.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Position of a variable in a sorted list; the list's length where it is not there.
EINPARALLEL_INLINE std::size_t position_in(const std::vector<std::size_t>& sorted, std::size_t variable) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), variable);
    return static_cast<std::size_t>((place != sorted.end() && *place == variable ? place : sorted.end()) -
                                    sorted.begin());
}

/// Coarsest classes that tell apart whatever any of `parts` tells apart.
EINPARALLEL_INLINE std::shared_ptr<const state_classes> common_refinement(
    const std::vector<std::shared_ptr<const state_classes>>& parts) {
    if (std::ranges::all_of(parts, [&](const auto& part) { return part == parts.front(); })) {
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

/// A table as the elimination of one of its variables reads it: a row over the classes of that variable for every
/// combination of the others.
struct table_rows {
    std::vector<double> costs;
    std::vector<std::size_t> steps;  ///< by neighbour: what one class further adds to the row; 0 where it is not known
};

EINPARALLEL_INLINE table_rows rows_of(const cost_table& table, std::size_t variable, const std::vector<int>& order,
                                      const state_classes& own, const std::vector<std::size_t>& scope,
                                      const std::vector<std::shared_ptr<const state_classes>>& classes) {
    // By place of the table's scope: where a (refined) class leads.
    std::vector<std::vector<std::size_t>> offsets(table.scope.size());
    std::vector<std::size_t> own_offsets;
    table_rows made{{}, std::vector<std::size_t>(scope.size(), 0)};
    std::size_t stride = 1;
    std::size_t row = own.count;
    for (std::size_t place = table.scope.size(); place-- > 0;) {
        const bool is_own = table.scope[place] == variable;
        const std::size_t other = position_in(scope, table.scope[place]);
        const state_classes& fine = is_own ? own : *classes[other];
        const state_classes& coarse = *table.classes[place];
        std::vector<std::size_t>& steps = is_own ? own_offsets : offsets[place];
        steps.resize(fine.count, 0);
        for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
            steps[static_cast<std::size_t>(fine.of_state[state])] =
                stride * static_cast<std::size_t>(coarse.of_state[state]);
        }
        if (!is_own) {
            made.steps[other] = row;
            row *= fine.count;
        }
        stride *= coarse.count;
    }
    made.costs.resize(row);
    std::vector<std::size_t> turn(table.scope.size(), 0);
    for (std::size_t begin = 0; begin < row; begin += own.count) {
        std::size_t base = 0;
        for (std::size_t place = 0; place < turn.size(); ++place) {
            base += offsets[place].empty() ? 0 : offsets[place][turn[place]];
        }
        for (std::size_t one = 0; one < own.count; ++one) {
            made.costs[begin + one] = (*table.cost)[base + own_offsets[static_cast<std::size_t>(order[one])]];
        }
        for (std::size_t place = turn.size(); place-- > 0;) {
            if (!offsets[place].empty() && ++turn[place] < offsets[place].size()) {
                break;
            }
            turn[place] = 0;
        }
    }
    return made;
}

/// For every combination of the classes of the neighbours `scope` the smallest sum of `used` over the states of a
/// variable with these costs, which the tables see as `own` classes.
EINPARALLEL_INLINE std::vector<double> minimum_over(std::size_t variable, const std::vector<double>& costs,
                                                    const state_classes& own,
                                                    const std::vector<const cost_table*>& used,
                                                    const std::vector<std::size_t>& scope,
                                                    const std::vector<std::shared_ptr<const state_classes>>& classes) {
    constexpr std::size_t side = 16;  // sums that are worked on side by side: the loops over them are vectorised
    const std::size_t padded = (own.count + side - 1) / side * side;
    std::vector<double> alone(own.count, std::numeric_limits<double>::infinity());
    for (std::size_t state = 0; state < own.of_state.size(); ++state) {
        double& least = alone[static_cast<std::size_t>(own.of_state[state])];
        least = std::min(least, costs[state]);
    }
    std::vector<const cost_table*> wide;
    for (const cost_table* table : used) {
        if (table->scope.size() > 1) {
            wide.push_back(table);
            continue;
        }
        std::vector<double> more(own.count, 0);
        for (std::size_t state = 0; state < own.of_state.size(); ++state) {
            const auto seen = static_cast<std::size_t>(table->classes.front()->of_state[state]);
            more[static_cast<std::size_t>(own.of_state[state])] = (*table->cost)[seen];
        }
        std::transform(alone.begin(), alone.end(), more.begin(), alone.begin(), std::plus<>());
    }
    // The cheapest first: where the least of the rest exceeds the best sum, so do the sums.
    std::vector<ranked> by_cost;
    for (std::size_t one = 0; one < own.count; ++one) {
        by_cost.emplace_back(alone[one], one);
    }
    sort_range(by_cost);
    std::vector<int> order;
    std::vector<double> first(padded, std::numeric_limits<double>::infinity());
    for (std::size_t one = 0; one < own.count; ++one) {
        order.push_back(static_cast<int>(by_cost[one].second));
        first[one] = by_cost[one].first;
    }
    std::vector<table_rows> rows;
    for (const cost_table* table : wide) {
        rows.push_back(rows_of(*table, variable, order, own, scope, classes));
    }
    std::vector<double> minimum;
    std::vector<std::size_t> turn(scope.size(), 0);
    std::vector<const double*> at(rows.size());
    for (bool more = true; more;) {
        for (std::size_t row = 0; row < rows.size(); ++row) {
            at[row] = rows[row].costs.data();
            for (std::size_t other = 0; other < scope.size(); ++other) {
                at[row] += turn[other] * rows[row].steps[other];
            }
        }
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t begin = 0; begin < own.count && first[begin] < least; begin += side) {
            std::array<double, side> sums{};
            std::copy_n(first.data() + begin, side, sums.data());
            if (begin + side <= own.count) {
                for (const double* const row : at) {
                    for (std::size_t one = 0; one < side; ++one) {
                        sums[one] += row[begin + one];
                    }
                }
            } else {
                for (const double* const row : at) {
                    for (std::size_t one = 0; begin + one < own.count; ++one) {
                        sums[one] += row[begin + one];
                    }
                }
            }
            for (std::size_t one = 0; one < side; ++one) {
                least = sums[one] < least ? sums[one] : least;
            }
        }
        minimum.push_back(least);
        std::size_t other = scope.size();
        while (other > 0 && ++turn[other - 1] == classes[other - 1]->count) {
            turn[--other] = 0;
        }
        more = other > 0;
    }
    return minimum;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
