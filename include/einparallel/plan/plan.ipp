#pragma once

#include <einparallel/plan/plan.hpp>

#include <einparallel/cost/copies.hpp>
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
            if (options_.level >= 0) {
                const auto level = std::min(std::size_t(options_.level), most_levels - 1);
                return double(bytes_between(level)) +
                       again * double(detail::sum_in(vertices_, std::size_t{0}, [&](const planned_vertex& each) {
                           return each.bytes_between_again[level];
                       }));
            }
            return double(bytes_sent()) + again * double(bytes_sent_again()) + (again + 1) * double(paging_.bytes);
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

/// The copies of tensors that a plan makes. Their places are distributions of the plan.
struct plan_moves : copy_ledger<const distribution*> {
    std::vector<std::vector<std::size_t>> serving{};  ///< by vertex and operand: the copy that the vertex reads
    std::vector<std::size_t> results{};               ///< by output: the copy that is its result
};

EINPARALLEL_SELDOM plan_moves moves_of(const std::vector<planned_vertex>& vertices,
                                       const std::vector<std::size_t>& outputs = {}) {
    plan_moves made;
    made.first.assign(vertices.size(), no_copy);
    std::size_t time = 0;
    const auto bring = [&](std::size_t tensor, const distribution& at, bool is_joined) {
        const planned_vertex& each = vertices[tensor];
        const auto rests = is_moved(*each.origin) ? std::optional(&each.resting) : std::nullopt;
        return made.bring(tensor, &at, rests, time, is_joined);
    };
    for (std::size_t number = 0; number < vertices.size(); ++number) {
        const planned_vertex& each = vertices[number];
        std::vector<std::size_t>& serving = made.serving.emplace_back();
        for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
            const distribution& at = each.work.operands[operand];
            const std::size_t brought = bring(each.inputs[operand], at, each.work.form.is_joined(operand));
            serving.push_back(each.work.holds(operand) ? made.gather(brought, &at, time) : brought);
        }
        if (!each.is_input()) {
            made.make(number, &each.resting, time + 1);
        }
        time += 2;
    }
    for_each_in(outputs,
                [&](std::size_t output) { made.results.push_back(bring(output, vertices[output].resting, false)); });
    return made;
}

/// The distribution of an input that no vertex reads (it is an output itself): it is cut along its longest dimension.
EINPARALLEL_SELDOM distribution spread_out(const std::vector<index>& bounds, int processes) {
    const auto longest = std::max_element(bounds.begin(), bounds.end());
    mesh ranks;
    if (longest != bounds.end() && *longest > 1) {
        const int parts = int(std::min<index>(*longest, processes));
        ranks.axes.push_back({label_id(longest - bounds.begin()), parts});
    }
    return cut_along(bounds, ranks);
}

