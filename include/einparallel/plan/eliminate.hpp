#pragma once
// The exact minimum of a pairwise model, by eliminating one variable after the other.

#include <einparallel/plan/dominance.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/one_elimination.hpp>
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

/// Eliminates the variables of a model in min-fill order. On a tree this is the dynamic programme of EinDecomp §8.2
/// (every vertex has one neighbour left when its turn comes); on a general DAG a table over the remaining neighbours
/// takes the place of M[v, d_Z].
template <class Lazy = void>
class elimination {
public:
    elimination(const pairwise_model& model, elimination_limits limits) : limits_(limits) {
        const std::size_t count = model.variables.size();
        variables_ = model.variables;
        weight_.resize(count, 0);
        touching_.resize(count);
        neighbours_.resize(count);
        priority_.resize(count);
        for (const pairwise_term& term : model.terms) {
            add({{term.producer, term.consumer}, {term.of_producer, term.of_consumer}, term.cost, true, 0});
        }
        for (const wide_term& term : model.wide) {
            add({term.scope, term.classes, term.cost, true, 0});
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
            states[made.variable] = (*made.best)[cell];
        }
        return states;
    }

private:
    /// The best state of an eliminated variable for every cell of its neighbours' classes.
    struct decision {
        std::size_t variable = 0;
        std::vector<std::size_t> scope;
        std::vector<std::shared_ptr<const state_classes>> classes;
        std::shared_ptr<const std::vector<std::int32_t>> best;
    };

    /// What eliminating a variable gave; kept for variables with equal tables around them, as the layers of a loop
    /// have.
    struct outcome {
        std::vector<std::shared_ptr<const state_classes>> classes;
        std::shared_ptr<const std::vector<std::int32_t>> best;
        std::shared_ptr<const std::vector<double>> minimum;
        std::shared_ptr<const std::vector<double>> front;  ///< one neighbour: its costs before
        std::shared_ptr<const std::vector<double>> sum;    ///< and with the minimum added
    };

    /// Fill, degree, variables eliminated into its surroundings, variable. Among equals the one with the least behind
    /// it: the layers of a loop are then eliminated side by side, each like the one before, not one into the next.
    using priority = std::array<std::size_t, 4>;

