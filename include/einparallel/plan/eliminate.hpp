#pragma once
// The exact minimum of a pairwise model, by eliminating one variable after the other.

#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/pairwise.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// How large tables may grow before exact elimination gives up.
struct elimination_limits {
    std::size_t cells = std::size_t{1} << 22;   ///< entries of one table
    std::size_t visits = std::size_t{1} << 33;  ///< table look-ups in all: seconds
};

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

/// Eliminates the variables of a model in min-fill order. On a tree this is the dynamic programme of EinDecomp §8.2
/// (every vertex has one neighbour left when its turn comes); on a general DAG a table over the remaining neighbours
/// takes the place of M[v, d_Z].
template <class Lazy = void>
class elimination {
public:
    elimination(const pairwise_model& model, elimination_limits limits) : limits_(limits) {
        const std::size_t count = model.variables.size();
        variables_ = model.variables;
        touching_.resize(count);
        neighbours_.resize(count);
        priority_.resize(count);
        for (const pairwise_term& term : model.terms) {
            add({{term.producer, term.consumer}, {term.of_producer, term.of_consumer}, term.cost, true});
        }
        for (const wide_term& term : model.wide) {
            add({term.scope, term.classes, term.cost, true});
        }
        for (std::size_t variable = 0; variable < count; ++variable) {
            priority_[variable] = priority_of(variable);
            queue_.insert(priority_[variable]);
        }
    }

    /// One state per variable with the smallest sum; nothing where a table would grow past the limits.
    std::optional<std::vector<int>> run() {
        while (!queue_.empty()) {
            const std::size_t next = queue_.begin()->back();
            queue_.erase(queue_.begin());
            if (!eliminate(next)) {
                return std::nullopt;
            }
        }
        std::vector<int> states(variables_.size(), 0);
        for (std::size_t step = eliminated_.size(); step-- > 0;) {
            const decision& made = eliminated_[step];
            std::size_t cell = 0;
            for (std::size_t other = 0; other < made.scope.size(); ++other) {
                const auto state = static_cast<std::size_t>(states[made.scope[other]]);
                cell =
                    cell * made.classes[other]->count + static_cast<std::size_t>(made.classes[other]->of_state[state]);
            }
            states[made.variable] = made.best[cell];
        }
        return states;
    }

private:
    /// A table over the classes of several variables, row-major in the order of `scope`.
    struct table {
        std::vector<std::size_t> scope;
        std::vector<std::shared_ptr<const state_classes>> classes;
        std::shared_ptr<const std::vector<double>> cost;
        bool alive = true;
    };

    /// The best state of an eliminated variable for every cell of its neighbours' classes.
    struct decision {
        std::size_t variable = 0;
        std::vector<std::size_t> scope;
        std::vector<std::shared_ptr<const state_classes>> classes;
        std::vector<std::int32_t> best;
    };

    using priority = std::array<std::size_t, 3>;  // fill, degree, variable

    void add(table fresh) {
        for (const std::size_t variable : fresh.scope) {
            touching_[variable].push_back(tables_.size());
            for (const std::size_t other : fresh.scope) {
                std::vector<std::size_t>& known = neighbours_[variable];
                if (other != variable && position_in(known, other) == known.size()) {
                    known.insert(std::lower_bound(known.begin(), known.end(), other), other);
                }
            }
        }
        tables_.push_back(std::move(fresh));
    }

    /// Position of a variable in a sorted list; the list's length where it is not there.
    static std::size_t position_in(const std::vector<std::size_t>& sorted, std::size_t variable) {
        const auto place = std::lower_bound(sorted.begin(), sorted.end(), variable);
        return static_cast<std::size_t>((place != sorted.end() && *place == variable ? place : sorted.end()) -
                                        sorted.begin());
    }

    [[nodiscard]] priority priority_of(std::size_t variable) const {
        constexpr std::size_t counted = 12;  // beyond, the exact fill does not matter: such a variable comes last
        const std::vector<std::size_t>& near = neighbours_[variable];
        std::size_t fill = near.size() > counted ? near.size() * near.size() : 0;
        for (std::size_t a = 0; a < near.size() && near.size() <= counted; ++a) {
            for (std::size_t b = a + 1; b < near.size(); ++b) {
                fill += position_in(neighbours_[near[a]], near[b]) < neighbours_[near[a]].size() ? 0 : 1;
            }
        }
        return {fill, near.size(), variable};
    }

