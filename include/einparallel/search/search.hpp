#pragma once
// What a search is asked, how every vertex may be cut, and what it answers: a state for every vertex.
//
// Where to change what:
//   a fourth objective         cost/objective.hpp; domain::cost_of and move_cost::between; least_cost::of, a
//                              bound of the former by the partition vector alone; plan::objective_cost, what it adds up
//                              in planned_vertex and plan_builder; plan/names.ipp, check_options in plan/decompose.ipp.
//                              One that counts messages or the busiest rank also where plan/decompose.ipp makes a
//                              place_table, which else adds up elements only. Who compares with objective::time besides
//                              lets fewer ranks compete, or has costs depend on how blocks rest or on what travels
//   a new term of the machine  cost/machine.hpp (with its describe), machine_text in plan/names.ipp; cost/traffic.ipp
//                              for work, and least_cost::of, which must stay below it; redistribution_seconds
//                              for moves
//   what a state decides       state.ipp, domain.ipp; vertex_cuts.ipp says which partition vectors compete,
//                              plan/constraints.ipp what the user fixed, offers.ipp which sums may stay pending and
//                              where blocks may be uneven
//   what a move costs          move_cost.ipp; cost/redistribution_traffic.ipp, the one count; cost/places.ipp, which of
//                              its answers is exact
//   who shares which copy      cost/copies.hpp: what programs do, plans add up and memory_search.ipp holds
//   what memory is counted     cost/memory.ipp of a vertex's work, plan/memory.ipp of a plan
//   another solver             solver/solve.hpp: a sum of tables in (model_tables.ipp), states and a bound out
//   how far the search looks   search.ipp; placement_writer.ipp, which placements are written down; memory_search.ipp,
//                              which of them fit together under a memory limit, and in which order; plan/decompose.ipp
//                              puts the stages together, plan/plan.ipp writes the plan

#include <einparallel/cost/lasting.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/options.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The vectors that compete for a vertex which takes and leaves its sums in one way.
struct partition_family {
    pending_sums sums;
    std::vector<std::vector<label_id>> tensors;  ///< labels of the operands, then of the output
    std::vector<index> extents;                  ///< by label; the label of carried summands stands behind the others
    std::vector<int> fixed;                      ///< by label: parts that are not to choose
    std::vector<index> free;                     ///< by label: 1 where nothing is to choose, its extent elsewhere
    std::vector<int> products;                   ///< of the parts to choose: numbers of ranks that compete, descending
    int any_from = 0;                          ///< every number from here to the largest competes; 0: `products` alone
    std::vector<std::vector<index>> points{};  ///< by label, or fewer: cut points of the fixed parts; none: even

    /// The smallest number of ranks that competes.
    [[nodiscard]] int least() const { return any_from > 0 ? any_from : products.back(); }

    friend bool operator==(const partition_family&, const partition_family&) = default;
};

/// How a vertex may be cut.
struct vertex_cuts {
    std::vector<partition_family> families;
    bool every = false;  ///< any number of ranks competes
    algorithm wanted = algorithm::automatic;
    bool fell_back = false;

    /// True where any number of ranks competes beside those that families list.
    [[nodiscard]] bool has_others() const { return any_in(families, &partition_family::any_from); }

    friend bool operator==(const vertex_cuts&, const vertex_cuts&) = default;
};

/// How every vertex may be cut, with the sums that may be left pending.
EINPARALLEL_INLINE std::vector<vertex_cuts> cuts_of_graph(const einsum_graph& graph, const options& asked);

/// One partition vector and no other.
EINPARALLEL_INLINE vertex_cuts only_cuts(const vertex& einsum, const mesh& cut, const vertex_cuts& like);

/// One state of a vertex.
struct state {
    mesh ranks;
    task_cuts cuts;
    pending_sums sums;
    std::vector<place_id> operands;  ///< where each is wanted; anywhere where every rank reads what it wants
    place_id output = anywhere;      ///< anywhere where nobody reads it
    feeding feed;                    ///< of states that are run as master–worker
    double cost = 0;                 ///< of the vertex's own work, in the unit of the objective
    std::size_t memory = 0;          ///< bytes that its work may take where that is less than the limit
};

/// What a vertex does in a state. @param wanted how its kind is asked to run
EINPARALLEL_INLINE task task_of(const vertex& einsum, const state& chosen, algorithm wanted, const options& asked,
                                const lasting_work& lasting);

/// Where an input lies before a run; anywhere where every rank reads what it wants or a reader says where it is bound,
/// and for what an einsum makes.
EINPARALLEL_INLINE place_id given_place(const vertex& tensor, place_table& table);

/// Where a state has an operand, or the output, which is behind them. @param extents by label, with that of summands
EINPARALLEL_INLINE place_id exact_place(const state& chosen, const einsum_form& form, const std::vector<index>& extents,
                                        std::size_t tensor, place_table& table);

/// A state for every vertex.
struct placed_graph {
    std::vector<state> states;  ///< by number of the vertex; of inputs only those that are bound have one
    double cost = std::numeric_limits<double>::infinity();  ///< as the search counts
    double bound = 0;                                       ///< what no placement costs less than
};

/// The best placement found, by options.method, in options.effort. @param table of all places that it may have
EINPARALLEL_INLINE placed_graph best_placement(const einsum_graph& graph, const options& asked,
                                               const std::vector<vertex_cuts>& may_be, place_table& table);

/// What is really held during each vertex, by number, with these states and the einsums in this order; nothing where no
/// other placement is wanted.
using held_by_placement =
    std::function<std::vector<std::size_t>(const std::vector<state>& states, const std::vector<std::size_t>& order)>;

/// Visits placements that take less of a rank's memory than the limit, one after the other.
EINPARALLEL_INLINE void search_within(const einsum_graph& graph, const options& asked,
                                      const std::vector<vertex_cuts>& may_be, place_table& table,
                                      const held_by_placement& visit);

}  // namespace einparallel::EINPARALLEL_DETAIL
