#pragma once
// What a search is asked, how every vertex may be cut, and what it answers: a state for every vertex.
//
// Where to change what:
//   a fourth objective         cost/objective.hpp; domain::cost_of and move_cost::between; least_cost::of, which is a
//                              bound of domain::cost_of by the partition vector alone; plan::objective_cost, and the
//                              fields of planned_vertex that it adds up (plan_builder); plan/names.ipp, check_options
//                              in plan/decompose.ipp. For messages or the busiest rank also the place_table in
//                              plan/decompose.ipp, which otherwise adds up elements only. Other code that compares
//                              with objective::time lets fewer ranks compete, or makes costs depend on how blocks
//                              rest or on what travels
//   a new term of the machine  cost/machine.hpp (with its describe), plan/machine_text.ipp; cost/traffic.ipp
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

/// Partition vectors that compete for a vertex. All have the same pending sums and the same fixed parts.
struct partition_family {
    pending_sums sums;
    std::vector<std::vector<label_id>> tensors;  ///< labels of each operand, then of the output
    std::vector<index> extents;                  ///< by label; the label of carried summands stands behind the others
    std::vector<int> fixed;                      ///< by label: parts that are given; 1 where none are
    std::vector<index> free;                     ///< by label: its extent where its parts are to be chosen, otherwise 1
    std::vector<int> products;  ///< numbers of ranks that compete, descending: products of the chosen parts
    int any_from = 0;           ///< every number from this one to the largest competes too; 0: only `products`
    std::vector<std::vector<index>> points{};  ///< by label, or fewer: cut points of the fixed parts; empty: even

    /// The smallest number of ranks that competes.
    [[nodiscard]] int least() const { return any_from > 0 ? any_from : products.back(); }

    friend bool operator==(const partition_family&, const partition_family&) = default;
};

/// What a partition vector costs beside the vertex's own work, because tensors then have to wait in storage.
struct priced_cut {
    std::vector<int> parts;  ///< by label
    double cost = 0;         ///< in the unit of the objective

    friend bool operator==(const priced_cut&, const priced_cut&) = default;
};

/// How a vertex may be cut.
struct vertex_cuts {
    std::vector<partition_family> families;
    bool every = false;  ///< numbers of ranks far below the largest compete too
    algorithm wanted = algorithm::automatic;
    bool fell_back = false;
    std::vector<priced_cut> prices{};
    std::vector<double> reading{};  ///< by operand: the cost of each byte that a rank reads; empty: none costs anything

    /// What a task costs beside its own work, because of tensors in storage; 0 for most.
    [[nodiscard]] double price_of(const task& work) const {
        const auto found = find_if_in(prices, [&](const priced_cut& each) {
            label_id label = 0;
            return all_in(each.parts, [&](int parts) { return work.ranks.parts(label++) == parts; });
        });
        double price = found == prices.end() ? 0 : found->cost;
        for (std::size_t operand = 0; operand < reading.size(); ++operand) {
            price += reading[operand] == 0 ? 0
                                           : reading[operand] * double(work.operands[operand].held_by(0).size()) *
                                                 double(work.operand_bytes[operand]);
        }
        return price;
    }
    /// True where numbers of ranks compete that no family lists in its `products`.
    [[nodiscard]] bool has_others() const { return any_in(families, &partition_family::any_from); }

    friend bool operator==(const vertex_cuts&, const vertex_cuts&) = default;
};

/// By number of the vertex: how it may be cut, and which sums it may read or leave pending.
EINPARALLEL_INLINE std::vector<vertex_cuts> cuts_of_graph(const einsum_graph& graph, const options& asked);

/// Only the partition vector of `cut` competes. The algorithm is that of `like`, or automatic where `like` asks for
/// master–worker and this cut does not allow it.
EINPARALLEL_INLINE vertex_cuts only_cuts(const vertex& einsum, const mesh& cut, const vertex_cuts& like);

/// One state of a vertex: all that the search decides about it.
struct state {
    mesh ranks;
    task_cuts cuts;
    pending_sums sums;
    std::vector<place_id> operands;  ///< place where each operand is wanted; `anywhere` where it need not be moved
    place_id output = anywhere;      ///< place where the output is made; `anywhere` where no vertex reads it
    feeding feed;                    ///< how the master feeds its workers, in master–worker states
    double cost = 0;                 ///< cost of the vertex's own work, in the unit of the objective
    std::size_t memory = 0;          ///< bytes that its work may take; 0: as many as options.memory_limit says
};

/// The task of a vertex in a state. @param wanted the algorithm asked for
EINPARALLEL_INLINE task task_of(const vertex& einsum, const state& chosen, algorithm wanted, const options& asked,
                                const wired_machine& on, const lasting_work& lasting);

/// The place where an input lies before a run. It is `anywhere` for an input that every rank reads where it wants, for
/// a placeholder without a pin, and for an einsum.
EINPARALLEL_INLINE place_id given_place(const vertex& tensor, place_table& table);

/// The place where a state wants operand number `tensor`, or makes its output, whose number follows those of the
/// operands.
/// @param extents by label, with the label of summands
EINPARALLEL_INLINE place_id exact_place(const state& chosen, const einsum_form& form, const std::vector<index>& extents,
                                        std::size_t tensor, place_table& table);

/// A state for every vertex.
struct placed_graph {
    std::vector<state> states;  ///< by number of the vertex; among inputs only those that a reader binds have one
    double cost = std::numeric_limits<double>::infinity();  ///< as the search counts it
    double bound = 0;                                       ///< lower bound of the cost of every placement
};

/// The best placement that options.method finds within options.effort. @param table gets all places that tensors may
/// have
EINPARALLEL_INLINE placed_graph best_placement(const einsum_graph& graph, const options& asked,
                                               const std::vector<vertex_cuts>& may_be, place_table& table);

/// A function that returns, by number of the vertex, the bytes that are really held during it with these states and
/// this order of the einsums. It returns an empty list to end the search.
using held_by_placement =
    std::function<std::vector<std::size_t>(const std::vector<state>& states, const std::vector<std::size_t>& order)>;

/// Calls `visit` with one placement after the other. Each one is the best found so far for keeping to
/// options.memory_limit, given what earlier calls returned. It ends when `visit` returns an empty list or no new
/// placement is found.
EINPARALLEL_INLINE void search_within(const einsum_graph& graph, const options& asked,
                                      const std::vector<vertex_cuts>& may_be, place_table& table,
                                      const held_by_placement& visit);

}  // namespace einparallel::EINPARALLEL_DETAIL
