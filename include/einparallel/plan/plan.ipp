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

namespace einparallel {

EINPARALLEL_SELDOM std::vector<axis_placements> placements_of(const planned_vertex& each) {
    std::vector<axis_placements> all;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        auto& operands = all.emplace_back(placements_along(each.work.form, axis)).operands;
        std::replace(operands.begin(), operands.end(), placement::shard(each.work.carried), placement::partial());
    }
    return all;
}

EINPARALLEL_SELDOM double plan::objective_cost() const {
    const auto again = double(options_.runs - 1);
    switch (options_.objective) {
        case objective::paper:
            return cost() + again * detail::sum_in(vertices_, 0.0, &planned_vertex::numbers_again);
        case objective::bytes:
            return double(bytes_sent()) + again * double(bytes_sent_again());
        default:
            return seconds() + again * seconds_again();
    }
}

EINPARALLEL_SELDOM std::vector<std::pair<std::string, int>> plan::partition(const vertex& made) const {
    for (const planned_vertex& each : vertices_) {
        if (each.makes(made)) {
            std::vector<std::pair<std::string, int>> parts;
            for (std::size_t label = 0; label < each.work.own_labels(); ++label) {
                const std::string& name = each.work.form.names[label];
                const auto own = detail::find_in(each.origin->form.names, name) - each.origin->form.names.begin();
                const bool is_own = own < std::ssize(made.form.names);  // else of a product in another order
                parts.emplace_back(is_own ? made.form.names[std::size_t(own)] : name,
                                   each.work.ranks.parts(label_id(label)));
            }
            return parts;
        }
    }
    throw error("plan: " + (made.name.empty() ? "this tensor" : made.name) + " is not made by any vertex of this plan");
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// Where an input rests that nobody reads (it is an output itself): cut along its longest dimension.
EINPARALLEL_SELDOM distribution spread_out(const std::vector<index>& bounds, int processes) {
    const auto longest = std::max_element(bounds.begin(), bounds.end());
    mesh ranks;
    if (longest != bounds.end() && *longest > 1) {
        const int parts = int(std::min<index>(*longest, processes));
        ranks.axes.push_back({label_id(longest - bounds.begin()), parts});
    }
    return cut_along(bounds, ranks);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// Fills plans in.
struct plan_builder {
    /// The plan in which every vertex has this state.
    EINPARALLEL_SELDOM static plan build(const detail::einsum_graph& graph, const options& asked,
                                         const std::vector<detail::vertex_cuts>& may_be,
                                         const std::vector<detail::state>& states, detail::place_table& table) {
        plan made;
        made.processes_ = planned_processes(asked.processes, asked.powers_of_two);
        made_for(made, asked);
        made.outputs_ = graph.outputs;
        const std::size_t count = graph.vertices.size();
        const detail::lasting_tensors lasting(graph, asked.runs, asked.objective, asked.memory_limit);
        made.vertices_.resize(count);
        std::vector<task> works = works_of(graph, asked, may_be, states, lasting);
        std::vector<detail::place_id> lies(count);  // anywhere: read as each reader wants it
        // Shared by all who want the same, whole or in pieces; and blocks that are held.
        std::vector<std::vector<std::pair<const distribution*, bool>>> copies(count);
        std::vector<std::vector<const distribution*>> blocks(count);
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
            const detail::state& chosen = states[number];
            const detail::place_id given = detail::given_place(einsum, table);
            lies[number] = given == detail::anywhere ? chosen.output : given;
            if (einsum.is_input()) {
                each.resting = lies[number] == detail::anywhere ? detail::spread_out(each.bounds, made.processes_)
                                                                : table.resting(lies[number]);
                continue;
            }
            each.work = std::move(works[number]);
            each.resting = each.work.output;
            each.algorithm = algorithm_of(each.work);
            each.fell_back = may_be[number].fell_back;
            add_numbers(each, made.vertices_);
            double bytes = 0;
            double bytes_again = 0;
            const auto charge = [&](double seconds, double sent, bool once) {
                each.seconds += seconds;
                bytes += sent;
                each.seconds_again += once ? 0 : seconds;
                bytes_again += once ? 0 : sent;
            };
            charge(detail::task_seconds(each.work, einsum.work->operations_per_point(), asked.machine),
                   detail::task_bytes(each.work), each.lasts);
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                const std::size_t input = each.inputs[operand];
                planned_vertex& read = made.vertices_[input];
                const distribution& wanted = each.work.operands[operand];
                const bool is_first = copies[input].empty();
                const bool is_whole = !each.work.form.lies_in_pieces(operand);
                const bool is_new = !detail::any_in(copies[input], [&](const auto& known) {
                    return *known.first == wanted && (known.second || !is_whole);
                });
                if (is_new) {
                    copies[input].emplace_back(&wanted, is_whole);
                }
                const auto is_held = [&](const auto* known) { return detail::have_same_blocks(*known, wanted); };
                if (each.work.holds(operand) && !detail::any_in(blocks[input], is_held)) {
                    blocks[input].push_back(&wanted);
                    charge(detail::gather_seconds(each.work, operand, asked.machine),
                           detail::gathered_bytes(each.work, operand), read.lasts);
                }
                if (lies[input] == detail::anywhere && is_first) {
                    const detail::place_id where =
                        detail::exact_place(chosen, each.work.form, each.work.extents, operand, table);
                    const bool has_halo = detail::is_placeholder(*read.origin) && each.work.form.is_viewed(operand);
                    const bool is_output = detail::found_in(input, made.outputs_);
                    read.resting = is_output || has_halo ? table.resting(table.whole_of(where)) : wanted;
                    lies[input] = has_halo ? table.whole_of(where) : detail::anywhere;
                }
                if (lies[input] != detail::anywhere && is_new) {
                    const detail::place_id where =
                        chosen.operands[operand] >= 0
                            ? chosen.operands[operand]
                            : detail::exact_place(chosen, each.work.form, each.work.extents, operand, table);
                    const detail::traffic moving = table.counted(lies[input], where);
                    charge(detail::redistribution_seconds(moving, read.element.bytes, asked.machine),
                           moving.elements * double(read.element.bytes), read.lasts);
                }
            }
            each.bytes = std::size_t(std::llround(bytes));
            each.bytes_again = std::size_t(std::llround(bytes_again));
        }
        return made;
    }

    /// Notes what was asked for, but for the callback, and what is known of all plans.
    static void made_for(plan& made, const options& asked, std::optional<double> lower_bound = {}) {
        made.options_ = asked;
        made.options_.on_progress = {};
        made.making_.lower_bound = lower_bound;
        made.making_.identity = std::make_shared<char>();
    }

private:
    /// What every vertex does. Blocks of a tensor that changes, and that no other reader holds, go round a ring behind
    /// the arithmetic.
    EINPARALLEL_SELDOM static std::vector<task> works_of(const detail::einsum_graph& graph, const options& asked,
                                                         const std::vector<detail::vertex_cuts>& may_be,
                                                         const std::vector<detail::state>& states,
                                                         const detail::lasting_tensors& lasting) {
        const std::size_t count = graph.vertices.size();
        std::vector<task> works(count);
        std::vector<detail::lasting_work> held(count);
        std::vector<std::vector<std::pair<std::size_t, std::size_t>>> readings(count);  // vertex and operand that hold
        const auto write = [&](std::size_t number) {
            works[number] =
                detail::task_of(*graph.vertices[number], states[number], may_be[number].wanted, asked, held[number]);
        };
        for (std::size_t number = 0; number < count; ++number) {
            if (graph.vertices[number]->is_input()) {
                continue;
            }
            held[number] = lasting.work_of(number, may_be[number].wanted);
            write(number);
            for (const std::size_t operand : works[number].held_operands()) {
                readings[graph.inputs[number][operand]].emplace_back(number, operand);
            }
        }
        for (std::size_t number = 0; number < count; ++number) {
            bool changes = false;
            for (const std::size_t operand : works[number].held_operands()) {
                const std::size_t input = graph.inputs[number][operand];
                const bool alone = !lasting.lasts(input) &&
                                   detail::count_if_in(readings[input], [&](const auto& other) {
                                       return detail::have_same_blocks(works[other.first].operands[other.second],
                                                                       works[number].operands[operand]);
                                   }) == 1;
                held[number].held[operand] = alone ? 0 : held[number].held[operand];
                changes = changes || alone;
            }
            if (changes) {
                write(number);
            }
        }
        return works;
    }

    /// What the paper counts.
    EINPARALLEL_SELDOM static void add_numbers(planned_vertex& each, const std::vector<planned_vertex>& vertices) {
        const task& work = each.work;
        std::vector<int> parts;
        for (std::size_t label = 0; label < work.extents.size(); ++label) {
            parts.push_back(work.ranks.parts(label_id(label)));
        }
        const auto parts_of = [](const task& of, const std::vector<label_id>& labels) {
            std::vector<int> made;
            detail::for_each_in(labels, [&](label_id label) { made.push_back(of.parts(label)); });
            return made;
        };
        each.join = cost::join(work.form, work.extents, parts);
        each.aggregation = work.pending != no_label ? 0 : cost::aggregate(work.form, work.extents, parts);
        each.numbers_again = each.lasts ? 0 : each.aggregation;
        for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
            const planned_vertex& read = vertices[each.inputs[operand]];
            const std::vector<label_id>& labels = work.form.operands[operand];
            const double moved =
                read.is_input() || work.form.is_viewed(operand)  // the paper knows of no boxes that overlap
                    ? 0
                    : cost::repartition(read.work.output.bounds(), parts_of(read.work, read.work.form.output),
                                        parts_of(work, labels));
            each.repartition += moved;
            if (!read.lasts) {
                each.numbers_again +=
                    moved + cost::kernel_calls(parts) * cost::block_elements(labels, work.extents, parts);
            }
        }
    }
};

}  // namespace einparallel
