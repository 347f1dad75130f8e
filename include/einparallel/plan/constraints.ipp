#pragma once
// Pins and marks of a graph as the planner reads them: checked once, before anything is searched.

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.hpp>
#include <einparallel/plan/words.hpp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a move into a vertex that is marked "no communication here" costs in the search, in any objective's unit: more
/// than all that a plan may cost, and finite, for tables take no infinities. A plan that pays it is no plan.
inline constexpr double forbidden_move = 1e60;

/// Placeholders with a pin rest in a place of their own, where they are bound.
EINPARALLEL_INLINE bool is_pinned_input(const vertex& input) {
    return input.is_input() && input.wishes.pin && input.origin != nullptr &&
           input.origin->kind() == source_kind::placeholder;
}

/// The label that a pin's part means: of the einsum, or for inputs the number of the dimension; no_label where it means
/// no dimension of the tensor.
EINPARALLEL_INLINE label_id label_of(const vertex& pinned, const pinned_part& part) {
    const std::size_t rank = pinned.bounds.size();
    if (part.label.empty()) {
        const bool known = part.dimension >= 0 && static_cast<std::size_t>(part.dimension) < rank;
        return !known              ? no_label
               : pinned.is_input() ? static_cast<label_id>(part.dimension)
                                   : pinned.form.output[static_cast<std::size_t>(part.dimension)];
    }
    for (const label_id label : pinned.form.output) {
        if (label != no_label && pinned.form.names[static_cast<std::size_t>(label)] == part.label) {
            return label;
        }
    }
    return no_label;
}

/// The axes that a pin makes, outermost first; those of one part left out. @pre check_wishes() has passed
EINPARALLEL_INLINE std::vector<mesh_axis> pinned_axes(const vertex& pinned) {
    std::vector<mesh_axis> axes;
    for (std::size_t position = 0; pinned.wishes.pin && position < pinned.wishes.pin->size(); ++position) {
        const pinned_part& part = (*pinned.wishes.pin)[position];
        if (part.parts > 1) {
            axes.push_back({label_of(pinned, part), part.parts});
        }
    }
    return axes;
}

/// Where a pinned placeholder rests.
EINPARALLEL_INLINE distribution pinned_resting(const vertex& input) {
    std::vector<label_id> labels;
    for (std::size_t dimension = 0; dimension < input.bounds.size(); ++dimension) {
        labels.push_back(static_cast<label_id>(dimension));
    }
    return {input.bounds, mesh{pinned_axes(input)}, std::move(labels), 0};
}

/// True where the axes that cut a vertex's output stand as its pin wants them, whatever stands between them.
EINPARALLEL_INLINE bool follows_pin(const vertex& einsum, const mesh& ranks) {
    if (!einsum.wishes.pin) {
        return true;
    }
    std::vector<mesh_axis> of_output;
    std::copy_if(ranks.axes.begin(), ranks.axes.end(), std::back_inserter(of_output),
                 [&](const mesh_axis& axis) { return einsum.form.in_output(axis.label); });
    return of_output == pinned_axes(einsum);
}

/// A label that can be cut without any message: every operand and the output have it.
EINPARALLEL_INLINE bool is_silent(const einsum_form& form, label_id label) {
    bool everywhere = form.in_output(label);
    for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
        everywhere = everywhere && form.in_operand(operand, label);
    }
    return everywhere;
}

/// True where `wanted`, asked of a contraction, lets labels of this class be cut.
constexpr bool may_cut(algorithm wanted, label_class kind) {
    return wanted == algorithm::automatic ? true
           : wanted == algorithm::c       ? kind == label_class::c
           : wanted == algorithm::mn      ? kind == label_class::m || kind == label_class::n
                                          : kind == label_class::k;
}

