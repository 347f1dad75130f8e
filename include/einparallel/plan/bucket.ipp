#pragma once
// One step of the elimination: some tables over one variable, for all that its neighbours can do.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Position of a variable in a sorted list; the list's length where it is not there.
EINPARALLEL_INLINE std::size_t position_in(const std::vector<std::size_t>& sorted, std::size_t variable) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), variable);
    return static_cast<std::size_t>((place != sorted.end() && *place == variable ? place : sorted.end()) -
                                    sorted.begin());
}

/// Tables over one variable and its neighbours.
struct bucket {
    std::size_t variable = 0;
    std::shared_ptr<const std::vector<double>> costs;  ///< of the variable's own states; nothing where another counts
    std::vector<cost_table> tables;
    std::vector<std::size_t> made_by;                           ///< buckets, by table
    std::vector<std::size_t> scope;                             ///< the neighbours, ascending
    std::vector<std::shared_ptr<const state_classes>> classes;  ///< of the neighbours: what the tables tell apart
    std::shared_ptr<const state_classes> own;                   ///< of the variable
    std::vector<double> beyond;  ///< by cell: what all that is not in its tables costs at least

    /// Combinations of the neighbours' and the variable's classes; more than `limit` where that is exceeded.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t cells(std::size_t limit) const {
        std::size_t count = own->count;
        for (const auto& seen : classes) {
            count = count > limit || seen->count > limit / count ? limit + 1 : count * seen->count;
        }
        return count;
    }
};

/// The next combination of the neighbours' classes; false after the last one.
EINPARALLEL_INLINE bool next_turn(std::vector<std::size_t>& turn,
                                  const std::vector<std::shared_ptr<const state_classes>>& classes) {
    std::size_t place = turn.size();
    while (place > 0 && ++turn[place - 1] == classes[place - 1]->count) {
        turn[--place] = 0;
    }
    return place > 0;
}

/// A bucket's tables in rows: one over the classes of the variable for every combination of a table's neighbours.
struct bucket_rows {
    struct rows {
        std::vector<std::uint32_t> cells;  ///< of the table
        std::vector<double> costs;         ///< of these; nothing where the variable's own costs have them
        std::vector<std::size_t> steps;    ///< by neighbour: what one class further adds to the row
    };
    std::vector<double> least;   ///< by class: own costs and those of tables that have no neighbour
    std::vector<int> order;      ///< of the variable's classes, the cheapest first
    std::vector<double> alone;   ///< `least` in this order
    std::vector<rows> of_table;  ///< in this order

    EINPARALLEL_INLINE explicit bucket_rows(const bucket& of);

    /// Calls visit(cell, begins) for every combination of the neighbours' classes: where the rows begin beside them.
    template <class Visit>
    void each(const bucket& of, Visit&& visit) const {
        std::vector<std::size_t> turn(of.scope.size(), 0);
        std::vector<std::size_t> begins(of_table.size());
        std::size_t cell = 0;
        do {
            for (std::size_t table = 0; table < begins.size(); ++table) {
                begins[table] =
                    std::inner_product(turn.begin(), turn.end(), of_table[table].steps.begin(), std::size_t{0});
            }
            visit(cell++, begins);
        } while (next_turn(turn, of.classes));
    }
};

EINPARALLEL_INLINE bucket_rows::bucket_rows(const bucket& of)
    : least(of.own->count, of.costs == nullptr ? 0 : std::numeric_limits<double>::infinity()),
      of_table(of.tables.size()) {
    for (std::size_t state = 0; of.costs != nullptr && state < of.costs->size(); ++state) {
        double& known = least[static_cast<std::size_t>(of.own->of_state[state])];
        known = std::min(known, (*of.costs)[state]);
    }
    // By table and neighbour, the variable last: where a class leads.
    std::vector<std::vector<std::vector<std::size_t>>> offsets;
    alone = least;
    for (const cost_table& table : of.tables) {
        offsets.emplace_back(of.scope.size() + 1);
        std::size_t stride = 1;
        for (std::size_t place = table.scope.size(); place-- > 0;) {
            const std::size_t other = position_in(of.scope, table.scope[place]);
            const state_classes& fine = other == of.scope.size() ? *of.own : *of.classes[other];
            std::vector<std::size_t>& steps = offsets.back()[other];
            steps.resize(fine.count, 0);
            for (std::size_t state = 0; state < fine.of_state.size(); ++state) {
                steps[static_cast<std::size_t>(fine.of_state[state])] =
                    stride * static_cast<std::size_t>(table.classes[place]->of_state[state]);
            }
            stride *= table.classes[place]->count;
        }
        offsets.back().back().resize(of.own->count, 0);
        for (std::size_t one = 0; one < alone.size() && table.scope.size() == 1; ++one) {
            alone[one] += (*table.cost)[offsets.back().back()[one]];
        }
    }
    std::vector<ranked> by_cost;
    for (std::size_t one = 0; one < alone.size(); ++one) {
        by_cost.emplace_back(alone[one], one);
    }
    sort_range(by_cost);
    for (std::size_t one = 0; one < alone.size(); ++one) {
        alone[one] = by_cost[one].first;
        order.push_back(static_cast<int>(by_cost[one].second));
    }
    for (std::size_t number = 0; number < of_table.size(); ++number) {
        rows& made = of_table[number];
        made.steps.assign(of.scope.size(), 0);
        std::vector<std::size_t> bases{0};
        for (std::size_t other = 0; other < of.scope.size(); ++other) {
            const std::vector<std::size_t>& steps = offsets[number][other];
            if (steps.empty()) {
                continue;
            }
            std::ranges::for_each(made.steps, [&](std::size_t& step) { step *= steps.size(); });
            made.steps[other] = alone.size();
            std::vector<std::size_t> finer;
            for (const std::size_t base : bases) {
                for (const std::size_t step : steps) {
                    finer.push_back(base + step);
                }
            }
            bases = std::move(finer);
        }
        const cost_table& table = of.tables[number];
        for (const std::size_t base : bases) {
            for (const int one : order) {
                const std::size_t cell = base + offsets[number].back()[static_cast<std::size_t>(one)];
                made.cells.push_back(static_cast<std::uint32_t>(cell));
                if (table.scope.size() > 1) {
                    made.costs.push_back((*table.cost)[cell]);
                }
            }
        }
    }
}

