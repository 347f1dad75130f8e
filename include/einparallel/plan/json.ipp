#pragma once
// Plans as JSON with a version, for other programs.

#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/json_writer.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/statistics.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace einparallel {

void describe(const pinned_part& pin, const auto& visit) {
    pin.label.empty() ? visit("dimension", pin.dimension) : visit("label", pin.label);
    visit("parts", pin.parts);
    if (!pin.points.empty()) {
        visit("points", pin.points);
    }
}

void describe(const element_type& element, const auto& visit) {
    visit("kind", std::string(1, element.kind));
    visit("bytes", element.bytes);
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// Version of the JSON text's form. It grows when a reader of an earlier form could misunderstand the text.
inline constexpr int json_version = 2;

/// A placement as text: `shard(i)`, `replicate` or `partial`.
EINPARALLEL_SELDOM std::string placement_text(const placement& shown, const std::vector<std::string>& names) {
    return shown.kind == placement_kind::shard     ? "shard(" + names[std::size_t(shown.label)] + ")"
           : shown.kind == placement_kind::partial ? "partial"
                                                   : "replicate";
}

/// Writes the axes of a vertex's mesh, and how its tensors lie along each axis.
EINPARALLEL_SELDOM void write_mesh(json_writer& json, const plan& shown, const planned_vertex& each) {
    const std::vector<std::string>& names = each.work.form.names;
    int apart = each.work.ranks.size();  // the ranks of neighbouring parts
    json.key("mesh").open('[');
    for (std::size_t number = 0; const axis_placements& along : placements_of(each)) {
        const mesh_axis& axis = each.work.ranks.axes[number++];
        apart /= axis.parts;
        json.open('{').member("label", names[std::size_t(axis.label)]).member("parts", axis.parts);
        if (!axis.points.empty()) {
            json.member("points", axis.points);
        }
        if (shown.asked().machine.levels.front().is_given()) {
            json.member("ranks_apart", apart);
        }
        json.key("operands").open('[');
        for_each_in(along.operands, [&](const placement& of) { json.value(placement_text(of, names)); });
        json.close(']').member("output", placement_text(along.output, names)).close('}');
    }
    json.close(']');
}

EINPARALLEL_SELDOM void write_einsum(json_writer& json, const plan& shown, const planned_vertex& each,
                                     const vertex_statistics& statistics) {
    const task& work = each.work;
    const auto parts = list_of(first_labels(work.extents.size()), [&](label_id label) { return work.parts(label); });
    json.member("einsum", work.form.text()).member("formula", formula_text(shown, each));
    json.member("program", each.origin->work->program().text()).member("labels", work.form.names);
    json.member("extents", work.extents).member("parts", parts);
    write_mesh(json, shown, each);
    json.member("inputs", each.inputs)
        .member("operand_cuts", list_of(work.operands, &distribution::cut))
        .member("output_cut", work.output.cut());
    json.member("summands_read", work.parts(work.carried)).member("summands_left", work.parts(work.pending));
    json.member("algorithm", each.algorithm).member("fell_back", each.fell_back).key("travelling");
    work.travelling == output_travels    ? json.value("output")
    : work.travelling == all_travel      ? json.value("all")
    : work.travelling == nothing_travels ? json.value(std::optional<int>())
                                         : json.value(work.travelling);
    json.member("bytes", each.bytes).member("bytes_gathered", statistics.gathered_bytes);
    json.member("bytes_aggregated", statistics.aggregated_bytes);
    json.member("bytes_repartitioned", statistics.repartitioned_bytes).member("bytes_held", statistics.held_bytes);
    if (shown.paging().which != paged_tensors::none) {
        json.member("bytes_paged", statistics.paged_bytes);
    }
    json.member("least_bytes_per_rank", statistics.least_bytes);
    json.member("join", each.join).member("aggregation", each.aggregation).member("repartition", each.repartition);
    json.member("seconds", each.seconds).member("pinned", each.constraints.pin);
    json.member("without_communication", each.constraints.without_communication);
    json.member("held", work.held_operands()).member("bytes_again", each.bytes_again);
    json.member("seconds_again", each.seconds_again);
    if (const std::size_t levels = count_of(shown.asked().machine.levels); levels > 0) {
        json.key("bytes_between").open('[');
        for (std::size_t level = 0; level + 1 < levels; ++level) {
            json.value(each.bytes_between[level]);
        }
        json.close(']');
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// The plan as JSON. Members keep their names, order and meaning as long as "version" stays the same; new ones may
/// come.
///
///     version       2
///     processes     ranks that the plan is for
///     options       as asked: processes, objective, memory_limit, algorithm, method, powers_of_two, effort,
///                   check_inputs, machine {seconds_per_message, seconds_per_byte, seconds_per_flop, exposed,
///                   operations_per_touch, levels [{ranks, seconds_per_message, seconds_per_byte, transfers, uneven
///                   [{count, ranks}]}], node_of_rank, seconds_per_stored_byte, seconds_per_host_byte}, order,
///                   runs, level, paging
///     cost          numbers moved, the paper's upper bound
///     bytes         bytes sent by all ranks together
///     peak_bytes    most bytes held by rank 0 at one time
///     seconds       seconds by the time model
///     bytes_again, seconds_again      bytes and seconds of each run after the first
///     outputs       positions in vertices
///     paging        only where tensors wait in files or inputs are read in parts: tensors ("all" or "inputs"), bytes
///                   moved beyond one reading of the inputs, seconds that arithmetic does not hide
///     vertices      in the order in which they are computed, each
///         name, kind ("input" or "einsum"), bounds (extents of its tensor), element {kind, bytes}
///         inputs: source, pinned (as below)
///         einsums: einsum, formula, program (op_program::text()), labels; by label: extents, parts (the partition
///         vector)
///         mesh                  axes, outermost first: {label, parts, points, operands, output}: points, of uneven
///                               blocks only, are their parts + 1 cut points; operands and output say how the tensors
///                               lie along the axis: "shard(i)", "replicate" or "partial"; on a machine with levels
///                               also ranks_apart: how far apart the ranks of neighbouring parts are
///         inputs                positions in vertices of the operands
///         operand_cuts          dimension along which each operand's blocks rest in pieces; null where they rest whole
///         output_cut            dimension along which the output's blocks rest in pieces, or null
///         summands_read         number of summands in which pending operands come: those that have the label "+" in
///                               front; 1 where every sum is finished
///         summands_left         number of summands in which the output is left to its readers, the label "+" (or
///                               "++") in front of it; 1 where its sum is finished
///         algorithm, fell_back  "c", "mn", "k" or "master_worker"; true where the algorithm asked for cannot be used
///         travelling            number of the operand that goes round a ring, "output", "all", or null
///         bytes                 bytes sent by all ranks: bytes_gathered + bytes_aggregated + bytes_repartitioned
///         bytes_paged           with "paging": bytes that rank 0 moves to and from files meanwhile
///         bytes_held            most bytes held by rank 0 meanwhile: results, kept tensors, and tensors in use
///         least_bytes_per_rank  lower bound of a contraction's communication, or null
///         join, aggregation, repartition, seconds
///         pinned                null, or the parts as they were named, {label or dimension, parts, points},
///                               points where cut points are given
///         without_communication true where the einsum is marked so
///         held                  numbers of the operands whose whole blocks are gathered before and kept: once for all
///                               vertices that hold them, or in the first run
///         bytes_again, seconds_again      of each run after the first
///         bytes_between         on a machine with levels: bytes sent between groups, by level but the outermost
///         lasts                 true where the tensor is read or computed in the first run and kept (inputs too)
EINPARALLEL_SELDOM std::string plan::to_json() const {
    const plan_statistics statistics = statistics_of(*this);
    detail::json_writer json;
    json.open('{').member("version", detail::json_version).member("processes", processes_).member("options", options_);
    json.member("cost", cost()).member("bytes", bytes_sent()).member("peak_bytes", statistics.peak_bytes);
    json.member("seconds", seconds()).member("bytes_again", bytes_sent_again());
    json.member("seconds_again", seconds_again()).member("outputs", outputs_);
    if (paging_.which != paged_tensors::none) {
        json.key("paging").open('{').member("tensors", paging_.which == paged_tensors::all ? "all" : "inputs");
        json.member("bytes", paging_.bytes).member("seconds", paging_.seconds).close('}');
    }
    json.key("vertices").open('[');
    for (std::size_t number = 0; number < vertices_.size(); ++number) {
        const planned_vertex& each = vertices_[number];
        json.open('{').member("name", each.name).member("kind", each.is_input() ? "input" : "einsum");
        json.member("bounds", each.bounds).member("element", each.element);
        if (each.is_input()) {
            json.member("source", detail::source_text(each)).member("pinned", each.constraints.pin);
        } else {
            detail::write_einsum(json, *this, each, statistics.vertices[number]);
        }
        json.member("lasts", each.lasts).close('}');
    }
    json.close(']').close('}');
    return std::move(json).text();
}

}  // namespace einparallel