/// One sentence where a pin cannot be obeyed.
EINPARALLEL_INLINE void check_pin(const vertex& pinned, const std::string& who, const options& asked) {
    if (pinned.is_input() && !is_pinned_input(pinned)) {
        throw error(who +
                    "is an input that lies, or is read, where its source says; placeholders and results of "
                    "einsums can be pinned");
    }
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    std::vector<label_id> known;
    index ranks = 1;
    for (const pinned_part& part : *pinned.wishes.pin) {
        const label_id label = label_of(pinned, part);
        const bool uncuttable = !pinned.is_input() && part.label.empty() && part.dimension >= 0 &&
                                static_cast<std::size_t>(part.dimension) < pinned.bounds.size();
        if (label == no_label && !(uncuttable && part.parts == 1)) {
            throw error(who + "cannot be pinned along " + part.where() +
                        (!pinned.is_input() ? ": its result has no such dimension"
                         : !part.label.empty()
                             ? ": inputs have no labels, their dimensions are pinned by number, from 0"
                             : ": it has no such dimension") +
                        (uncuttable ? " with a label" : ""));
        }
        if (label != no_label && std::find(known.begin(), known.end(), label) != known.end()) {
            throw error(who + "is pinned twice along " + part.where());
        }
        known.push_back(label);
        const index extent = label == no_label   ? 1
                             : pinned.is_input() ? pinned.bounds[static_cast<std::size_t>(label)]
                                                 : pinned.extents[static_cast<std::size_t>(label)];
        if (part.parts < 1 || (part.parts > 1 && part.parts > extent)) {
            throw error(who + "is pinned to " + std::to_string(part.parts) + " parts along " + part.where() +
                        " of extent " + std::to_string(extent));
        }
        ranks *= part.parts;
        if (ranks > processes) {
            throw error(who + "is pinned over " + std::to_string(ranks) + " ranks or more, the plan is for " +
                        std::to_string(processes));
        }
        if (asked.powers_of_two && (part.parts & (part.parts - 1)) != 0) {
            throw error(who + "is pinned to " + std::to_string(part.parts) + " parts along " + part.where() +
                        ", options.powers_of_two allows powers of two only");
        }
        if (part.parts == 1 || pinned.is_input()) {
            continue;
        }
        if (pinned.work->is_contraction() && !may_cut(asked.algorithm, pinned.form.class_of(label))) {
            throw error(who + "is pinned along " + part.where() + ", which options.algorithm " +
                        word_for(asked.algorithm) + " does not cut");
        }
        if (pinned.wishes.without_communication && !is_silent(pinned.form, label)) {
            throw error(who + "is to run without communication, but is pinned along " + part.where() +
                        ", which not all of its operands have");
        }
    }
}

/// One sentence where wishes make no sense or contradict the options.
EINPARALLEL_INLINE void check_wishes(const einsum_graph& graph, const options& asked) {
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        const std::string who = "decompose: " + graph.name_of(number) + " " +
                                (each.is_input() ? std::string() : "(" + each.form.text() + ") ");
        if (each.wishes.without_communication && each.is_input()) {
            throw error(who + "is an input: only an einsum can be marked to run without communication");
        }
        if (each.wishes.without_communication && each.work->is_contraction() &&
            !may_cut(asked.algorithm, label_class::c)) {
            throw error(who + "is to run without communication, options.algorithm is " + word_for(asked.algorithm));
        }
        if (each.wishes.pin) {
            check_pin(each, who, asked);
        }
    }
}

/// True where some vertex of a graph is marked "no communication here".
EINPARALLEL_INLINE bool has_marks(const einsum_graph& graph) {
    return std::any_of(graph.vertices.begin(), graph.vertices.end(),
                       [](const std::shared_ptr<vertex>& each) { return each->wishes.without_communication; });
}

/// What a vertex's wishes leave to the planner.
struct free_cuts {
    std::vector<int> fixed;      ///< by label: parts that the pin fixes, 1 for the others
    std::vector<index> extents;  ///< by label: 1 where nothing is left to choose
    int processes = 1;           ///< ranks that are left for the labels that are free
};

/// @pre check_wishes() has passed
EINPARALLEL_INLINE free_cuts cuts_left(const vertex& einsum, int processes) {
    free_cuts left{std::vector<int>(einsum.extents.size(), 1), einsum.extents, processes};
    for (std::size_t label = 0; label < left.extents.size(); ++label) {
        const auto one = static_cast<label_id>(label);
        if ((einsum.wishes.pin && einsum.form.in_output(one)) ||
            (einsum.wishes.without_communication && !is_silent(einsum.form, one))) {
            left.extents[label] = 1;
        }
    }
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        left.fixed[static_cast<std::size_t>(axis.label)] = axis.parts;
        left.processes /= axis.parts;
    }
    return left;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
