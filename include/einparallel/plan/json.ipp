#pragma once

#include <einparallel/plan/json.hpp>

#include <einparallel/plan/json_writer.hpp>
#include <einparallel/plan/placements.hpp>
#include <einparallel/plan/words.hpp>

#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void write_pin(json_writer& json, const vertex_wishes& wishes) {
    json.key("pinned");
    if (!wishes.pin) {
        json.null();
        return;
    }
    json.open('[');
    for (const pinned_part& part : *wishes.pin) {
        json.open('{');
        part.label.empty() ? json.key("dimension").value(part.dimension) : json.key("label").value(part.label);
        json.key("parts").value(part.parts).close('}');
    }
    json.close(']');
}

EINPARALLEL_INLINE void write_einsum(json_writer& json, const plan& shown, const planned_vertex& each,
                                     const vertex_figures& figures) {
    const task& work = each.work;
    json.key("einsum").value(work.form.text());
    json.key("formula").value(formula_text(shown, each));
    json.key("labels").value(work.form.names);
    json.key("extents").value(work.extents);
    std::vector<int> parts;
    for (std::size_t label = 0; label < work.extents.size(); ++label) {
        const bool pending = static_cast<label_id>(label) == work.pending;
        parts.push_back(pending ? static_cast<int>(work.extents[label])
                                : work.ranks.parts(static_cast<label_id>(label)));
    }
    json.key("parts").value(parts);
    json.key("mesh").open('[');
    for (const mesh_axis& axis : work.ranks.axes) {
        json.open('{').key("label").value(work.form.names[static_cast<std::size_t>(axis.label)]);
        json.key("parts").value(axis.parts);
        const axis_placements along = placements_in(work, axis);
        std::vector<std::string> operands;
        for (const placement& operand : along.operands) {
            operands.push_back(placement_text(operand, work.form.names));
        }
        json.key("operands").value(operands);
        json.key("output").value(placement_text(along.output, work.form.names)).close('}');
    }
    json.close(']');
    json.key("inputs").value(each.inputs);
    const auto write_cut = [&](const distribution& resting) {
        resting.cut() ? json.value(*resting.cut()) : json.null();
    };
    json.key("operand_cuts").open('[');
    for (const distribution& operand : work.operands) {
        write_cut(operand);
    }
    json.close(']');
    json.key("output_cut");
    write_cut(work.output);
    const auto write_summands = [&](label_id label) {
        json.value(label == no_label ? index{1} : work.extents[static_cast<std::size_t>(label)]);
    };
    json.key("summands_read");
    write_summands(work.carried);
    json.key("summands_left");
    write_summands(work.pending);
    json.key("algorithm").value(word_for(each.algorithm));
    json.key("fell_back").value(each.fell_back);
    json.key("travelling");
    if (work.travelling == nothing_travels) {
        json.null();
    } else if (work.travelling == output_travels) {
        json.value("output");
    } else {
        json.value(work.travelling);
    }
    json.key("bytes").value(each.bytes);
    json.key("bytes_gathered").value(figures.gathered_bytes);
    json.key("bytes_aggregated").value(figures.aggregated_bytes);
    json.key("bytes_repartitioned").value(figures.repartitioned_bytes);
    json.key("bytes_held").value(figures.held_bytes);
    json.key("least_bytes_per_rank");
    figures.least_bytes ? json.value(*figures.least_bytes) : json.null();
    json.key("join").value(each.join);
    json.key("aggregation").value(each.aggregation);
    json.key("repartition").value(each.repartition);
    json.key("seconds").value(each.seconds);
    write_pin(json, each.wishes);
    json.key("without_communication").value(each.wishes.without_communication);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// The plan as JSON. Members keep their names, order and meaning as long as "version" stays the same; new ones may
/// come.
///
///     version       1
///     processes     ranks that the plan is for
///     options       as asked: processes, objective, memory_limit, algorithm, method, powers_of_two, effort,
///                   ranks_per_node, machine {seconds_per_message, seconds_per_byte, seconds_per_flop, exposed}, order
///     cost          numbers moved, the paper's upper bound
///     bytes         sent by all ranks together
///     bytes_read    read by all ranks together in the memory of ranks of their nodes
///     peak_bytes    held by rank 0
///     seconds       time model
///     outputs       positions in vertices
///     vertices      in the order in which they are computed, each
///         name, kind ("input" or "einsum"), bounds (extents of its tensor), element {kind, bytes}
///         inputs: source
///         einsums: einsum, formula, labels; by label: extents and parts (the partition vector)
///         mesh                  axes, outermost first: {label, parts, operands, output}, the last two being how the
///                               tensors lie along the axis: "shard(i)", "replicate" or "partial"
///         inputs                positions in vertices of the operands
///         operand_cuts          dimension along which each operand's blocks rest in pieces; null where they rest whole
///         output_cut            the same of the output
///         summands_read         number of summands in which pending operands come: those that have the label "+" in
///                               front; 1 where every sum is finished
///         summands_left         number of summands in which the output is left to its readers, the label "+" (or
///                               "++") in front of it; 1 where its sum is finished
///         algorithm, fell_back  "c", "mn" or "k"; true where the algorithm asked for cannot apply
///         travelling            number of the operand that goes round a ring, "output", or null
///         bytes                 sent or read by all ranks: bytes_gathered + bytes_aggregated + bytes_repartitioned
///         bytes_held            at most by rank 0 meanwhile, all tensors together
///         least_bytes_per_rank  lower bound of a contraction's communication, or null
///         join, aggregation, repartition, seconds
///         pinned                null, or the parts as they were named, {label or dimension, parts}
///         without_communication true where the einsum is marked so
EINPARALLEL_INLINE std::string plan::to_json() const {
    detail::json_writer json;
    json.open('{').key("version").value(detail::json_version).key("processes").value(processes_);
    json.key("options").open('{').key("processes").value(options_.processes);
    json.key("objective").value(detail::word_for(options_.objective));
    json.key("memory_limit").value(options_.memory_limit);
    json.key("algorithm").value(detail::word_for(options_.algorithm));
    json.key("method").value(detail::word_for(options_.method));
    json.key("powers_of_two").value(options_.powers_of_two);
    json.key("effort").value(options_.effort);
    json.key("ranks_per_node").value(options_.ranks_per_node);
    json.key("machine").open('{').key("seconds_per_message").value(options_.machine.seconds_per_message);
    json.key("seconds_per_byte").value(options_.machine.seconds_per_byte);
    json.key("seconds_per_flop").value(options_.machine.seconds_per_flop);
    json.key("exposed").value(options_.machine.exposed).close('}');
    json.key("order").value(options_.order == order::best_plan ? "best_plan" : "fewest_operations").close('}');
    const std::vector<vertex_figures> figures = figures_of(*this);
    json.key("cost")
        .value(cost())
        .key("bytes")
        .value(bytes_sent())
        .key("bytes_read")
        .value(bytes_read())
        .key("peak_bytes")
        .value(peak_bytes(0));
    json.key("seconds").value(seconds());
    json.key("outputs").value(outputs_);
    json.key("vertices").open('[');
    for (std::size_t number = 0; number < vertices_.size(); ++number) {
        const planned_vertex& each = vertices_[number];
        json.open('{').key("name").value(each.name);
        json.key("kind").value(each.is_input() ? "input" : "einsum").key("bounds").value(each.bounds);
        json.key("element").open('{').key("kind").value(std::string(1, each.element.kind));
        json.key("bytes").value(each.element.bytes).close('}');
        if (each.is_input()) {
            json.key("source").value(detail::source_text(each));
            detail::write_pin(json, each.wishes);
        } else {
            detail::write_einsum(json, *this, each, figures[number]);
        }
        json.close('}');
    }
    json.close(']').close('}');
    return std::move(json).text();
}

}  // namespace einparallel
