#pragma once
// The smallest sum of tables over finitely many states: bucket elimination, with tables that would grow too large split
// into mini-buckets (Dechter and Rish 2003), so that the same pass gives an assignment and a bound.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Costs closer than this, relatively, are ties, and the first state wins: compilers that fuse multiplications with
/// additions round differently, and all ranks have to decide alike.
inline constexpr double tie = 1e-13;

/// True where `cost` beats `best` by more than rounding.
constexpr bool better(double cost, double best) {
    return cost < best - best * tie || (best == std::numeric_limits<double>::infinity() && cost < best);
}

/// What a search has looked at. Beyond the limit it is broken off, wherever it is.
struct effort_count {
    struct exceeded {};

    /// What takes as long as so many table entries (by regression over the cells of bench/planner_scale.cpp): a move to
    /// or from a state that is tried beside its neighbours, and traffic between two places that is worked out anew.
    static constexpr std::size_t of_move = 4;
    static constexpr std::size_t of_pair = 20;
    static constexpr std::size_t of_vector = 100;  ///< a partition vector that is listed

    std::size_t spent = 0;  ///< in table entries
    std::size_t limit = std::numeric_limits<std::size_t>::max();

    /// For what is of no use where it is broken off. @throws exceeded where so much is not left
    void expect_room(double entries) const {
        if (double(spent) + entries > double(limit)) {
            throw exceeded{};
        }
    }
    /// @throws exceeded
    void add(std::size_t looked_at) {
        spent += looked_at;
        if (spent > limit) {
            throw exceeded{};
        }
    }
};

/// Class of every state of a variable. Two states of one class look alike to whoever shares the table: M[v, d_Z] of the
/// paper has one entry per output partitioning, whatever the contracted labels do.
struct state_classes {
    std::vector<int> of_state;
    std::size_t count = 0;
};

/// A term that depends on some variables through the classes of their states: row-major, in the order of the scope.
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

/// A sum of terms over variables: costs by state, and tables. All costs are finite and not negative. Equal tables are
/// shared, so a loop of a thousand layers stores one.
struct cost_sum {
    std::vector<std::shared_ptr<const std::vector<double>>> variables;
    std::vector<cost_table> tables;
};

/// One state per variable, and what no assignment costs less than: its own cost, where no table was split.
struct minimum {
    std::vector<int> states;
    double bound = 0;
    bool exact = true;
};

/// Eliminates the variables in min-fill order. On a tree this is the dynamic programme of EinDecomp §8.2 (every vertex
/// has one neighbour left when its turn comes); on a general DAG a table over the remaining neighbours replaces
/// M[v, d_Z]. Variables with equal tables around them, as equal layers have, are worked out once.
/// @param limit entries that the elimination of one variable may look at before its tables are split
/// @param effort gets a 24th of the entries that are looked at: they are added up side by side
EINPARALLEL_INLINE minimum minimise(const cost_sum& sum, std::size_t limit, effort_count* effort = nullptr);

}  // namespace einparallel::EINPARALLEL_DETAIL
