#pragma once
// From states to the plan: tasks, and what each of them costs.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/cost.hpp>
#include <einparallel/plan/factor_graph.ipp>
#include <einparallel/plan/lasting.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.ipp>
#include <einparallel/plan/places.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/search.ipp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/plan/vertex_cuts.ipp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Where an input rests that nobody reads (it is an output itself): cut along its first dimensions, over as many ranks
/// as it allows.
EINPARALLEL_INLINE distribution spread_out(const std::vector<index>& bounds, int processes) {
    int left = largest_product(bounds, processes);
    partition_ways ways(bounds);
    mesh ranks;
    std::vector<label_id> labels;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        labels.push_back(static_cast<label_id>(dimension));
        if (const int parts = ways.choices(dimension, left).back(); parts > 1) {
            ranks.axes.push_back({labels.back(), parts});
            left /= parts;
        }
    }
    return {bounds, std::move(ranks), std::move(labels), 0};
}

/// True where ranks that share a block of a tensor are always of one node.
EINPARALLEL_INLINE bool stays_in_nodes(const distribution& resting, int holders, int ranks_per_node) {
    for (int rank = 0; ranks_per_node > 1 && rank < holders; ++rank) {
        const std::vector<int> sharers = resting.replicas(rank);
        if (sharers.front() / ranks_per_node != sharers.back() / ranks_per_node) {
            return false;
        }
    }
    return ranks_per_node > 1;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// Fills plans in.
struct plan_builder {
    /// The plan in which every vertex has this state. `brought`: by vertex, bits of operands not to be held over runs.
    EINPARALLEL_INLINE static plan build(const detail::einsum_graph& graph, const options& asked,
                                         const std::vector<detail::vertex_cuts>& may_be,
                                         const std::vector<detail::state>& states, detail::place_table& table,
                                         const std::vector<std::uint64_t>& brought = {}) {
        plan made;
        made.processes_ = planned_processes(asked.processes, asked.powers_of_two);
        made_for(made, asked);
        made.outputs_ = graph.outputs;
        const std::size_t count = graph.vertices.size();
        const detail::lasting_tensors lasting(graph, asked);
        made.vertices_.resize(count);
        std::vector<std::optional<detail::place_id>> resting(count);  // nothing: read as each reader wants it
        std::vector<std::vector<detail::place_id>> copies(count);     // shared by all who want the same
        std::vector<std::vector<const distribution*>> blocks(count);  // the same of blocks that are held
        for (std::size_t number = 0; number < count; ++number) {
            planned_vertex& each = made.vertices_[number];
            each.origin = graph.origins[number].front();
            each.twins.assign(graph.origins[number].begin() + 1, graph.origins[number].end());
            each.name = graph.name_of(number);
            each.wishes = each.origin->wishes;
            each.bounds = each.origin->bounds;
            each.element = each.origin->element;
            each.inputs = graph.inputs[number];
            each.lasts = lasting.lasts(number);
            const vertex& einsum = *graph.vertices[number];
            if (einsum.is_input()) {
                if (detail::lies_somewhere(einsum)) {
                    resting[number] = table.exact(detail::resting_of_source(einsum));
                } else if (states[number].output != detail::anywhere) {
                    resting[number] = states[number].output;
                }
                each.resting = resting[number] ? table.resting(*resting[number])
                                               : detail::spread_out(each.bounds, made.processes_);
                continue;
            }
            const detail::state& chosen = states[number];
            detail::lasting_work own = lasting.work_of(number);
            for (std::size_t operand = 0; operand < std::min<std::size_t>(own.once.size(), 64); ++operand) {
                const bool is_brought = !brought.empty() && ((brought[number] >> operand) & 1U) != 0;
                own.once[operand] = is_brought ? 0 : own.once[operand];
            }
            add_task(each, einsum, chosen, may_be[number], asked, own);
            add_costs(each, einsum, made.vertices_, asked);
            const auto place = [&](const std::vector<label_id>& labels, const mesh& ranks, std::size_t cut) {
                const std::vector<index> bounds = detail::bounds_of(labels, each.work.extents);
                return chosen.feed.slices > 0 ? table.on_rank(bounds, chosen.feed.master)
                                              : table.exact(bounds, ranks, labels, cut);
            };
            const std::vector<label_id>& output = each.work.form.output;
            resting[number] = chosen.output >= 0 ? chosen.output : place(output, chosen.ranks, chosen.cuts.output);
            double bytes = detail::task_bytes(each.work);
            double bytes_again = each.lasts ? 0 : bytes;
            each.seconds_again = each.lasts ? 0 : each.seconds;
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                const std::size_t input = each.inputs[operand];
                const vertex& read = *graph.vertices[input];
                const detail::place_id where =
                    place(each.work.form.operands[operand], chosen.ranks, chosen.cuts.operands[operand]);
                const bool is_output = detail::found_in(input, made.outputs_);
                if (!resting[input] && copies[input].empty()) {
                    made.vertices_[input].resting = table.resting(is_output ? table.whole_of(where) : where);
                    if (detail::is_placeholder(read)) {
                        resting[input] = is_output ? table.whole_of(where) : where;
                    }
                }
                if (const distribution& pieces = each.work.operands[operand];
                    each.work.holds(operand) && !detail::any_in(blocks[input], [&](const distribution* known) {
                        return detail::have_same_blocks(*known, pieces);
                    })) {
                    blocks[input].push_back(&pieces);
                    each.seconds += detail::gather_seconds(each.work, operand, asked.machine);
                    bytes += detail::gathered_bytes(each.work, operand);
                }
                if (detail::found_in(where, copies[input])) {
                    continue;
                }
                copies[input].push_back(where);
                if (resting[input]) {
                    const detail::traffic moving = table.counted(*resting[input], where);
                    const double seconds = detail::redistribution_seconds(moving, read.element.bytes, asked.machine);
                    const double moved = moving.elements * static_cast<double>(read.element.bytes);
                    each.seconds += seconds;
                    bytes += moved;
                    each.seconds_again += lasting.lasts(input) ? 0 : seconds;
                    bytes_again += lasting.lasts(input) ? 0 : moved;
                }
            }
            each.bytes = static_cast<std::size_t>(std::llround(bytes));
            each.bytes_again = static_cast<std::size_t>(std::llround(bytes_again));
        }
        return made;
    }

    /// Notes what is known of all plans.
    static void bound(plan& made, std::optional<double> lower_bound) { made.making_.lower_bound = lower_bound; }
    /// Notes what was asked for; the callback is not kept.
    static void made_for(plan& made, const options& asked) {
        made.options_ = asked;
        made.options_.on_progress = {};
        made.making_.identity = std::make_shared<char>();
    }

private:
    EINPARALLEL_INLINE static void add_task(planned_vertex& each, const vertex& einsum, const detail::state& chosen,
                                            const detail::vertex_cuts& may_be, const options& asked,
                                            const detail::lasting_work& lasting) {
        each.work = detail::task_of(einsum, chosen, may_be.wanted, asked, lasting);
        if (each.work.travelling == output_travels &&
            detail::stays_in_nodes(each.work.output, each.work.ranks.size(), asked.ranks_per_node)) {
            each.work.travelling = nothing_travels;  // neighbours add in place: nothing to hide, and thicker calls
        }
        each.resting = each.work.output;
        each.algorithm = algorithm_of(each.work);
        each.fell_back = may_be.fell_back;
    }

    /// Parts of every dimension of a tensor with these labels. Summands that are left pending are one part each.
    EINPARALLEL_INLINE static std::vector<int> parts_of(const task& work, const std::vector<label_id>& labels) {
        std::vector<int> parts;
        for (const label_id label : labels) {
            const bool is_pending = label != no_label && label == work.pending;
            parts.push_back(is_pending ? static_cast<int>(work.output.bounds().front()) : work.ranks.parts(label));
        }
        return parts;
    }

    EINPARALLEL_INLINE static void add_costs(planned_vertex& each, const vertex& einsum,
                                             const std::vector<planned_vertex>& vertices, const options& asked) {
        const task& work = each.work;
        std::vector<int> parts;
        for (std::size_t label = 0; label < work.extents.size(); ++label) {
            parts.push_back(work.ranks.parts(static_cast<label_id>(label)));
        }
        each.join = cost::join(work.form, work.extents, parts);
        each.aggregation = work.pending != no_label ? 0 : cost::aggregate(work.form, work.extents, parts);
        each.seconds = detail::task_seconds(work, einsum.work->operations_per_point(), asked.machine);
        each.numbers_again = each.lasts ? 0 : each.aggregation;
        for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
            const planned_vertex& producer = vertices[each.inputs[operand]];
            double numbers = 0;
            if (!producer.is_input()) {
                numbers =
                    cost::repartition(producer.work.output.bounds(), parts_of(producer.work, producer.work.form.output),
                                      parts_of(work, work.form.operands[operand]));
                each.repartition += numbers;
            }
            if (!producer.lasts) {
                each.numbers_again +=
                    numbers +
                    cost::kernel_calls(parts) * cost::block_elements(work.form.operands[operand], work.extents, parts);
            }
        }
    }
};

}  // namespace einparallel
