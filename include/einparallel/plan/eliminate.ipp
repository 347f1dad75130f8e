#pragma once

#include <einparallel/plan/eliminate.hpp>

#include <einparallel/plan/dominance.ipp>
#include <einparallel/plan/elimination_table.ipp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/one_elimination.ipp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Eliminates the variables of a model in min-fill order. On a tree this is the dynamic programme of EinDecomp §8.2
/// (every vertex has one neighbour left when its turn comes); on a general DAG a table over the remaining neighbours
/// takes the place of M[v, d_Z].
EINPARALLEL_INLINE class elimination {
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
            states[eliminated_[step].variable] = best_of(eliminated_[step], states);
        }
        return states;
    }

private:
    /// An eliminated variable and all that its best state depends on.
    struct decision {
        std::size_t variable = 0;
        std::shared_ptr<const std::vector<double>> costs;
        std::vector<elimination_table> tables;
    };

    /// What eliminating a variable gave; kept for variables with equal tables around them, as the layers of a loop
    /// have.
    struct outcome {
        std::vector<std::shared_ptr<const state_classes>> classes;
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

    /// The best state of an eliminated variable, its neighbours' states being known. Found anew: to note it for every
    /// cell would take more memory than the tables themselves, and one cell is asked for.
    static int best_of(const decision& made, const std::vector<int>& states) {
        std::vector<const double*> rows;
        std::vector<std::size_t> strides;
        std::vector<const state_classes*> classes;
        for (const elimination_table& table : made.tables) {
            rows.push_back(table.cost->data());
            std::size_t stride = 1;
            for (std::size_t place = table.scope.size(); place-- > 0;) {
                if (table.scope[place] == made.variable) {
                    strides.push_back(stride);
                    classes.push_back(table.classes[place].get());
                } else {
                    const auto state = static_cast<std::size_t>(states[table.scope[place]]);
                    rows.back() += stride * static_cast<std::size_t>(table.classes[place]->of_state[state]);
                }
                stride *= table.classes[place]->count;
            }
        }
        int best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t state = 0; state < made.costs->size(); ++state) {
            double sum = (*made.costs)[state];
            for (std::size_t table = 0; table < rows.size(); ++table) {
                sum += rows[table][strides[table] * static_cast<std::size_t>(classes[table]->of_state[state])];
            }
            if (better(sum, least)) {
                least = sum;
                best = static_cast<int>(state);
            }
        }
        return best;
    }

    bool eliminate(std::size_t variable) {
        // Tables that end here, and for every variable in them the classes that all of them together tell apart.
        std::vector<std::size_t> used;
        const std::vector<std::size_t> near = neighbours_[variable];
        std::vector<std::vector<std::shared_ptr<const state_classes>>> seen(near.size() + 1);  // own ones last
        for (const std::size_t number : touching_[variable]) {
            if (tables_[number].alive) {
                used.push_back(number);
                for (std::size_t place = 0; place < tables_[number].scope.size(); ++place) {
                    seen[position_in(near, tables_[number].scope[place])].push_back(tables_[number].classes[place]);
                }
            }
        }
        std::vector<index> key{address(variables_[variable].get())};
        for (const std::size_t number : used) {
            key.push_back(address(tables_[number].cost.get()));
            for (std::size_t place = 0; place < tables_[number].scope.size(); ++place) {
                const std::size_t of = tables_[number].scope[place];
                key.push_back(of == variable ? -1 : static_cast<index>(position_in(near, of)));
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
            if (!work_out(variable, used, seen, near, outcomes_.back())) {
                return false;
            }
        }
        outcome& found = outcomes_[position];

        decision made{variable, variables_[variable], {}};
        std::size_t weight = weight_[variable] + 1;
        for (const std::size_t number : used) {
            weight += tables_[number].weight;
            made.tables.push_back(std::exchange(tables_[number], {}));
            tables_[number].alive = false;
        }
        neighbours_[variable].clear();
        for (const std::size_t other : near) {
            std::vector<std::size_t>& known = neighbours_[other];
            known.erase(std::lower_bound(known.begin(), known.end(), variable));
        }
        if (near.size() == 1) {
            std::shared_ptr<const std::vector<double>>& front = variables_[near.front()];
            if (found.front != front) {
                auto sum = std::make_shared<std::vector<double>>(*front);
                for (std::size_t state = 0; state < sum->size(); ++state) {
                    (*sum)[state] += (*found.minimum)[static_cast<std::size_t>(found.classes.front()->of_state[state])];
                }
                found.front = front;
                found.sum = std::move(sum);
            }
            front = found.sum;
            weight_[near.front()] += weight;
        } else if (near.size() > 1) {
            add({near, found.classes, found.minimum, true, weight});
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
        found.minimum = std::make_shared<const std::vector<double>>(
            one_elimination(variable, *variables_[variable], *own, read, scope, found.classes, cells).run());
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
    numbering outcome_numbers_;
    std::vector<outcome> outcomes_;
    numbering refined_numbers_;
    std::vector<std::shared_ptr<const state_classes>> refined_;
    // Whose addresses are keys stays alive, so that none of them means two things.
    std::vector<std::shared_ptr<const std::vector<double>>> held_;
    std::vector<std::shared_ptr<const state_classes>> held_classes_;
};

EINPARALLEL_INLINE std::optional<std::vector<int>> minimise_exactly(const pairwise_model& model,
                                                                    elimination_limits limits) {
    constexpr elimination_limits few{std::size_t{1} << 22, std::size_t{1} << 32};
    const elimination_limits first{std::min(limits.cells, few.cells), std::min(limits.visits, few.visits)};
    if (std::optional<std::vector<int>> states = elimination(model, first).run()) {
        return states;
    }
    const reduced_model fewer = dominance(model).run();
    const std::optional<std::vector<int>> states = elimination(fewer.model, limits).run();
    return states ? std::optional(fewer.original(*states)) : std::nullopt;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
