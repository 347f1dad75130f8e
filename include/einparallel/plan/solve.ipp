#pragma once

#include <einparallel/plan/solve.hpp>

#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/bucket.ipp>
#include <einparallel/plan/numbering.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double cost_table::at(std::span<const int> states) const {
    std::size_t cell = 0;
    for (std::size_t place = 0; place < scope.size(); ++place) {
        const auto state = static_cast<std::size_t>(states[scope[place]]);
        cell = cell * classes[place]->count + static_cast<std::size_t>(classes[place]->of_state[state]);
    }
    return (*cost)[cell];
}

EINPARALLEL_INLINE double cost_sum::at(std::span<const int> states) const {
    double sum = 0;
    for (std::size_t variable = 0; variable < variables.size(); ++variable) {
        sum += (*variables[variable])[static_cast<std::size_t>(states[variable])];
    }
    for (const cost_table& table : tables) {
        sum += table.at(states);
    }
    return sum;
}

EINPARALLEL_INLINE class elimination {
public:
    elimination(const cost_sum& sum, std::size_t limit)
        : limit_(limit),
          variables_(sum.variables),
          touching_(variables_.size()),
          neighbours_(variables_.size()),
          weight_(variables_.size(), 0),
          priority_(variables_.size()) {
        for (const cost_table& table : sum.tables) {
            add(table, 0, none);
        }
        for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
            find_neighbours(variable);
        }
        for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
            priority_[variable] = priority_of(variable);
            queue_.insert(priority_[variable]);
        }
    }

    minimum run(std::size_t looks) && {
        while (!queue_.empty()) {
            const std::size_t next = queue_.begin()->back();
            queue_.erase(queue_.begin());
            eliminate(next);
        }
        made_.states.assign(variables_.size(), 0);
        for (std::size_t end = buckets_.size(); end > 0;) {
            std::size_t begin = end - 1;  // of the buckets of one variable
            while (begin > 0 && buckets_[begin - 1].variable == buckets_[begin].variable) {
                --begin;
            }
            made_.states[buckets_[begin].variable] = best_of(begin, end);
            end = begin;
        }
        if (looks_ <= looks) {
            look_back();
        }
        return std::move(made_);
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    /// A table, how many variables were eliminated into it, and which minimum it is; without a scope once it is used.
    struct live_table {
        cost_table table;
        std::size_t weight = 0;
        std::size_t made_by = none;
    };

    /// The minimum of some tables over a variable.
    struct bucket {
        std::size_t variable = 0;
        bool with_costs = true;
        std::vector<cost_table> tables;
        std::vector<std::size_t> made_by;  ///< buckets, by table
        std::vector<std::size_t> scope;
        std::vector<std::shared_ptr<const state_classes>> classes;
        std::shared_ptr<const state_classes> own;
        std::vector<double> beyond;  ///< by cell: what all that is not in its tables costs at least
    };

    /// Fill, degree, variables eliminated into its surroundings, variable. Among equals the one with the least behind
    /// it: the layers of a loop are then eliminated side by side, each like the one before, not one into the next.
    using priority = std::array<std::size_t, 4>;

    void add(cost_table fresh, std::size_t weight, std::size_t made_by) {
        for (const std::size_t variable : fresh.scope) {
            touching_[variable].push_back(tables_.size());
        }
        tables_.push_back({std::move(fresh), weight, made_by});
    }

    /// From the last bucket to the first: what every state of its variable costs with the best of all others, and what
    /// all that is beyond them costs the buckets whose minima it has read.
    void look_back() {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        made_.least_with.resize(variables_.size());
        const double all = made_.bound;
        for (std::size_t number = buckets_.size(); number-- > 0;) {
            bucket& of = buckets_[number];
            const std::size_t own = of.own->count;
            std::vector<double> alone(own, of.with_costs ? infinity : 0);
            const std::vector<double>& costs = *variables_[of.variable];
            for (std::size_t state = 0; state < costs.size() && of.with_costs; ++state) {
                double& least = alone[static_cast<std::size_t>(of.own->of_state[state])];
                least = std::min(least, costs[state]);
            }
            // Where the classes of the neighbours, and of the variable, lead in every table.
            std::vector<std::vector<std::vector<std::size_t>>> offsets(of.tables.size());
            std::vector<std::vector<double>> beyond(of.tables.size());
            for (std::size_t position = 0; position < of.tables.size(); ++position) {
                const cost_table& table = of.tables[position];
                offsets[position].resize(of.scope.size() + 1);
                std::size_t stride = 1;
                for (std::size_t place = table.scope.size(); place-- > 0;) {
                    const bool is_own = table.scope[place] == of.variable;
                    const std::size_t other = is_own ? of.scope.size() : position_in(of.scope, table.scope[place]);
                    const state_classes& fine = is_own ? *of.own : *of.classes[other];
                    offsets[position][other].resize(fine.count, 0);
                    for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
                        offsets[position][other][static_cast<std::size_t>(fine.of_state[state])] =
                            stride * static_cast<std::size_t>(table.classes[place]->of_state[state]);
                    }
                    stride *= table.classes[place]->count;
                }
                offsets[position].back().resize(own, 0);
                if (of.made_by[position] != none) {
                    beyond[position].assign(table.cost->size(), infinity);
                }
            }
            std::vector<double> least(own, infinity);
            std::vector<std::size_t> turn(of.scope.size(), 0);
            std::vector<std::size_t> base(of.tables.size());
            std::vector<double> sums(own);
            std::size_t cell = 0;
            for (bool more = true; more; ++cell) {
                std::fill(sums.begin(), sums.end(), of.beyond.empty() ? 0 : of.beyond[cell]);
                for (std::size_t position = 0; position < of.tables.size(); ++position) {
                    base[position] = 0;
                    for (std::size_t other = 0; other < of.scope.size(); ++other) {
                        const std::vector<std::size_t>& steps = offsets[position][other];
                        base[position] += steps.empty() ? 0 : steps[turn[other]];
                    }
                    const double* const table = of.tables[position].cost->data() + base[position];
                    const std::vector<std::size_t>& steps = offsets[position].back();
                    for (std::size_t one = 0; one < own; ++one) {
                        sums[one] += table[steps[one]];
                    }
                }
                for (std::size_t one = 0; one < own; ++one) {
                    sums[one] += alone[one];
                    least[one] = std::min(least[one], sums[one]);
                }
                for (std::size_t position = 0; position < of.tables.size(); ++position) {
                    const std::vector<std::size_t>& steps = offsets[position].back();
                    for (std::size_t one = 0; one < own && !beyond[position].empty(); ++one) {
                        double& known = beyond[position][base[position] + steps[one]];
                        known = std::min(known, sums[one]);
                    }
                }
                std::size_t other = of.scope.size();
                while (other > 0 && ++turn[other - 1] == of.classes[other - 1]->count) {
                    turn[--other] = 0;
                }
                more = other > 0;
            }
            for (std::size_t position = 0; position < of.tables.size(); ++position) {
                if (of.made_by[position] != none) {
                    for (std::size_t at = 0; at < beyond[position].size(); ++at) {
                        beyond[position][at] -= (*of.tables[position].cost)[at];
                    }
                    buckets_[of.made_by[position]].beyond = std::move(beyond[position]);
                }
            }
            if (of.with_costs) {
                std::vector<double>& with = made_.least_with[of.variable];
                const double others = all - *std::min_element(least.begin(), least.end());  // of other components
                for (std::size_t state = 0; state < costs.size(); ++state) {
                    const auto seen = static_cast<std::size_t>(of.own->of_state[state]);
                    with.push_back(least[seen] + (costs[state] - alone[seen]) + others);
                }
            }
            of = {};
        }
    }

    void find_neighbours(std::size_t variable) {
        std::vector<std::size_t>& near = neighbours_[variable];
        near.clear();
        std::erase_if(touching_[variable], [&](std::size_t number) { return tables_[number].table.scope.empty(); });
        weight_[variable] = 0;
        for (const std::size_t number : touching_[variable]) {
            near.insert(near.end(), tables_[number].table.scope.begin(), tables_[number].table.scope.end());
            weight_[variable] += tables_[number].weight;
        }
        sort_range(near);
        near.erase(std::unique(near.begin(), near.end()), near.end());
        std::erase(near, variable);
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
        return {fill, near.size(), weight_[variable], variable};
    }

    void refresh(std::size_t variable) {
        const priority now = priority_of(variable);
        if (now != priority_[variable] && queue_.erase(priority_[variable]) > 0) {
            queue_.insert(now);
            priority_[variable] = now;
        }
    }

    /// The best state of an eliminated variable with these buckets, its neighbours' states being known. Found anew: to
    /// note it for every cell would take more memory than the tables themselves, and one cell is asked for.
    int best_of(std::size_t begin, std::size_t end) {
        const std::size_t variable = buckets_[begin].variable;
        int best = 0;
        double least = std::numeric_limits<double>::infinity();
        int& own = made_.states[variable];
        for (own = 0; own < static_cast<int>(variables_[variable]->size()); ++own) {
            double sum = (*variables_[variable])[static_cast<std::size_t>(own)];
            for (std::size_t number = begin; number < end; ++number) {
                for (const cost_table& table : buckets_[number].tables) {
                    sum += table.at(made_.states);
                }
            }
            if (better(sum, least)) {
                least = sum;
                best = own;
            }
        }
        return best;
    }

    void eliminate(std::size_t variable) {
        std::vector<std::size_t> used = touching_[variable];
        const std::vector<std::size_t> near = neighbours_[variable];
        std::vector<std::vector<std::size_t>> groups{used};
        if (cells_of(variable, used) > limit_) {
            groups = split(variable, used);
        }
        std::size_t weight = 1;
        for (const std::size_t number : used) {
            weight += tables_[number].weight;
        }
        std::vector<cost_table> results;
        const std::size_t first = buckets_.size();
        for (std::size_t group = 0; group < groups.size(); ++group) {
            results.push_back(work_out(variable, groups[group], group == 0));
        }
        for (const std::size_t number : used) {
            tables_[number].table = {};
        }
        for (std::size_t group = 0; group < results.size(); ++group) {
            if (results[group].scope.empty()) {
                made_.bound += results[group].cost->front();
            } else {
                add(std::move(results[group]), weight, first + group);
            }
        }
        for (const std::size_t other : near) {
            find_neighbours(other);
        }
        for (const std::size_t other : near) {
            refresh(other);
            for (const std::size_t further : near.size() > 1 ? neighbours_[other] : std::vector<std::size_t>{}) {
                refresh(further);
            }
        }
    }

    /// The classes that some tables together tell apart, of the neighbours in order and in the end of the variable.
    struct surroundings {
        std::vector<std::size_t> scope;
        std::vector<std::shared_ptr<const state_classes>> classes;
        std::shared_ptr<const state_classes> own;
    };

    surroundings around(std::size_t variable, const std::vector<std::size_t>& used) {
        surroundings found;
        for (const std::size_t number : used) {
            found.scope.insert(found.scope.end(), tables_[number].table.scope.begin(),
                               tables_[number].table.scope.end());
        }
        sort_range(found.scope);
        found.scope.erase(std::unique(found.scope.begin(), found.scope.end()), found.scope.end());
        std::erase(found.scope, variable);
        std::vector<std::vector<std::shared_ptr<const state_classes>>> seen(found.scope.size() + 1);
        for (const std::size_t number : used) {
            const cost_table& table = tables_[number].table;
            for (std::size_t place = 0; place < table.scope.size(); ++place) {
                seen[position_in(found.scope, table.scope[place])].push_back(table.classes[place]);
            }
        }
        if (seen.back().empty()) {
            std::shared_ptr<const state_classes>& alike = alike_[variables_[variable]->size()];
            if (alike == nullptr) {
                alike = std::make_shared<const state_classes>(
                    state_classes{std::vector<int>(variables_[variable]->size(), 0), 1});
            }
            seen.back().push_back(alike);
        }
        for (const auto& parts : seen) {
            found.classes.push_back(refined(parts));
        }
        found.own = std::move(found.classes.back());
        found.classes.pop_back();
        return found;
    }

    std::size_t cells_of(std::size_t variable, const std::vector<std::size_t>& used) {
        const surroundings seen = around(variable, used);
        std::size_t cells = seen.own->count;
        for (const auto& classes : seen.classes) {
            cells = classes->count > limit_ / cells ? limit_ + 1 : cells * classes->count;
            if (cells > limit_) {
                break;
            }
        }
        return cells;
    }

    /// Groups of tables each of which stays within the limit, the largest tables first.
    std::vector<std::vector<std::size_t>> split(std::size_t variable, std::vector<std::size_t> used) {
        made_.exact = false;
        std::stable_sort(used.begin(), used.end(), [&](std::size_t a, std::size_t b) {
            return tables_[a].table.cost->size() > tables_[b].table.cost->size();
        });
        std::vector<std::vector<std::size_t>> groups;
        for (const std::size_t number : used) {
            const auto fits = std::ranges::find_if(groups, [&](std::vector<std::size_t>& group) {
                group.push_back(number);
                const bool small = cells_of(variable, group) <= limit_;
                group.pop_back();
                return small;
            });
            (fits == groups.end() ? groups.emplace_back() : *fits).push_back(number);
        }
        for (std::vector<std::size_t>& group : groups) {
            sort_range(group);
        }
        return groups;
    }

    static index address(const void* of) { return reinterpret_cast<index>(of); }

    /// The minimum of some tables over a variable, whose own costs count where `with_costs`.
    cost_table work_out(std::size_t variable, const std::vector<std::size_t>& used, bool with_costs) {
        const surroundings seen = around(variable, used);
        std::vector<index> key{with_costs ? address(variables_[variable].get()) : 0};
        for (const std::size_t number : used) {
            const cost_table& table = tables_[number].table;
            key.push_back(address(table.cost.get()));
            for (std::size_t place = 0; place < table.scope.size(); ++place) {
                const bool is_own = table.scope[place] == variable;
                key.push_back(is_own ? -1 : static_cast<index>(position_in(seen.scope, table.scope[place])));
                key.push_back(address(table.classes[place].get()));
            }
            key.push_back(-2);
        }
        const auto [position, fresh] = outcome_numbers_.number_of(key);
        if (fresh) {
            std::vector<const cost_table*> read;
            for (const std::size_t number : used) {
                read.push_back(&tables_[number].table);
                held_.push_back(tables_[number].table);
            }
            const std::vector<double> nothing(with_costs ? 0 : variables_[variable]->size(), 0);
            outcomes_.push_back(std::make_shared<const std::vector<double>>(minimum_over(
                variable, with_costs ? *variables_[variable] : nothing, *seen.own, read, seen.scope, seen.classes)));
            made_.entries += outcomes_.back()->size() * seen.own->count;
        }
        bucket& made = buckets_.emplace_back();
        made.variable = variable;
        made.with_costs = with_costs;
        for (const std::size_t number : used) {
            made.tables.push_back(tables_[number].table);
            made.made_by.push_back(tables_[number].made_by);
        }
        made.scope = seen.scope;
        made.classes = seen.classes;
        made.own = seen.own;
        looks_ += outcomes_[position]->size() * seen.own->count * (used.size() + 1);
        return {seen.scope, seen.classes, outcomes_[position]};
    }

    /// The same classes for the same parts, so that equal tables are found to be equal.
    std::shared_ptr<const state_classes> refined(const std::vector<std::shared_ptr<const state_classes>>& parts) {
        std::vector<index> key;
        for (const std::shared_ptr<const state_classes>& part : parts) {
            key.push_back(address(part.get()));
        }
        const auto [number, fresh] = refined_numbers_.number_of(key);
        if (fresh) {
            refined_.push_back(common_refinement(parts));
            held_classes_.insert(held_classes_.end(), parts.begin(), parts.end());
        }
        return refined_[number];
    }

    std::size_t limit_;
    std::vector<std::shared_ptr<const std::vector<double>>> variables_;
    std::vector<live_table> tables_;
    std::vector<std::vector<std::size_t>> touching_;    // numbers of tables, by variable
    std::vector<std::vector<std::size_t>> neighbours_;  // sorted
    std::vector<std::size_t> weight_;
    std::vector<priority> priority_;
    std::set<priority> queue_;
    minimum made_;
    std::vector<bucket> buckets_;
    std::size_t looks_ = 0;  // that look_back takes
    numbering outcome_numbers_;
    std::vector<std::shared_ptr<const std::vector<double>>> outcomes_;
    numbering refined_numbers_;
    std::vector<std::shared_ptr<const state_classes>> refined_;
    std::map<std::size_t, std::shared_ptr<const state_classes>> alike_;  // by number of states
    // Whose addresses are keys stays alive, so that none of them means two things.
    std::vector<cost_table> held_;
    std::vector<std::shared_ptr<const state_classes>> held_classes_;
};

EINPARALLEL_INLINE minimum minimise(const cost_sum& sum, std::size_t limit, std::size_t looks) {
    return elimination(sum, limit).run(looks);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
