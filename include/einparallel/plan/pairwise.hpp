#pragma once
// A sum of terms over vertices and over edges of a graph, and its exact minimum by eliminating one vertex after the
// other.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// Class of every state of a variable. Two states of one class look alike to whoever shares the table: M[v, d_Z] of the
/// paper has one entry per output partitioning, whatever the contracted labels do.
struct state_classes {
    std::vector<int> of_state;
    std::size_t count = 0;
};

/// A term that depends on two variables through the classes of their states.
struct pairwise_term {
    std::size_t producer = 0;  ///< the smaller variable: variables are numbered in topological order
    std::size_t consumer = 0;
    std::shared_ptr<const state_classes> of_producer;
    std::shared_ptr<const state_classes> of_consumer;
    std::shared_ptr<const std::vector<double>> cost;  ///< row per class of the producer

    [[nodiscard]] double at(int producer_state, int consumer_state) const {
        const auto row = static_cast<std::size_t>(of_producer->of_state[static_cast<std::size_t>(producer_state)]);
        const auto column = static_cast<std::size_t>(of_consumer->of_state[static_cast<std::size_t>(consumer_state)]);
        return (*cost)[row * of_consumer->count + column];
    }
};

/// Variables with finitely many states, a cost per state, and a cost per pair of states for some pairs of variables.
/// All costs are finite and not negative. Equal tables are shared, so a loop of a thousand layers stores one.
struct pairwise_model {
    std::vector<std::shared_ptr<const std::vector<double>>> variables;
    std::vector<pairwise_term> terms;
};

/// Costs closer than this, relatively, are ties, and the first state wins: compilers that fuse multiplications with
/// additions round differently, and all ranks have to decide alike.
inline constexpr double tie = 1e-13;

/// True where `cost` beats `best` by more than rounding.
constexpr bool better(double cost, double best) {
    return cost < best - best * tie || (best == std::numeric_limits<double>::infinity() && cost < best);
}

/// The sum of all terms for one state per variable.
inline double total_cost(const pairwise_model& model, std::span<const int> states) {
    double sum = 0;
    for (std::size_t variable = 0; variable < model.variables.size(); ++variable) {
        sum += (*model.variables[variable])[static_cast<std::size_t>(states[variable])];
    }
    for (const pairwise_term& term : model.terms) {
        sum += term.at(states[term.producer], states[term.consumer]);
    }
    return sum;
}

/// How large tables may grow before exact elimination gives up.
struct elimination_limits {
    std::size_t cells = std::size_t{1} << 22;   ///< entries of one table
    std::size_t visits = std::size_t{1} << 29;  ///< table look-ups for one elimination
};

/// Coarsest classes that tell apart whatever any of `parts` tells apart.
inline std::shared_ptr<const state_classes> common_refinement(
    const std::vector<std::shared_ptr<const state_classes>>& parts) {
    bool equal = true;
    for (const auto& part : parts) {
        equal = equal && part == parts.front();
    }
    if (equal) {
        return parts.front();
    }
    auto refined = std::make_shared<state_classes>();
    std::map<std::vector<int>, int> numbers;
    std::vector<int> key(parts.size());
    for (std::size_t state = 0; state < parts.front()->of_state.size(); ++state) {
        for (std::size_t part = 0; part < parts.size(); ++part) {
            key[part] = parts[part]->of_state[state];
        }
        const auto [found, fresh] = numbers.try_emplace(key, static_cast<int>(numbers.size()));
        refined->of_state.push_back(found->second);
    }
    refined->count = numbers.size();
    return refined;
}

/// Eliminates the variables of a model in min-fill order. On a tree this is the dynamic programme of EinDecomp §8.2
/// (every vertex has one neighbour left when its turn comes); on a general DAG a table over the remaining neighbours
/// takes the place of M[v, d_Z].
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
        for (std::size_t variable = 0; variable < count; ++variable) {
            priority_[variable] = priority_of(variable);
            queue_.insert(priority_[variable]);
        }
    }

    /// One state per variable with the smallest sum; nothing where a table would grow past the limits.
    std::optional<std::vector<int>> run() {
        while (!queue_.empty()) {
            const std::size_t next = std::get<2>(*queue_.begin());
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

    using priority = std::tuple<std::size_t, std::size_t, std::size_t>;  // fill, degree, variable

    void add(table fresh) {
        for (const std::size_t variable : fresh.scope) {
            touching_[variable].push_back(tables_.size());
            for (const std::size_t other : fresh.scope) {
                std::vector<std::size_t>& known = neighbours_[variable];
                const auto place = std::ranges::lower_bound(known, other);
                if (other != variable && (place == known.end() || *place != other)) {
                    known.insert(place, other);
                }
            }
        }
        tables_.push_back(std::move(fresh));
    }

    [[nodiscard]] priority priority_of(std::size_t variable) const {
        constexpr std::size_t counted = 12;  // beyond, the exact fill does not matter: such a variable comes last
        const std::vector<std::size_t>& near = neighbours_[variable];
        std::size_t fill = near.size() > counted ? near.size() * near.size() : 0;
        for (std::size_t a = 0; a < near.size() && near.size() <= counted; ++a) {
            for (std::size_t b = a + 1; b < near.size(); ++b) {
                fill += std::ranges::binary_search(neighbours_[near[a]], near[b]) ? 0 : 1;
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
        std::map<std::size_t, std::vector<std::shared_ptr<const state_classes>>> seen;
        for (const std::size_t number : touching_[variable]) {
            if (tables_[number].alive) {
                used.push_back(number);
                for (std::size_t place = 0; place < tables_[number].scope.size(); ++place) {
                    seen[tables_[number].scope[place]].push_back(tables_[number].classes[place]);
                }
            }
        }
        decision made;
        made.variable = variable;
        std::shared_ptr<const state_classes> own;
        std::size_t cells = 1;
        for (const auto& [other, classes] : seen) {
            const std::shared_ptr<const state_classes> refined = common_refinement(classes);
            if (other == variable) {
                own = refined;
                continue;
            }
            if (refined->count > limits_.cells / cells) {
                return false;
            }
            cells *= refined->count;
            made.scope.push_back(other);
            made.classes.push_back(refined);
        }
        if (own == nullptr) {
            own = std::make_shared<state_classes>(
                state_classes{std::vector<int>(variables_[variable]->size(), 0), std::size_t{1}});
        }
        if (cells * std::max<std::size_t>(own->count, 1) > limits_.visits / std::max<std::size_t>(used.size(), 1)) {
            return false;
        }
        std::vector<double> minimum = minimise(variable, *own, used, cells, made);

        for (const std::size_t number : used) {
            tables_[number].alive = false;
            tables_[number].cost.reset();
        }
        const std::vector<std::size_t> near = std::exchange(neighbours_[variable], {});
        for (const std::size_t other : near) {
            std::vector<std::size_t>& known = neighbours_[other];
            known.erase(std::ranges::lower_bound(known, variable));
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
                const auto other = static_cast<std::size_t>(std::ranges::lower_bound(made.scope, read.scope[place]) -
                                                            made.scope.begin());
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
inline std::optional<std::vector<int>> minimise_exactly(const pairwise_model& model, elimination_limits limits = {}) {
    return elimination(model, limits).run();
}

}  // namespace einparallel::detail
