#pragma once

#include <einparallel/search/solver/solve.hpp>

#include <einparallel/cost/numbering.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/search/solver/bucket.ipp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE class elimination {
public:
    elimination(const cost_sum& sum, std::size_t limit, effort_count* effort)
        : limit_(limit),
          shared_(effort),
          variables_(sum.variables),
          touching_(variables_.size()),
          neighbours_(variables_.size()),
          weight_(variables_.size(), 0),
          priority_(variables_.size()) {
        for (const cost_table& table : sum.tables) {
            add(table, 0);
        }
        for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
            find_neighbours(variable);
        }
        for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
            priority_[variable] = priority_of(variable);
            queue_.insert(priority_[variable]);
        }
    }

    minimum run() && {
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
        return std::move(made_);
    }

private:
    /// A table, and how many variables were eliminated into it. Its scope is emptied when the table has been used.
    struct live_table {
        cost_table table;
        std::size_t weight = 0;
    };

    /// Fill, degree, number of variables eliminated into the tables around it, variable. The smallest priority comes
    /// first. So the layers of a loop are eliminated side by side, each like the one before, and not one into the next.
    using priority = std::array<std::size_t, 4>;

    void add(cost_table fresh, std::size_t weight) {
        for (const std::size_t variable : fresh.scope) {
            touching_[variable].push_back(tables_.size());
        }
        tables_.push_back({std::move(fresh), weight});
    }

    /// The variables in the scopes of these tables, without `variable`.
    std::vector<std::size_t> scope_of(const std::vector<std::size_t>& tables, std::size_t variable) const {
        std::vector<std::size_t> scope;
        for (const std::size_t number : tables) {
            scope.insert(scope.end(), tables_[number].table.scope.begin(), tables_[number].table.scope.end());
        }
        sort_unique(scope);
        std::erase(scope, variable);
        return scope;
    }

    void find_neighbours(std::size_t variable) {
        std::erase_if(touching_[variable], [&](std::size_t number) { return tables_[number].table.scope.empty(); });
        neighbours_[variable] = scope_of(touching_[variable], variable);
        weight_[variable] =
            sum_in(touching_[variable], std::size_t{0}, [&](std::size_t number) { return tables_[number].weight; });
    }

    priority priority_of(std::size_t variable) const {
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

    /// The best state of the eliminated variable of these buckets, when the states of its neighbours are known. It is
    /// worked out again here: to store it for every cell would take more memory than the tables, and only one cell is
    /// needed.
    int best_of(std::size_t begin, std::size_t end) {
        const std::size_t variable = buckets_[begin].variable;
        int best = 0;
        double least = std::numeric_limits<double>::infinity();
        int& own = made_.states[variable];
        for (own = 0; own < int(variables_[variable]->size()); ++own) {
            double sum = (*variables_[variable])[std::size_t(own)];
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
        const std::vector<std::size_t> used = touching_[variable];
        const std::vector<std::size_t> near = neighbours_[variable];
        std::vector<bucket> made{bucket_of(variable, used)};
        if (made.front().cells(limit_) > limit_) {
            made = split(variable, used);
        }
        for (const std::size_t number : used) {
            tables_[number].table = {};
        }
        made.front().costs = variables_[variable];
        for (bucket& each : made) {
            cost_table least{each.scope, each.classes, shared_.minimum(each)};
            buckets_.push_back(std::move(each));
            if (least.scope.empty()) {
                made_.bound += least.cost->front();
            } else {
                add(std::move(least), weight_[variable] + 1);
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

    /// A bucket of some tables over a variable, with the classes that these tables tell apart together.
    bucket bucket_of(std::size_t variable, const std::vector<std::size_t>& used) {
        bucket made;
        made.variable = variable;
        made.used = used;
        made.scope = scope_of(used, variable);
        std::vector<std::vector<std::shared_ptr<const state_classes>>> seen(made.scope.size() + 1);
        for (const std::size_t number : used) {
            const cost_table& table = tables_[number].table;
            made.tables.push_back(table);
            for (std::size_t position = 0; position < table.scope.size(); ++position) {
                seen[position_in(made.scope, table.scope[position])].push_back(table.classes[position]);
            }
        }
        for (std::size_t position = 0; position < made.scope.size(); ++position) {
            made.classes.push_back(shared_.refined(seen[position]));
        }
        const std::size_t states = variables_[variable]->size();
        made.own = seen.back().empty()
                       ? std::make_shared<const state_classes>(state_classes{std::vector<int>(states), 1})
                       : shared_.refined(seen.back());
        return made;
    }

    /// Puts the tables into several buckets, the largest tables first. Each bucket stays within the limit, unless it
    /// has a single table.
    std::vector<bucket> split(std::size_t variable, std::vector<std::size_t> used) {
        made_.exact = false;
        sort_range(used, [&](std::size_t a, std::size_t b) {
            return std::pair(tables_[b].table.cost->size(), a) < std::pair(tables_[a].table.cost->size(), b);
        });
        std::vector<bucket> made;
        for (const std::size_t number : used) {
            for (std::size_t fits = 0;; ++fits) {
                made.resize(std::max(made.size(), fits + 1));
                std::vector<std::size_t> group = made[fits].used;
                group.insert(std::lower_bound(group.begin(), group.end(), number), number);
                if (bucket larger = bucket_of(variable, group); group.size() == 1 || larger.cells(limit_) <= limit_) {
                    made[fits] = std::move(larger);
                    break;
                }
            }
        }
        return made;
    }

    std::size_t limit_;
    shared_results shared_;
    std::vector<std::shared_ptr<const std::vector<double>>> variables_;
    std::vector<live_table> tables_;
    std::vector<std::vector<std::size_t>> touching_;    // numbers of tables, by variable
    std::vector<std::vector<std::size_t>> neighbours_;  // sorted
    std::vector<std::size_t> weight_;
    std::vector<priority> priority_;
    std::set<priority> queue_;
    minimum made_;
    std::vector<bucket> buckets_;
};

EINPARALLEL_INLINE minimum minimise(const cost_sum& sum, std::size_t limit, effort_count* effort) {
    return elimination(sum, limit, effort).run();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
