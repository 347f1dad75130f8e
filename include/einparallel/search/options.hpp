#pragma once
// What a user may ask of the planner.

#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/objective.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace einparallel {

/// Exact dynamic programming, or the paper's linearisation (longest path first, EinDecomp §8.4).
enum class method : std::uint8_t { exact, linearized };

/// Which order the pairs of a product of many tensors are contracted in: the one with the fewest multiply-adds, or the
/// one whose plan takes the fewest seconds by the time model, arithmetic and communication together.
enum class order : std::uint8_t { fewest_operations, best_plan };

/// How far a search has come after a round of its two models.
struct search_progress {
    std::size_t round = 0;   ///< from 0
    std::size_t spent = 0;   ///< of the effort; the last round may exceed it
    std::size_t effort = 0;  ///< options.effort; under the paper's objective twice that
    double cost = 0;         ///< of the best plan so far, in the unit of the objective
    double bound = 0;        ///< what no plan costs less than
};

/// Called with the progress of searches, on the thread that plans. It does not belong to what is asked: all compare
/// equal.
struct progress_callback : std::function<void(const search_progress&)> {
    using std::function<void(const search_progress&)>::function;

    friend bool operator==(const progress_callback&, const progress_callback&) { return true; }
};

/// Fields in the order in which designated initialisers may name them.
struct options {
    int processes = 1;                                                     ///< ranks to plan for
    einparallel::objective objective = einparallel::objective::time;       ///< what to minimise
    std::size_t memory_limit = 0;                                          ///< bytes per rank; 0 is no limit
    einparallel::algorithm algorithm = einparallel::algorithm::automatic;  ///< of every contraction
    einparallel::method method = einparallel::method::exact;               ///< how to search
    bool powers_of_two = false;                                            ///< round processes up, as in the paper
    einparallel::machine machine = {};                                     ///< constants of the time model
    einparallel::order order = einparallel::order::fewest_operations;      ///< of products of three tensors and more
    /// How often the plan will run. With more than one run the objective is the total of all of them: what depends on
    /// lasting inputs alone (all but placeholders and what the application may write to) is brought and computed in the
    /// first run, where its readers want it and replicated where that pays, and kept in the context until
    /// plan::release.
    std::size_t runs = 1;
    /// Table entries that the search may look at, states and moves counted as so many, and under the paper's objective,
    /// where they take less time, twice as many: a count, so that every rank and every run plans alike.
    /// Behind an eighth of it a plan whose cost is within a thousandth of the bound ends the search.
    /// More effort gives no worse plan as the search counts: of more than 32 ranks it estimates
    /// some traffic, which the plan's own cost counts exactly.
    std::size_t effort = 8'000'000;
    /// Every run compares, by a checksum of all elements on each rank, the arrays that are bound on all ranks: they
    /// must be equal there. Off, an array that differs is read where each rank needs it, and the result is a mixture.
    bool check_inputs = false;
    /// Called after each round of a search: `.on_progress = [](const ep::search_progress& now) { … }`. Under a memory
    /// limit, and with order::best_plan, one search follows another, each from round 0. On a context every rank that
    /// has a callback calls its own. What it throws ends the planning, on a context on every rank, and nothing is kept.
    progress_callback on_progress = {};

    friend bool operator==(const options&, const options&) = default;
};

/// Every field once: `visit(name, value)`. JSON, hashes and the ranks' agreement go by this list.
constexpr void describe(const options& asked, const auto& visit) {
    visit("processes", asked.processes);
    visit("objective", asked.objective);
    visit("memory_limit", asked.memory_limit);
    visit("algorithm", asked.algorithm);
    visit("method", asked.method);
    visit("powers_of_two", asked.powers_of_two);
    visit("effort", asked.effort);
    visit("check_inputs", asked.check_inputs);
    visit("machine", asked.machine);
    visit("order", asked.order);
    visit("runs", asked.runs);
}

}  // namespace einparallel
