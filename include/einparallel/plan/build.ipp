#pragma once
// From decisions to the plan: axis orders, tasks and what each of them costs.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/align.ipp>
#include <einparallel/plan/cost.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/partition.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/traffic.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// What the search has decided about one vertex.
struct vertex_decision {
    std::vector<int> parts;  ///< partition vector; empty for inputs
    algorithm wanted = algorithm::automatic;
    bool fell_back = false;
};

/// Where everything rests for these partition vectors, vertex by vertex.
EINPARALLEL_INLINE placed_graph align_all(const einsum_graph& graph, const std::vector<vertex_decision>& decisions,
                                          overlap_table& table) {
    std::vector<std::vector<int>> parts;
    for (const vertex_decision& decision : decisions) {
        parts.push_back(decision.parts);
    }
    return alignment(graph, parts, table).result();
}

/// Where an input rests that nobody reads (it is an output itself): cut along its first dimensions, over as many ranks
/// as it allows.
EINPARALLEL_INLINE distribution spread_out(const std::vector<index>& bounds, int processes) {
    const partition_vectors rows = viable(bounds, processes);
    mesh ranks;
    std::vector<label_id> labels;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        labels.push_back(static_cast<label_id>(dimension));
        const int parts = rows[rows.size() - 1][dimension];
        if (parts > 1) {
            ranks.axes.push_back({labels.back(), parts});
        }
    }
    return {bounds, std::move(ranks), std::move(labels), 0};
}

}  // namespace EINPARALLEL_DETAIL

/// Fills plans in.
struct plan_builder {
    /// The plan for these partition vectors; the orders of the mesh axes are chosen here.
    EINPARALLEL_INLINE static plan build(const detail::einsum_graph& graph, const options& asked,
                                         const std::vector<detail::vertex_decision>& decisions) {
        detail::overlap_table table;
        return build(graph, asked, decisions, detail::align_all(graph, decisions, table), table);
    }

    /// The plan for partition vectors and places that are decided.
    EINPARALLEL_INLINE static plan build(const detail::einsum_graph& graph, const options& asked,
                                         const std::vector<detail::vertex_decision>& decisions,
                                         const detail::placed_graph& placed, detail::overlap_table& table) {
        plan made;
        made.processes_ = planned_processes(asked.processes, asked.powers_of_two);
        made.options_ = asked;
        made.outputs_ = graph.outputs;
        made.vertices_.resize(graph.vertices.size());
        std::vector<std::vector<const distribution*>> copies(graph.vertices.size());  // shared by all who want the same
        std::vector<bool> read(graph.vertices.size(), false);
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            planned_vertex& each = made.vertices_[number];
            each.origin = graph.origin_of(number);
            each.name = graph.name_of(number);
            each.wishes = each.origin->wishes;
            each.bounds = each.origin->bounds;
            each.element = each.origin->element;
            each.inputs = graph.inputs[number];
            if (each.origin->is_input()) {
                const std::optional<detail::resting_id> resting = placed.resting[number];
                each.resting = resting ? table.resting(*resting) : detail::spread_out(each.bounds, made.processes_);
                continue;
            }
            add_task(each, *graph.vertices[number], decisions[number], placed.einsums[number], asked);
            add_costs(each, *graph.vertices[number], made.vertices_, asked);
            double bytes = detail::task_bytes(each.work);
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                const std::size_t input = each.inputs[operand];
                const detail::resting_id where = placed.einsums[number].operands[operand];
                const std::optional<detail::resting_id> from = placed.resting[input];
                const distribution& wanted = each.work.operands[operand];
                const bool fresh =
                    std::ranges::none_of(copies[input], [&](const distribution* known) { return *known == wanted; });
                if (from && fresh) {
                    const std::size_t element_bytes = made.vertices_[input].element.bytes;
                    each.seconds +=
                        detail::redistribution_seconds(table.between(*from, where), element_bytes, asked.machine);
                    bytes += table.moved(*from, where) * static_cast<double>(element_bytes);
                } else if (!from && !read[input]) {
                    const bool is_output = std::ranges::find(made.outputs_, input) != made.outputs_.end();
                    made.vertices_[input].resting = is_output ? table.resting(table.whole_of(where)) : wanted;
                }
                if (fresh) {
                    copies[input].push_back(&wanted);
                }
                read[input] = true;
            }
            each.bytes = static_cast<std::size_t>(std::llround(bytes));
        }
        return made;
    }

    /// Notes what is known of all plans.
    static void bound(plan& made, double lower_bound) { made.lower_bound_ = lower_bound; }
    /// Notes what was asked for, where the search asked for less.
    static void made_for(plan& made, const options& asked) { made.options_ = asked; }

private:
    EINPARALLEL_INLINE static void add_task(planned_vertex& each, const vertex& einsum,
                                            const detail::vertex_decision& decision, const detail::placed_einsum& where,
                                            const options& asked) {
        each.work = make_task(with_sums(einsum.form, einsum.extents, where.sums, where.ranks),
                              detail::operand_bytes_of(einsum), einsum.element.bytes, where.ranks, where.cuts);
        detail::choose_best_travelling(each.work, decision.wanted, einsum.work->operations_per_point(), asked);
        each.resting = each.work.output;
        each.algorithm = algorithm_of(each.work);
        each.fell_back = decision.fell_back;
    }

    /// Parts of every dimension of a tensor with these labels. Summands that are left pending are one part each.
    static std::vector<int> parts_of(const task& work, const std::vector<label_id>& labels) {
        std::vector<int> parts;
        for (const label_id label : labels) {
            parts.push_back(label == no_label       ? 1
                            : label == work.pending ? static_cast<int>(work.output.bounds().front())
                                                    : work.ranks.parts(label));
        }
        return parts;
    }

    EINPARALLEL_INLINE static void add_costs(planned_vertex& each, const vertex& einsum,
                                             const std::vector<planned_vertex>& vertices, const options& asked) {
        const task& work = each.work;
        std::vector<int> parts(work.extents.size(), 1);
        for (std::size_t label = 0; label < parts.size(); ++label) {
            parts[label] = work.ranks.parts(static_cast<label_id>(label));
        }
        each.join = cost::join(work.form, work.extents, parts);
        each.aggregation = work.pending != no_label ? 0 : cost::aggregate(work.form, work.extents, parts);
        each.seconds = detail::task_seconds(work, einsum.work->operations_per_point(), asked.machine);
        for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
            const planned_vertex& producer = vertices[each.inputs[operand]];
            if (!producer.is_input()) {
                each.repartition +=
                    cost::repartition(producer.work.output.bounds(), parts_of(producer.work, producer.work.form.output),
                                      parts_of(work, work.form.operands[operand]));
            }
        }
    }
};

}  // namespace einparallel
