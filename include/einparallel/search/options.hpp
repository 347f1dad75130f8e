#pragma once
// What a user may ask of the planner.

#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/objective.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace einparallel {

/// How to search: exact dynamic programming, or the paper's linearisation (longest path first, EinDecomp §8.4).
enum class method : std::uint8_t { exact, linearized };

/// In which order the pairs of a product of many tensors are contracted: in the order with the fewest multiply-adds, or
/// in the order whose plan takes the fewest seconds by the time model (arithmetic and communication together).
enum class order : std::uint8_t { fewest_operations, best_plan };

/// How far a search has come after a round, in which it solves two models.
struct search_progress {
    std::size_t round = 0;   ///< number of the round, from 0
    std::size_t spent = 0;   ///< part of the effort that is used up; the last round may exceed the effort
    std::size_t effort = 0;  ///< options.effort; twice that under the paper's objective
    double cost = 0;         ///< cost of the best plan so far, in the unit of the objective
    double bound = 0;        ///< lower bound of the cost of every plan
};

/// A function that is called with the progress of searches, on the thread that plans. Comparisons of options leave it
/// out: all callbacks compare equal.
struct progress_callback : std::function<void(const search_progress&)> {
    using std::function<void(const search_progress&)>::function;

    friend bool operator==(const progress_callback&, const progress_callback&) { return true; }
};

/// What a user asks of the planner. Designated initialisers name the fields in this order.
struct options {
    int processes = 1;                                                     ///< ranks to plan for
    einparallel::objective objective = einparallel::objective::time;       ///< what to minimise
    std::size_t memory_limit = 0;                                          ///< bytes per rank; 0 is no limit
    einparallel::algorithm algorithm = einparallel::algorithm::automatic;  ///< how every contraction is run
    einparallel::method method = einparallel::method::exact;               ///< how to search
    bool powers_of_two = false;         ///< round `processes` up to a power of two, as the paper does
    einparallel::machine machine = {};  ///< constants of the time model
    einparallel::order order = einparallel::order::fewest_operations;  ///< for products of three or more tensors
    /// How often the plan will run. With more than one run the objective is the total cost of all runs. Tensors that
    /// depend on lasting inputs alone (all inputs but placeholders and arrays that the application may write to) are
    /// then brought and computed in the first run, where their readers want them, and replicated where that pays. The
    /// context keeps them until plan::release.
    std::size_t runs = 1;
    /// How many table entries the search may look at. States and moves count as several entries. Under the paper's
    /// objective, where entries take less time, it may look at twice as many. The limit is a count, not a time, so that
    /// every rank and every run plans alike.
    /// When an eighth of the effort is spent, a plan whose cost is within a thousandth of the bound ends the search.
    /// More effort gives no worse plan by the costs that the search counts. For more than 32 ranks the search estimates
    /// some traffic, which the plan's own cost counts exactly.
    std::size_t effort = 8'000'000;
    /// With `true` every run compares, by a checksum of all elements on each rank, the arrays that are bound on all
    /// ranks: they must be equal on all of them. With `false` nothing is compared: of an array that differs between
    /// ranks, each rank reads its own elements, and the result is a mixture.
    bool check_inputs = false;
    /// Called after each round of a search: `.on_progress = [](const ep::search_progress& now) { … }`. Under a memory
    /// limit, and with order::best_plan, there are several searches, each of which begins with round 0. On a context
    /// every rank that has a callback calls its own. An exception that it throws ends the planning, on a context on
    /// every rank, and no plan is kept.
    progress_callback on_progress = {};
    /// Under objective::bytes: only bytes that leave a group of this level of options.machine count, such as bytes
    /// between nodes. -1: all bytes that leave a rank.
    int level = -1;
    /// Whether tensors may wait in storage under a memory limit. With `true`, tensors that do not fit are written to a
    /// file between two uses and read again (plan.run(world, ep::scratch("folder"), …)), and contractions that need too
    /// much at once run in tiles, where such a plan is the cheapest that keeps to the limit. Inputs in files are read
    /// ahead of their use. On devices tensors wait in memory of the host (device_run::host_limit). With `false` nothing
    /// is written; inputs are read again from their files, or in slabs, where otherwise no plan keeps to the limit. A
    /// plan with pages keeps nothing for later runs.
    bool paging = false;

    friend bool operator==(const options&, const options&) = default;
};

/// Calls `visit(name, value)` once for every field but `on_progress`. JSON, hashes and the agreement between ranks use
/// this list.
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
    visit("level", asked.level);
    visit("paging", asked.paging);
}

}  // namespace einparallel
