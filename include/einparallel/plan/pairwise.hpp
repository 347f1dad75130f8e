#pragma once
// A sum of terms over vertices and over edges of a graph: what the planner minimises.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/options.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

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

    EINPARALLEL_INLINE [[nodiscard]] double at(int producer_state, int consumer_state) const;
};

/// A term that depends on any number of variables through the classes of their states.
struct wide_term {
    std::vector<std::size_t> scope;  ///< ascending
    std::vector<std::shared_ptr<const state_classes>> classes;
    std::shared_ptr<const std::vector<double>> cost;  ///< row-major over the classes, in the order of the scope

    EINPARALLEL_INLINE [[nodiscard]] double at(std::span<const int> states) const;
};

/// Variables with finitely many states, a cost per state, and a cost per pair of states for some pairs of variables.
/// All costs are finite and not negative. Equal tables are shared, so a loop of a thousand layers stores one.
struct pairwise_model {
    std::vector<std::shared_ptr<const std::vector<double>>> variables;
    std::vector<pairwise_term> terms;
    std::vector<wide_term> wide;
};

/// Costs closer than this, relatively, are ties, and the first state wins: compilers that fuse multiplications with
/// additions round differently, and all ranks have to decide alike.
inline constexpr double tie = 1e-13;

/// True where `cost` beats `best` by more than rounding.
constexpr bool better(double cost, double best) {
    return cost < best - best * tie || (best == std::numeric_limits<double>::infinity() && cost < best);
}

/// The model of a graph under an objective: a variable for each einsum, its states the partition vectors that compete.
EINPARALLEL_INLINE pairwise_model model_of(const einsum_graph& graph, const options& asked);

/// The sum of all terms for one state per variable.
EINPARALLEL_INLINE double total_cost(const pairwise_model& model, std::span<const int> states);

}  // namespace einparallel::EINPARALLEL_DETAIL
