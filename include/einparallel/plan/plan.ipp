#pragma once

#include <einparallel/plan/plan.hpp>

#include <einparallel/cost/paper.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/search/partition.hpp>
#include <einparallel/search/pins.hpp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>

namespace einparallel {

EINPARALLEL_INLINE bool planned_vertex::makes(const vertex& asked) const {
    return origin.get() == &asked || detail::any_in(twins, [&](const auto& each) { return each.get() == &asked; });
}

EINPARALLEL_INLINE std::vector<axis_placements> placements_of(const planned_vertex& each) {
    std::vector<axis_placements> all;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        all.push_back(placements_along(each.work.form, axis));
        if (axis.label == each.work.carried) {  // the summands of operands, which the output adds up to its own
            for (std::size_t operand = 0; operand < all.back().operands.size(); ++operand) {
                const bool comes = each.work.form.in_operand(operand, axis.label);
                all.back().operands[operand] = comes ? placement::partial() : placement::replicate();
            }
            all.back().output = placement::partial();
        }
    }
    return all;
}

namespace EINPARALLEL_DETAIL {

/// The sum of a member, or of what a function says, over some vertices.
auto sum_over(const std::vector<planned_vertex>& vertices, auto of) {
    std::remove_cvref_t<std::invoke_result_t<decltype(of), const planned_vertex&>> sum{};
    std::ranges::for_each(vertices, [&](const planned_vertex& each) { sum += std::invoke(of, each); });
    return sum;
}

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_INLINE double plan::cost() const {
    return detail::sum_over(vertices_,
                            [](const planned_vertex& each) { return each.join + each.aggregation + each.repartition; });
}

EINPARALLEL_INLINE double plan::seconds() const {
    return detail::sum_over(vertices_, &planned_vertex::seconds);
}

EINPARALLEL_INLINE double plan::seconds_again() const {
    return detail::sum_over(vertices_, &planned_vertex::seconds_again);
}

EINPARALLEL_INLINE std::size_t plan::bytes_sent() const {
    return detail::sum_over(vertices_, &planned_vertex::bytes);
}

EINPARALLEL_INLINE std::size_t plan::bytes_sent_again() const {
    return detail::sum_over(vertices_, &planned_vertex::bytes_again);
}

EINPARALLEL_INLINE double plan::objective_cost() const {
    const auto again = static_cast<double>(options_.runs - 1);
    switch (options_.objective) {
        case objective::paper:
            return cost() + again * detail::sum_over(vertices_, &planned_vertex::numbers_again);
        case objective::bytes:
            return static_cast<double>(bytes_sent()) + again * static_cast<double>(bytes_sent_again());
        default:
            return seconds() + again * seconds_again();
    }
}

EINPARALLEL_INLINE std::vector<std::pair<std::string, int>> plan::partition(const vertex& made) const {
    for (const planned_vertex& each : vertices_) {
        if (each.makes(made)) {
            std::vector<std::pair<std::string, int>> parts;
            for (std::size_t label = 0; label < each.work.own_labels(); ++label) {
                const std::string& name = each.work.form.names[label];
                const auto own = std::ranges::find(each.origin->form.names, name) - each.origin->form.names.begin();
                const bool is_own = own < std::ssize(made.form.names);  // else of a product in another order
                parts.emplace_back(is_own ? made.form.names[static_cast<std::size_t>(own)] : name,
                                   each.work.ranks.parts(static_cast<label_id>(label)));
            }
            return parts;
        }
    }
    throw error("plan: " + (made.name.empty() ? "this tensor" : made.name) + " is not made by any vertex of this plan");
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// Where an input rests that nobody reads (it is an output itself): cut along its longest dimension.
EINPARALLEL_INLINE distribution spread_out(const std::vector<index>& bounds, int processes) {
    std::vector<label_id> labels(bounds.size());
    std::iota(labels.begin(), labels.end(), label_id{0});
    const auto longest = std::ranges::max_element(bounds);
    mesh ranks;
    if (const int parts = longest == bounds.end() ? 1 : static_cast<int>(std::min<index>(*longest, processes));
        parts > 1) {
        ranks.axes.push_back({static_cast<label_id>(longest - bounds.begin()), parts});
    }
    return {bounds, std::move(ranks), std::move(labels), 0};
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// Fills plans in.
struct plan_builder {
    /// The plan in which every vertex has this state.
    EINPARALLEL_INLINE static plan build(const detail::einsum_graph& graph, const options& asked,
                                         const std::vector<detail::vertex_cuts>& may_be,
                                         const std::vector<detail::state>& states, detail::place_table& table) {
        plan made;
        made.processes_ = planned_processes(asked.processes, asked.powers_of_two);
        made_for(made, asked);
        made.outputs_ = graph.outputs;
        const std::size_t count = graph.vertices.size();
        const detail::lasting_tensors lasting(graph, asked.runs, asked.objective);
        made.vertices_.resize(count);
        std::vector<std::optional<detail::place_id>> resting(count);  // nothing: read as each reader wants it
        std::vector<std::vector<detail::place_id>> copies(count);     // shared by all who want the same
        std::vector<std::vector<const distribution*>> blocks(count);  // the same of blocks that are held
        for (std::size_t number = 0; number < count; ++number) {
            planned_vertex& each = made.vertices_[number];
            each.origin = graph.origins[number].front();
            each.twins.assign(graph.origins[number].begin() + 1, graph.origins[number].end());
            each.name = graph.name_of(number);
            each.constraints = each.origin->constraints;
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
            each.work = detail::task_of(einsum, chosen, may_be[number].wanted, asked, lasting.work_of(number));
            each.resting = each.work.output;
            each.algorithm = algorithm_of(each.work);
            each.fell_back = may_be[number].fell_back;
            add_costs(each, einsum, made.vertices_, asked);
            const auto place = [&](const std::vector<label_id>& labels, std::size_t cut) {
                return detail::exact_place(chosen, each.work.extents, labels, cut, table);
            };
            const std::vector<label_id>& output = each.work.form.output;
            resting[number] = chosen.output >= 0 ? chosen.output : place(output, chosen.cuts.output);
            double bytes = detail::task_bytes(each.work);
            double bytes_again = each.lasts ? 0 : bytes;
            each.seconds_again = each.lasts ? 0 : each.seconds;
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                const std::size_t input = each.inputs[operand];
                const vertex& read = *graph.vertices[input];
                const detail::place_id where = place(each.work.form.operands[operand], chosen.cuts.operands[operand]);
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
                if (detail::any_in(copies[input], [&](detail::place_id known) {  // of many ranks by two descriptions
                        return known == where || table.resting(known) == table.resting(where);
                    })) {
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