    void refresh(std::size_t variable) {
        const priority now = priority_of(variable);
        if (now != priority_[variable] && queue_.erase(priority_[variable]) > 0) {
            queue_.insert(now);
            priority_[variable] = now;
        }
    }

    bool eliminate(std::size_t variable) {
        // Tables that end here, and for every variable in them the classes that all of them together tell apart.
        std::vector<std::size_t> used;
        decision made;
        made.variable = variable;
        made.scope = neighbours_[variable];
        std::vector<std::vector<std::shared_ptr<const state_classes>>> seen(made.scope.size() + 1);  // own ones last
        for (const std::size_t number : touching_[variable]) {
            if (tables_[number].alive) {
                used.push_back(number);
                for (std::size_t place = 0; place < tables_[number].scope.size(); ++place) {
                    seen[position_in(made.scope, tables_[number].scope[place])].push_back(
                        tables_[number].classes[place]);
                }
            }
        }
        std::size_t cells = 1;
        for (std::size_t other = 0; other < made.scope.size(); ++other) {
            made.classes.push_back(common_refinement(seen[other]));
            if (made.classes.back()->count > limits_.cells / cells) {
                return false;
            }
            cells *= made.classes.back()->count;
        }
        if (seen.back().empty()) {
            auto alike = std::make_shared<state_classes>();
            alike->of_state.assign(variables_[variable]->size(), 0);
            alike->count = 1;
            seen.back().push_back(std::move(alike));
        }
        const std::shared_ptr<const state_classes> own = common_refinement(seen.back());
        if (cells * own->count > limits_.visits / std::max<std::size_t>(used.size(), 1)) {
            return false;
        }
        limits_.visits -= cells * own->count * used.size();
        std::vector<double> minimum = minimise(variable, *own, used, cells, made);

        for (const std::size_t number : used) {
            tables_[number].alive = false;
            tables_[number].cost.reset();
        }
        const std::vector<std::size_t> near = std::exchange(neighbours_[variable], {});
        for (const std::size_t other : near) {
            std::vector<std::size_t>& known = neighbours_[other];
            known.erase(std::lower_bound(known.begin(), known.end(), variable));
        }
        if (made.scope.size() == 1) {
            auto sum = std::make_shared<std::vector<double>>(*variables_[made.scope.front()]);
            for (std::size_t state = 0; state < sum->size(); ++state) {
                (*sum)[state] += minimum[static_cast<std::size_t>(made.classes.front()->of_state[state])];
            }
            variables_[made.scope.front()] = std::move(sum);
        } else if (made.scope.size() > 1) {
            add({made.scope, made.classes, std::make_shared<const std::vector<double>>(std::move(minimum)), true});
        }
        for (const std::size_t other : near) {
            refresh(other);
            for (const std::size_t further : near.size() > 1 ? neighbours_[other] : std::vector<std::size_t>{}) {
                refresh(further);
            }
        }
        variables_[variable].reset();
        eliminated_.push_back(std::move(made));
        return true;
    }