/// For every combination of the neighbours' classes the smallest sum over the states of the variable.
EINPARALLEL_INLINE std::vector<double> minimum_over(const bucket& of) {
    constexpr std::size_t side = 16;  // sums that are worked on side by side: the loops over them are vectorised
    const bucket_rows in_rows(of);
    const std::size_t count = in_rows.alone.size();
    std::vector<double> first = in_rows.alone;
    first.resize((count + side - 1) / side * side, std::numeric_limits<double>::infinity());
    std::vector<double> minimum;
    std::vector<const double*> at;
    in_rows.each(of, [&](std::size_t /*cell*/, const std::vector<std::size_t>& begins) {
        at.clear();
        for (std::size_t table = 0; table < begins.size(); ++table) {
            if (!in_rows.of_table[table].costs.empty()) {
                at.push_back(in_rows.of_table[table].costs.data() + begins[table]);
            }
        }
        double least = std::numeric_limits<double>::infinity();
        // Where the least of the rest exceeds the best sum, so do their sums.
        for (std::size_t begin = 0; begin < count && first[begin] < least; begin += side) {
            std::array<double, side> sums{};
            std::copy_n(first.data() + begin, side, sums.data());
            for (const double* const row : at) {
                if (begin + side <= count) {
                    for (std::size_t one = 0; one < side; ++one) {
                        sums[one] += row[begin + one];
                    }
                } else {
                    for (std::size_t one = 0; begin + one < count; ++one) {
                        sums[one] += row[begin + one];
                    }
                }
            }
            for (std::size_t one = 0; one < side; ++one) {
                least = sums[one] < least ? sums[one] : least;
            }
        }
        minimum.push_back(least);
    });
    return minimum;
}

/// Minima and classes that are worked out once for equal questions. These are known by addresses: what is asked for has
/// to stay alive.
class shared_results {
public:
    explicit shared_results(effort_count* effort) : effort_(effort) {}

    /// The minimum over a bucket's variable; the same table for equal buckets.
    EINPARALLEL_INLINE std::shared_ptr<const std::vector<double>> minimum(const bucket& of) {
        std::vector<index> key{address(of.costs.get())};
        for (const cost_table& table : of.tables) {
            key.push_back(address(table.cost.get()));
            for (std::size_t place = 0; place < table.scope.size(); ++place) {
                const bool is_own = table.scope[place] == of.variable;
                key.push_back(is_own ? -1 : static_cast<index>(position_in(of.scope, table.scope[place])));
                key.push_back(address(table.classes[place].get()));
            }
            key.push_back(-2);
        }
        return minima_.at(key, [&] {
            const std::size_t before = std::exchange(entries_, entries_ + of.cells(std::size_t{1} << 60U));
            if (effort_ != nullptr) {
                effort_->add(entries_ / 16 - before / 16);
            }
            return std::make_shared<const std::vector<double>>(minimum_over(of));
        });
    }

    /// Coarsest classes that tell apart whatever any of `parts` tells apart; the same for the same parts.
    EINPARALLEL_INLINE std::shared_ptr<const state_classes> refined(
        const std::vector<std::shared_ptr<const state_classes>>& parts) {
        if (all_in(parts, [&](const auto& part) { return part == parts.front(); })) {
            return parts.front();
        }
        std::vector<index> key;
        for (const std::shared_ptr<const state_classes>& part : parts) {
            key.push_back(address(part.get()));
        }
        return refined_.at(key, [&] {
            state_classes made;
            numbering numbers;
            for (std::size_t state = 0; state < parts.front()->of_state.size(); ++state) {
                for (std::size_t part = 0; part < parts.size(); ++part) {
                    key[part] = parts[part]->of_state[state];
                }
                made.of_state.push_back(static_cast<int>(numbers.number_of(key).first));
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