    void add(elimination_table fresh) {
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

    [[nodiscard]] priority priority_of(std::size_t variable) const {
        constexpr std::size_t counted = 12;  // beyond, the exact fill does not matter: such a variable comes last
        const std::vector<std::size_t>& near = neighbours_[variable];
        std::size_t fill = near.size() > counted ? near.size() * near.size() : 0;
        for (std::size_t a = 0; a < near.size() && near.size() <= counted; ++a) {
            for (std::size_t b = a + 1; b < near.size(); ++b) {
                fill += position_in(neighbours_[near[a]], near[b]) < neighbours_[near[a]].size() ? 0 : 1;
            }
        }
        std::size_t weight = weight_[variable];
        for (const std::size_t number : touching_[variable]) {
            weight += tables_[number].alive ? tables_[number].weight : 0;
        }
        return {fill, near.size(), weight, variable};
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
        std::vector<index> key{address(variables_[variable].get())};
        for (const std::size_t number : used) {
            key.push_back(address(tables_[number].cost.get()));
            for (std::size_t place = 0; place < tables_[number].scope.size(); ++place) {
                const std::size_t of = tables_[number].scope[place];
                key.push_back(of == variable ? -1 : static_cast<index>(position_in(made.scope, of)));
                key.push_back(address(tables_[number].classes[place].get()));
            }
            key.push_back(-2);
        }
        const auto [position, fresh] = outcome_numbers_.number_of(std::move(key));
        if (fresh) {
            outcomes_.emplace_back();
            held_.push_back(variables_[variable]);
            for (const std::size_t number : used) {
                held_.push_back(tables_[number].cost);
            }
            if (!work_out(variable, used, seen, made.scope, outcomes_.back())) {
                return false;
            }
        }
        outcome& found = outcomes_[position];
        made.classes = found.classes;
        made.best = found.best;

        std::size_t weight = weight_[variable] + 1;
        for (const std::size_t number : used) {
            weight += tables_[number].weight;
            tables_[number].alive = false;
            tables_[number].cost.reset();
        }
        const std::vector<std::size_t> near = std::exchange(neighbours_[variable], {});
        for (const std::size_t other : near) {
            std::vector<std::size_t>& known = neighbours_[other];
            known.erase(std::lower_bound(known.begin(), known.end(), variable));
        }
        if (made.scope.size() == 1) {
            std::shared_ptr<const std::vector<double>>& front = variables_[made.scope.front()];
            if (found.front != front) {
                auto sum = std::make_shared<std::vector<double>>(*front);
                for (std::size_t state = 0; state < sum->size(); ++state) {
                    (*sum)[state] += (*found.minimum)[static_cast<std::size_t>(made.classes.front()->of_state[state])];
                }
                found.front = front;
                found.sum = std::move(sum);
            }
            front = found.sum;
            weight_[made.scope.front()] += weight;
        } else if (made.scope.size() > 1) {
            add({made.scope, made.classes, found.minimum, true, weight});
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

    static index address(const void* of) { return reinterpret_cast<index>(of); }

    /// Eliminates a variable whose surroundings were not met before; false where that would pass the limits. `seen` are
    /// the classes in which the tables see every neighbour, and in the end the variable itself.
    bool work_out(std::size_t variable, const std::vector<std::size_t>& used,
                  std::vector<std::vector<std::shared_ptr<const state_classes>>>& seen,
                  const std::vector<std::size_t>& scope, outcome& found) {
        std::size_t cells = 1;
        for (std::size_t other = 0; other < scope.size(); ++other) {
            found.classes.push_back(refined(seen[other]));
            if (found.classes.back()->count > limits_.cells / cells) {
                return false;
            }
            cells *= found.classes.back()->count;
        }
        if (seen.back().empty()) {
            auto alike = std::make_shared<state_classes>();
            alike->of_state.assign(variables_[variable]->size(), 0);
            alike->count = 1;
            seen.back().push_back(std::move(alike));
        }
        const std::shared_ptr<const state_classes> own = refined(seen.back());
        if (cells * own->count > limits_.visits / std::max<std::size_t>(used.size(), 1)) {
            return false;
        }
        limits_.visits -= cells * own->count * used.size();
        std::vector<const elimination_table*> read;
        for (const std::size_t number : used) {
            read.push_back(&tables_[number]);
        }
        one_elimination<Lazy> step(variable, *variables_[variable], *own, std::move(read), scope, found.classes, cells);
        found.minimum = std::make_shared<const std::vector<double>>(step.run());
        found.best = std::make_shared<const std::vector<std::int32_t>>(std::move(step).best());
        return true;
    }

    /// The same classes for the same parts, so that equal tables are found to be equal.
    std::shared_ptr<const state_classes> refined(const std::vector<std::shared_ptr<const state_classes>>& parts) {
        std::vector<index> key;
        for (const std::shared_ptr<const state_classes>& part : parts) {
            key.push_back(address(part.get()));
        }
        const auto [number, fresh] = refined_numbers_.number_of(std::move(key));
        if (fresh) {
            refined_.push_back(common_refinement(parts));
            held_classes_.insert(held_classes_.end(), parts.begin(), parts.end());
        }
        return refined_[number];
    }

    elimination_limits limits_;
    std::vector<std::shared_ptr<const std::vector<double>>> variables_;
    std::vector<elimination_table> tables_;
    std::vector<std::size_t> weight_;                   // variables that were eliminated into its own costs
    std::vector<std::vector<std::size_t>> touching_;    // numbers of tables, by variable
    std::vector<std::vector<std::size_t>> neighbours_;  // sorted
    std::vector<priority> priority_;
    std::set<priority> queue_;
    std::vector<decision> eliminated_;
    numbering<Lazy> outcome_numbers_;
    std::vector<outcome> outcomes_;
    numbering<Lazy> refined_numbers_;
    std::vector<std::shared_ptr<const state_classes>> refined_;
    // Whose addresses are keys stays alive, so that none of them means two things.
    std::vector<std::shared_ptr<const std::vector<double>>> held_;
    std::vector<std::shared_ptr<const state_classes>> held_classes_;
};

/// The states with the smallest sum, exactly; nothing where that takes tables past the limits.
template <class Lazy = void>
std::optional<std::vector<int>> minimise_exactly(const pairwise_model& model, elimination_limits limits = {}) {
    const reduced_model fewer = dominance<Lazy>(model).run();
    const std::optional<std::vector<int>> states = elimination<Lazy>(fewer.model, limits).run();
    return states ? std::optional(fewer.original(*states)) : std::nullopt;
}

}  // namespace einparallel::detail