/// By number of the vertex: the states that have the partition vectors of `decided` and move the fewest bytes; on a
/// machine with levels, those that take least time, for bytes do not say which ranks share a node.
EINPARALLEL_SELDOM std::vector<state> states_with_vectors(const einsum_graph& graph, options asked,
                                                          std::vector<vertex_cuts>& may_be,
                                                          const std::vector<state>& decided, place_table& table) {
    for (std::size_t number = 0; number < decided.size(); ++number) {
        if (const vertex& each = *graph.vertices[number]; !each.is_input()) {
            may_be[number] = only_cuts(each, decided[number].ranks, may_be[number]);
        }
    }
    constexpr std::size_t enough = 1'000'000;  // with one vector each there is little to choose, and no bound to prove
    asked.effort = std::min(asked.effort, enough);
    asked.method = method::exact;
    if (table.on().is_flat()) {
        asked.objective = objective::bytes;
        asked.level = -1;
    } else if (asked.objective != objective::bytes) {
        asked.objective = objective::time;
        asked.algorithm = algorithm::c;  // no master and workers, which were not asked for
    }
    asked.memory_limit = 0;
    asked.on_progress = {};
    std::vector<state> placed = best_placement(graph, asked, may_be, table).states;
    for (std::size_t number = 0; number < placed.size(); ++number) {
        placed[number].memory = decided[number].memory;
    }
    return placed;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// Makes plans.
struct plan_builder {
    /// The plan in which every vertex has its state of `states`. Under the paper's objective, with the linearisation,
    /// or with `by_vectors`, only the partition vector of a state counts, and its placement is chosen here. Otherwise a
    /// state is a whole placement.
    EINPARALLEL_SELDOM static plan build(const detail::einsum_graph& graph, const options& asked,
                                         std::vector<detail::vertex_cuts> may_be, std::vector<detail::state> states,
                                         detail::place_table& table, bool by_vectors = false) {
        if (by_vectors || asked.objective == objective::paper || asked.method == method::linearized) {
            states = detail::states_with_vectors(graph, asked, may_be, states, table);
        }
        plan made;
        made.processes_ = planned_processes(asked.processes, asked.powers_of_two);
        made_for(made, asked);
        made.outputs_ = graph.outputs;
        const std::size_t count = graph.vertices.size();
        const detail::lasting_tensors lasting(graph, asked.runs, asked.objective, asked.memory_limit);
        made.vertices_.resize(count);
        std::vector<detail::place_id> lies(count);  // anywhere: every reader reads it where it wants
        std::vector<bool> is_read(count);
        const auto write = [&](std::size_t number, const detail::lasting_work& held) {
            planned_vertex& each = made.vertices_[number];
            each.work = detail::task_of(*graph.vertices[number], states[number], may_be[number].wanted, asked,
                                        table.on(), held);
            each.resting = each.work.output;
        };
        const auto place_of = [&](std::size_t number, std::size_t operand) {
            const task& work = made.vertices_[number].work;
            return detail::exact_place(states[number], work.form, work.extents, operand, table);
        };
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
            const detail::place_id given = detail::given_place(einsum, table);
            lies[number] = given == detail::anywhere ? states[number].output : given;
            if (einsum.is_input()) {
                each.resting = lies[number] == detail::anywhere ? detail::spread_out(each.bounds, made.processes_)
                                                                : table.resting(lies[number]);
                continue;
            }
            write(number, lasting.work_of(number, may_be[number].wanted));
            each.fell_back = may_be[number].fell_back;
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                const std::size_t input = each.inputs[operand];
                planned_vertex& read = made.vertices_[input];
                if (lies[input] == detail::anywhere && !is_read[input]) {
                    const detail::place_id where = table.whole_of(place_of(number, operand));
                    const bool has_halo = detail::is_placeholder(*read.origin) && each.work.form.is_viewed(operand);
                    const bool is_output = detail::found_in(input, made.outputs_);
                    read.resting = is_output || has_halo ? table.resting(where) : each.work.operands[operand];
                    lies[input] = has_halo ? where : detail::anywhere;
                }
                is_read[input] = true;
            }
        }
        // Blocks of a tensor that changes between runs, and that no other reader holds, go round a ring during the
        // arithmetic.
        detail::plan_moves moves = detail::moves_of(made.vertices_);
        std::vector<bool> alone(count);
        for (std::size_t number = 0; number < count; ++number) {
            detail::lasting_work held = lasting.work_of(number, may_be[number].wanted);
            for (const std::size_t operand : made.vertices_[number].work.held_operands()) {
                if (!lasting.lasts(graph.inputs[number][operand]) &&
                    moves.copies[moves.serving[number][operand]].readings == 1) {
                    held.held[operand] = 0;
                    alone[number] = true;
                }
            }
            if (alone[number]) {
                write(number, held);
            }
        }
        if (detail::found_in(true, alone)) {
            moves = detail::moves_of(made.vertices_);
        }
        std::size_t charged = 0;  // number of copies that are charged already
        for (std::size_t number = 0; number < count; ++number) {
            planned_vertex& each = made.vertices_[number];
            if (each.is_input()) {
                continue;
            }
            each.algorithm = algorithm_of(each.work);
            add_numbers(each, made.vertices_);
            // Bytes that leave a rank, and by level those that leave a group.
            std::array<double, most_levels + 1> bytes{};
            std::array<double, most_levels + 1> bytes_again{};
            const std::size_t levels = table.on().groups().levels();
            const auto charge = [&](double seconds, bool once, const auto& sent_beyond) {
                each.seconds += seconds;
                each.seconds_again += once ? 0 : seconds;
                for (std::size_t number_of = 0; number_of <= levels; ++number_of) {
                    const double sent = sent_beyond(int(number_of) - 1);
                    bytes[number_of] += sent;
                    bytes_again[number_of] += once ? 0 : sent;
                }
            };
            charge(detail::task_seconds(each.work, graph.vertices[number]->work->operations_per_point(), table.on()),
                   each.lasts, [&](int level) {
                       return detail::bytes_between(each.work, table.on(), level, {}, detail::every_rank);
                   });
            for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
                const std::size_t input = each.inputs[operand];
                const planned_vertex& read = made.vertices_[input];
                const std::size_t serving = moves.serving[number][operand];
                for (std::size_t copy = serving; copy >= charged && moves.copies[copy].from != detail::no_copy;
                     copy = moves.copies[copy].from) {
                    if (moves.copies[copy].is_gathered) {
                        charge(detail::gather_seconds(each.work, operand, table.on()), read.lasts, [&](int level) {
                            return detail::gathered_between(each.work, operand, table.on(), level, detail::every_rank);
                        });
                    } else {
                        const detail::traffic moving = table.counted(lies[input], place_of(number, operand));
                        charge(detail::redistribution_seconds(moving, read.element.bytes, table.on()), read.lasts,
                               [&](int level) { return moving.beyond(level) * double(read.element.bytes); });
                    }
                }
                charged = std::max(charged, serving + 1);
            }
            each.bytes = std::size_t(std::llround(bytes[0]));
            each.bytes_again = std::size_t(std::llround(bytes_again[0]));
            for (std::size_t level = 0; level < levels; ++level) {
                each.bytes_between[level] = std::size_t(std::llround(bytes[level + 1]));
                each.bytes_between_again[level] = std::size_t(std::llround(bytes_again[level + 1]));
            }
        }
        return made;
    }

    /// Sets the options that the plan was made for, without the callback, and the lower bound of all plans.
    static void made_for(plan& made, const options& asked, std::optional<double> lower_bound = {}) {
        made.options_ = asked;
        made.options_.on_progress = {};
        made.making_.lower_bound = lower_bound;
        made.making_.identity = std::make_shared<char>();
    }

    /// Sets which tensors may wait in storage, and what that costs.
    static void page(plan& made, const plan_paging& how) { made.paging_ = how; }

private:
    /// Sets the numbers moved by a vertex, in the paper's count.
    EINPARALLEL_SELDOM static void add_numbers(planned_vertex& each, const std::vector<planned_vertex>& vertices) {
        const task& work = each.work;
        const std::vector<int> parts = detail::list_of(detail::first_labels(work.extents.size()),
                                                       [&](label_id label) { return work.ranks.parts(label); });
        const auto parts_of = [](const task& of, const std::vector<label_id>& labels) {
            return detail::list_of(labels, [&](label_id label) { return of.parts(label); });
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
