#pragma once
// The smallest sum of tables over finitely many states, by bucket elimination. Tables that would grow too large are
// split into mini-buckets (Dechter and Rish 2003), so that the same pass gives an assignment and a bound.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Costs whose relative difference is smaller than this count as equal, and the first state wins. Compilers that fuse
/// multiplications with additions round differently, but all ranks have to decide alike.
inline constexpr double tie = 1e-13;

/// True where `cost` is less than `best` by more than rounding errors.
constexpr bool better(double cost, double best) {
    return cost < best - best * tie || (best == std::numeric_limits<double>::infinity() && cost < best);
}

/// Counts what a search has looked at. The search is broken off, wherever it is, when the count exceeds the limit.
struct effort_count {
    struct exceeded {};

    /// Numbers of table entries that take as long as other work (by regression over the cells of
    /// bench/planner_scale.cpp). `of_move`: a move to or from a state that is tried beside its neighbours. `of_pair`:
    /// traffic between two places that is worked out for the first time.
    static constexpr std::size_t of_move = 4;
    static constexpr std::size_t of_pair = 20;
    static constexpr std::size_t of_vector = 100;  ///< listing a partition vector

    std::size_t spent = 0;  ///< in table entries
    std::size_t limit = std::numeric_limits<std::size_t>::max();

    /// To be called before work that is useless unless it is finished. @throws exceeded where fewer than `entries` are
    /// left
    void expect_room(double entries) const {
        if (double(spent) + entries > double(limit)) {
            throw exceeded{};
        }
    }
    /// Adds entries that were looked at. @throws exceeded
    void add(std::size_t looked_at) {
        spent += looked_at;
        if (spent > limit) {
            throw exceeded{};
        }
    }
};

/// The class of every state of a variable. A table has one entry for all states of one class: M[v, d_Z] of the paper
/// has one entry per partitioning of the output, whatever the parts of the contracted labels are.
struct state_classes {
    std::vector<int> of_state;
    std::size_t count = 0;
};

/// A term of a sum. It depends on the variables of `scope` through the classes of their states. `cost` is row-major in
/// the order of `scope`.
struct cost_table {
    std::vector<std::size_t> scope;
    std::vector<std::shared_ptr<const state_classes>> classes;
    std::shared_ptr<const std::vector<double>> cost;

    EINPARALLEL_INLINE [[nodiscard]] double at(std::span<const int> states) const {
        std::size_t cell = 0;
        for (std::size_t position = 0; position < scope.size(); ++position) {
            const auto state = std::size_t(states[scope[position]]);
            cell = cell * classes[position]->count + std::size_t(classes[position]->of_state[state]);
        }
        return (*cost)[cell];
    }
};

/// A sum of terms: the cost of each variable's own state, and tables. All costs are finite and not negative. Equal
/// tables are shared, so a loop of a thousand layers stores one.
struct cost_sum {
    std::vector<std::shared_ptr<const std::vector<double>>> variables;
    std::vector<cost_table> tables;
};

/// One state per variable, and a lower bound of the sum for every assignment of states. Where no table was split
/// (`exact`), the bound is the sum for these states.
struct minimum {
    std::vector<int> states;
    double bound = 0;
    bool exact = true;
};

/// Eliminates the variables in min-fill order. On a tree this is the dynamic programme of EinDecomp §8.2 (every vertex
/// has one neighbour left when its turn comes). On a general DAG a table over the remaining neighbours replaces M[v,
/// d_Z]. Variables with equal tables around them, as in equal layers, are worked out once.
/// @param limit entries that the elimination of one variable may look at before its tables are split
/// @param effort gets a 24th of the entries that are looked at, because many of them are added up at once
EINPARALLEL_INLINE minimum minimise(const cost_sum& sum, std::size_t limit, effort_count* effort = nullptr);

}  // namespace einparallel::EINPARALLEL_DETAIL
