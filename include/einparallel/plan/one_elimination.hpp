#pragma once
// One step of the elimination: the minimum over one variable for all that its neighbours can do.

#include <einparallel/kernel/sort_later.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/pairwise.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// A table over the classes of several variables, row-major in the order of `scope`.
struct elimination_table {
    std::vector<std::size_t> scope;
    std::vector<std::shared_ptr<const state_classes>> classes;
    std::shared_ptr<const std::vector<double>> cost;
    bool alive = true;
    std::size_t weight = 0;  ///< variables that were eliminated into it
};

/// Position of a variable in a sorted list; the list's length where it is not there.
inline std::size_t position_in(const std::vector<std::size_t>& sorted, std::size_t variable) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), variable);
    return static_cast<std::size_t>((place != sorted.end() && *place == variable ? place : sorted.end()) -
                                    sorted.begin());
}

/// Coarsest classes that tell apart whatever any of `parts` tells apart.
template <class Lazy = void>
std::shared_ptr<const state_classes> common_refinement(const std::vector<std::shared_ptr<const state_classes>>& parts) {
    bool equal = true;
    for (const auto& part : parts) {
        equal = equal && part == parts.front();
    }
    if (equal) {
        return parts.front();
    }
    auto refined = std::make_shared<state_classes>();
    numbering<Lazy> numbers;
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

/// Minimises over one variable.
template <class Lazy = void>
class one_elimination {
public:
    /// The variable has these costs and appears in the `used` tables, which see its states as `own` classes; its
    /// neighbours `scope` have `classes`, and `cells` combinations of them.
    one_elimination(std::size_t variable, const std::vector<double>& costs, const state_classes& own,
                    std::vector<const elimination_table*> used, const std::vector<std::size_t>& scope,
                    const std::vector<std::shared_ptr<const state_classes>>& classes, std::size_t cells)
        : variable_(variable),
          costs_(costs),
          own_(own),
          used_(std::move(used)),
          scope_(scope),
          classes_(classes),
          cells_(cells) {}

    /// For every cell of the neighbours' classes the smallest sum over the states of the variable; notes which state.
    [[nodiscard]] std::vector<double> run() {
        std::vector<double> alone(own_.count, std::numeric_limits<double>::infinity());
        std::vector<std::int32_t> cheapest(own_.count, 0);
        for (std::size_t state = 0; state < own_.of_state.size(); ++state) {
            const auto group = static_cast<std::size_t>(own_.of_state[state]);
            if (better(costs_[state], alone[group])) {
                alone[group] = costs_[state];
                cheapest[group] = static_cast<std::int32_t>(state);
            }
        }
        // What a class of each neighbour, and of the variable itself, adds to the position in each table.
        std::vector<std::vector<std::vector<std::size_t>>> shift(scope_.size());
        std::vector<std::vector<std::size_t>> shift_of_own(used_.size(), std::vector<std::size_t>(own_.count, 0));
        for (std::size_t other = 0; other < scope_.size(); ++other) {
            shift[other].assign(classes_[other]->count, std::vector<std::size_t>(used_.size(), 0));
        }
        for (std::size_t position = 0; position < used_.size(); ++position) {
            const elimination_table& read = *used_[position];
            std::size_t stride = 1;
            for (std::size_t place = read.scope.size(); place-- > 0;) {
                const bool is_own = read.scope[place] == variable_;
                const std::size_t other = position_in(scope_, read.scope[place]);
                const state_classes& fine = is_own ? own_ : *classes_[other];
                const state_classes& coarse = *read.classes[place];
                for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
                    const auto group = static_cast<std::size_t>(fine.of_state[state]);
                    const std::size_t step = stride * static_cast<std::size_t>(coarse.of_state[state]);
                    (is_own ? shift_of_own[position][group] : shift[other][group][position]) = step;
                }
                stride *= coarse.count;
            }
        }
        best_.assign(cells_, 0);
        if (used_.size() == 1 && scope_.size() == 1 && used_.front()->scope.front() == variable_) {
            return rows(*used_.front(), shift_of_own.front(), shift.front(), alone, cheapest);
        }
        // For one class of the first neighbour the own classes are sorted by what is known by then: where that alone
        // exceeds the best sum of a cell, so do all that follow.
        std::vector<double> minimum(cells_, 0);
        std::vector<std::size_t> cell_classes(scope_.size(), 0);
        std::vector<ranked> order(own_.count);
        std::vector<std::size_t> late;
        std::vector<const double*> cost(used_.size());
        const std::size_t inner = scope_.empty() ? 1 : cells_ / classes_.front()->count;
        for (std::size_t position = 0; position < used_.size(); ++position) {
            const std::vector<std::size_t>& scope = used_[position]->scope;
            if (std::any_of(scope.begin(), scope.end(),
                            [&](std::size_t of) { return of != variable_ && of != scope_.front(); })) {
                late.push_back(position);
            }
        }
        for (std::size_t cell = 0; cell < cells_; ++cell) {
            for (std::size_t position = 0; position < used_.size(); ++position) {
                cost[position] = used_[position]->cost->data();
                for (std::size_t other = 0; other < scope_.size(); ++other) {
                    cost[position] += shift[other][cell_classes[other]][position];
                }
            }
            if (cell % inner == 0) {
                for (std::size_t group = 0; group < own_.count; ++group) {
                    order[group] = {alone[group], group};
                    for (std::size_t position = 0; position < used_.size(); ++position) {
                        if (std::find(late.begin(), late.end(), position) == late.end()) {
                            order[group].first += cost[position][shift_of_own[position][group]];
                        }
                    }
                }
                if (!late.empty()) {
                    sort_later<Lazy>(order);
                }
            }
            double least = std::numeric_limits<double>::infinity();
            std::size_t best = 0;
            for (const auto& [early, group] : order) {
                if (!better(early, least)) {
                    if (late.empty()) {
                        continue;
                    }
                    break;
                }
                double sum = early;
                for (const std::size_t position : late) {
                    sum += cost[position][shift_of_own[position][group]];
                }
                if (better(sum, least)) {
                    least = sum;
                    best = group;
                }
            }
            minimum[cell] = least;
            best_[cell] = cheapest[best];
            for (std::size_t other = scope_.size(); other-- > 0;) {
                if (++cell_classes[other] < classes_[other]->count) {
                    break;
                }
                cell_classes[other] = 0;
            }
        }
        return minimum;
    }

    /// The best state for every cell.
    [[nodiscard]] std::vector<std::int32_t> best() && { return std::move(best_); }

private:
    /// The case of a chain, in the order in which its one table lies in memory: a row per class of the variable.
    std::vector<double> rows(const elimination_table& read, const std::vector<std::size_t>& row_of,
                             const std::vector<std::vector<std::size_t>>& column_of, const std::vector<double>& alone,
                             const std::vector<std::int32_t>& cheapest) {
        std::vector<double> minimum(best_.size(), std::numeric_limits<double>::max());
        for (std::size_t group = 0; group < alone.size(); ++group) {
            const double* const row = read.cost->data() + row_of[group];
            for (std::size_t cell = 0; cell < minimum.size(); ++cell) {
                const double cost = alone[group] + row[column_of[cell].front()];
                const bool take = better(cost, minimum[cell]);
                minimum[cell] = take ? cost : minimum[cell];
                best_[cell] = take ? cheapest[group] : best_[cell];
            }
        }
        return minimum;
    }

    std::size_t variable_;
    const std::vector<double>& costs_;
    const state_classes& own_;
    std::vector<const elimination_table*> used_;
    const std::vector<std::size_t>& scope_;
    const std::vector<std::shared_ptr<const state_classes>>& classes_;
    std::size_t cells_;
    std::vector<std::int32_t> best_;
};

}  // namespace einparallel::detail