    /// For every cell of the neighbours' classes the smallest sum over the states of `variable`; notes which state.
    std::vector<double> minimise(std::size_t variable, const state_classes& own, const std::vector<std::size_t>& used,
                                 std::size_t cells, decision& made) const {
        std::vector<double> alone(own.count, std::numeric_limits<double>::infinity());
        std::vector<std::int32_t> cheapest(own.count, 0);
        for (std::size_t state = 0; state < own.of_state.size(); ++state) {
            const auto group = static_cast<std::size_t>(own.of_state[state]);
            if (better((*variables_[variable])[state], alone[group])) {
                alone[group] = (*variables_[variable])[state];
                cheapest[group] = static_cast<std::int32_t>(state);
            }
        }
        // What a class of each neighbour, and of the variable itself, adds to the position in each table.
        std::vector<std::vector<std::vector<std::size_t>>> shift(made.scope.size());
        std::vector<std::vector<std::size_t>> own_shift(used.size(), std::vector<std::size_t>(own.count, 0));
        for (std::size_t other = 0; other < made.scope.size(); ++other) {
            shift[other].assign(made.classes[other]->count, std::vector<std::size_t>(used.size(), 0));
        }
        for (std::size_t position = 0; position < used.size(); ++position) {
            const table& read = tables_[used[position]];
            std::size_t stride = 1;
            for (std::size_t place = read.scope.size(); place-- > 0;) {
                const bool is_own = read.scope[place] == variable;
                const std::size_t other = position_in(made.scope, read.scope[place]);
                const state_classes& fine = is_own ? own : *made.classes[other];
                const state_classes& coarse = *read.classes[place];
                for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
                    const auto group = static_cast<std::size_t>(fine.of_state[state]);
                    const std::size_t step = stride * static_cast<std::size_t>(coarse.of_state[state]);
                    (is_own ? own_shift[position][group] : shift[other][group][position]) = step;
                }
                stride *= coarse.count;
            }
        }
        made.best.assign(cells, 0);
        if (used.size() == 1 && made.scope.size() == 1 && tables_[used.front()].scope.front() == variable) {
            return minimise_rows(tables_[used.front()], own_shift.front(), shift.front(), alone, cheapest, made);
        }
        std::vector<double> minimum(cells, 0);
        std::vector<std::size_t> cell_classes(made.scope.size(), 0);
        std::vector<double> sums(own.count);
        for (std::size_t cell = 0; cell < cells; ++cell) {
            sums = alone;
            for (std::size_t position = 0; position < used.size(); ++position) {
                std::size_t base = 0;
                for (std::size_t other = 0; other < made.scope.size(); ++other) {
                    base += shift[other][cell_classes[other]][position];
                }
                const double* const cost = tables_[used[position]].cost->data() + base;
                for (std::size_t group = 0; group < own.count; ++group) {
                    sums[group] += cost[own_shift[position][group]];
                }
            }
            std::size_t best = 0;
            for (std::size_t group = 1; group < own.count; ++group) {
                best = better(sums[group], sums[best]) ? group : best;
            }
            minimum[cell] = sums[best];
            made.best[cell] = cheapest[best];
            for (std::size_t other = made.scope.size(); other-- > 0;) {
                if (++cell_classes[other] < made.classes[other]->count) {
                    break;
                }
                cell_classes[other] = 0;
            }
        }
        return minimum;
    }

    /// The case of a chain, in the order in which its one table lies in memory: a row per class of the variable.
    static std::vector<double> minimise_rows(const table& read, const std::vector<std::size_t>& row_of,
                                             const std::vector<std::vector<std::size_t>>& column_of,
                                             const std::vector<double>& alone,
                                             const std::vector<std::int32_t>& cheapest, decision& made) {
        std::vector<double> minimum(made.best.size(), std::numeric_limits<double>::max());
        for (std::size_t group = 0; group < alone.size(); ++group) {
            const double* const row = read.cost->data() + row_of[group];
            for (std::size_t cell = 0; cell < minimum.size(); ++cell) {
                const double cost = alone[group] + row[column_of[cell].front()];
                const bool take = better(cost, minimum[cell]);
                minimum[cell] = take ? cost : minimum[cell];
                made.best[cell] = take ? cheapest[group] : made.best[cell];
            }
        }
        return minimum;
    }

    elimination_limits limits_;
    std::vector<std::shared_ptr<const std::vector<double>>> variables_;
    std::vector<table> tables_;
    std::vector<std::vector<std::size_t>> touching_;    // numbers of tables, by variable
    std::vector<std::vector<std::size_t>> neighbours_;  // sorted
    std::vector<priority> priority_;
    std::set<priority> queue_;
    std::vector<decision> eliminated_;
};

/// The states with the smallest sum, exactly; nothing where that takes tables past the limits.
template <class Lazy = void>
std::optional<std::vector<int>> minimise_exactly(const pairwise_model& model, elimination_limits limits = {}) {
    return elimination<Lazy>(model, limits).run();
}

}  // namespace einparallel::detail
