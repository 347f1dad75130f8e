#pragma once
// One step of the elimination: the minimum of some tables over one variable, for all states of its neighbours.

#include <einparallel/cost/numbering.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/solver/solve.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Position of a variable in a sorted list; the length of the list where the variable is not in it.
EINPARALLEL_INLINE std::size_t position_in(const std::vector<std::size_t>& sorted, std::size_t variable) {
    const auto found = std::lower_bound(sorted.begin(), sorted.end(), variable);
    return std::size_t((found != sorted.end() && *found == variable ? found : sorted.end()) - sorted.begin());
}

/// Tables over one variable and its neighbours.
struct bucket {
    std::size_t variable = 0;
    std::shared_ptr<const std::vector<double>> costs;  ///< costs of the variable's states, or null
    std::vector<cost_table> tables;
    std::vector<std::size_t> used;                              ///< numbers of these tables, ascending
    std::vector<std::size_t> scope;                             ///< the neighbours, ascending
    std::vector<std::shared_ptr<const state_classes>> classes;  ///< by neighbour: what the tables tell apart
    std::shared_ptr<const state_classes> own;                   ///< the classes of the variable

    /// Number of combinations of the neighbours' and the variable's classes; any number above `limit` where that is
    /// exceeded.
    EINPARALLEL_INLINE std::size_t cells(std::size_t limit) const {
        std::size_t count = own->count;
        for (const auto& seen : classes) {
            count = count > limit || seen->count > limit / count ? limit + 1 : count * seen->count;
        }
        return count;
    }
};

/// Goes to the next combination of the neighbours' classes; false after the last one.
EINPARALLEL_INLINE bool next_turn(std::vector<std::size_t>& turn,
                                  const std::vector<std::shared_ptr<const state_classes>>& classes) {
    std::size_t position = turn.size();
    while (position > 0 && ++turn[position - 1] == classes[position - 1]->count) {
        turn[--position] = 0;
    }
    return position > 0;
}

/// A table of a bucket, stored in rows: one row for every combination of the table's neighbours. A row has the costs of
/// all classes of the bucket's variable.
struct table_rows {
    std::vector<double> costs;
    /// By neighbour: for each of its classes the offset that the class adds to where a row begins.
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> steps;
};

EINPARALLEL_INLINE table_rows rows_of(const bucket& of, const cost_table& table) {
    table_rows made;
    std::vector<std::size_t> own;  // by class of the variable in the bucket: its class in the table
    std::size_t inner = 1;  // entries of the table per class of the variable: combinations of the variables behind it
    std::size_t rows = 1;
    for (std::size_t position = table.scope.size(); position-- > 0;) {
        const std::size_t neighbour = position_in(of.scope, table.scope[position]);
        const bool is_own = neighbour == of.scope.size();
        const state_classes& fine = is_own ? *of.own : *of.classes[neighbour];
        std::vector<std::size_t> steps(fine.count, 0);
        for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
            steps[std::size_t(fine.of_state[state])] =
                std::size_t(table.classes[position]->of_state[state]) * (is_own ? 1 : rows * of.own->count);
        }
        if (is_own) {
            own = std::move(steps);
            inner = rows;
        } else {
            made.steps.emplace_back(neighbour, std::move(steps));
            rows *= table.classes[position]->count;
        }
    }
    const std::size_t classes = table.cost->size() / rows;
    for (std::size_t row = 0; row < rows; ++row) {
        for (const std::size_t one : own) {
            made.costs.push_back((*table.cost)[(row / inner * classes + one) * inner + row % inner]);
        }
    }
    return made;
}

/// The smallest sum over the states of the variable, for every combination of the neighbours' classes.
EINPARALLEL_INLINE std::vector<double> minimum_over(const bucket& of) {
    std::vector<double> own(of.own->count, of.costs == nullptr ? 0 : std::numeric_limits<double>::infinity());
    for (std::size_t state = 0; of.costs != nullptr && state < of.costs->size(); ++state) {
        double& known = own[std::size_t(of.own->of_state[state])];
        known = std::min(known, (*of.costs)[state]);
    }
    const auto tables = list_of(of.tables, [&](const cost_table& table) { return rows_of(of, table); });
    std::vector<double> minimum;
    std::vector<std::size_t> turn(of.scope.size(), 0);
    std::vector<double> sums;
    do {
        sums = own;
        for (const table_rows& table : tables) {
            const double* row = table.costs.data();
            for (const auto& [neighbour, steps] : table.steps) {
                row += steps[turn[neighbour]];
            }
            for (double& sum : sums) {
                sum += *row++;
            }
        }
        minimum.push_back(*std::min_element(sums.begin(), sums.end()));
    } while (next_turn(turn, of.classes));
    return minimum;
}

/// Works out minima and classes once for equal arguments. Arguments are compared by address, so that they have to stay
/// alive.
class shared_results {
public:
    explicit shared_results(effort_count* effort) : effort_(effort) {}

    /// The minimum over a bucket's variable. Equal buckets get the same table, computed once.
    EINPARALLEL_INLINE std::shared_ptr<const std::vector<double>> minimum(const bucket& of) {
        std::vector<index> key{address(of.costs.get())};
        for (const cost_table& table : of.tables) {
            key.push_back(address(table.cost.get()));
            for (std::size_t position = 0; position < table.scope.size(); ++position) {
                const bool is_own = table.scope[position] == of.variable;
                key.push_back(is_own ? -1 : index(position_in(of.scope, table.scope[position])));
                key.push_back(address(table.classes[position].get()));
            }
            key.push_back(-2);
        }
        return minima_.at(key, [&] {
            const std::size_t before = std::exchange(entries_, entries_ + of.cells(std::size_t{1} << 60U));
            if (effort_ != nullptr) {
                effort_->add(entries_ / 24 - before / 24);
            }
            return std::make_shared<const std::vector<double>>(minimum_over(of));
        });
    }

    /// The coarsest classes that tell apart whatever any of `given` tells apart. Equal arguments get the same result.
    EINPARALLEL_INLINE std::shared_ptr<const state_classes> refined(
        const std::vector<std::shared_ptr<const state_classes>>& given) {
        if (all_in(given, [&](const auto& each) { return each == given.front(); })) {
            return given.front();
        }
        std::vector<index> key = list_of(given, [](const auto& each) { return address(each.get()); });
        return refined_.at(key, [&] {
            state_classes made;
            numbering numbers;
            for (std::size_t state = 0; state < given.front()->of_state.size(); ++state) {
                for (std::size_t number = 0; number < given.size(); ++number) {
                    key[number] = given[number]->of_state[state];
                }
                made.of_state.push_back(int(numbers.number_of(key).first));
            }
            made.count = numbers.size();
            return std::make_shared<const state_classes>(std::move(made));
        });
    }

private:
    EINPARALLEL_INLINE static index address(const void* of) { return reinterpret_cast<index>(of); }

    effort_count* effort_;
    std::size_t entries_ = 0;  // of tables that were looked at
    memo<std::shared_ptr<const std::vector<double>>> minima_;
    memo<std::shared_ptr<const state_classes>> refined_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
