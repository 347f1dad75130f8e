#pragma once
// What is fixed before anything is searched: pins and marks of a graph and where its inputs lie; and whether a plan
// obeys.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/words.hpp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a move into a vertex that is marked "no communication here" costs in the search, in any objective's unit: more
/// than all that a plan may cost, and finite, for tables take no infinities. A plan that pays it is no plan.
inline constexpr double forbidden_move = 1e60;

/// @throws error with this sentence where something does not hold
EINPARALLEL_INLINE void expect(bool holds, const std::string& otherwise) {
    if (!holds) {
        throw error(otherwise);
    }
}

/// Inputs that are bound at the run, where one of their readers or a pin wants them.
EINPARALLEL_INLINE bool is_placeholder(const vertex& input) {
    return input.is_input() && input.origin != nullptr && input.origin->kind() == source_kind::placeholder;
}

/// Placeholders with a pin rest in a place of their own, where they are bound.
EINPARALLEL_INLINE bool is_pinned_input(const vertex& input) {
    return is_placeholder(input) && input.wishes.pin;
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

/// True where cut points make the blocks that there are without them.
EINPARALLEL_INLINE bool is_even(const std::vector<index>& points) {
    const int parts = static_cast<int>(points.size()) - 1;
    for (int part = 0; part < parts; ++part) {
        const auto first = static_cast<std::size_t>(part);
        if (block_of(points.back(), parts, part) != interval{points[first], points[first + 1]}) {
            return false;
        }
    }
    return true;
}

/// The axes that a pin makes, outermost first; those of one part left out. @pre check_wishes() has passed
EINPARALLEL_INLINE std::vector<mesh_axis> pinned_axes(const vertex& pinned) {
    std::vector<mesh_axis> axes;
    for (const pinned_part& part : pinned.wishes.pin.value_or(std::vector<pinned_part>{})) {
        if (part.parts > 1) {
            axes.push_back({label_of(pinned, part), part.parts, part.points});
            if (is_even(part.points)) {
                axes.back().points.clear();
            }
        }
    }
    return axes;
}

/// Inputs that lie somewhere already: on one rank, in somebody's own distribution, or where a pin binds them. All
/// others are read by every rank as it needs them, at no cost.
EINPARALLEL_INLINE bool lies_somewhere(const vertex& input) {
    return input.is_input() && input.origin != nullptr &&
           (input.origin->kind() == source_kind::root || input.origin->kind() == source_kind::resting ||
            is_pinned_input(input));
}

/// A tensor that is brought from one place to its readers: what an einsum makes, and inputs that rest somewhere.
EINPARALLEL_INLINE bool is_moved(const vertex& tensor) {
    return !tensor.is_input() || lies_somewhere(tensor) || is_placeholder(tensor);
}

/// Where an input lies that lies somewhere.
EINPARALLEL_INLINE distribution resting_of_source(const vertex& input) {
    if (is_pinned_input(input)) {
        std::vector<label_id> labels(input.bounds.size());
        std::iota(labels.begin(), labels.end(), label_id{0});
        return {input.bounds, mesh{pinned_axes(input)}, std::move(labels), 0};
    }
    if (input.origin->kind() == source_kind::root) {
        return held_by_one(input.bounds, input.origin->root());
    }
    std::vector<box> boxes;
    for (int rank = 0; rank < input.origin->holders(); ++rank) {
        boxes.push_back(input.origin->held_by(rank));
    }
    return {input.bounds, std::move(boxes)};
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
           : wanted == algorithm::k       ? kind == label_class::k
                                          : true;  // master–worker: what is pinned or marked runs otherwise
}

/// One sentence where cut points are none.
EINPARALLEL_INLINE void check_points(const std::vector<index>& points, index extent, const std::string& who) {
    expect(points.size() > 1, who + "of which there must be two at least, 0 and the extent " + std::to_string(extent));
    expect(points.front() == 0, who + "that begin at " + std::to_string(points.front()) + ", they must begin at 0");
    const auto falls = std::ranges::adjacent_find(points, std::ranges::greater());
    expect(falls == points.end(), who + "that do not ascend: " + std::to_string(falls == points.end() ? 0 : *falls) +
                                      " stands before " +
                                      std::to_string(falls == points.end() ? 0 : *std::next(falls)));
    expect(points.back() == extent,
           who + "that end at " + std::to_string(points.back()) + ", the extent is " + std::to_string(extent));
}

/// One sentence where a pin cannot be obeyed.
EINPARALLEL_INLINE void check_pin(const vertex& pinned, const std::string& who, const options& asked) {
    expect(!pinned.is_input() || is_pinned_input(pinned),
           who +
               "is an input that lies, or is read, where its source says; placeholders and results of einsums can be "
               "pinned");
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    std::vector<label_id> known;
    index ranks = 1;
    for (const pinned_part& part : *pinned.wishes.pin) {
        const label_id label = label_of(pinned, part);
        const bool uncuttable = !pinned.is_input() && part.label.empty() && part.dimension >= 0 &&
                                static_cast<std::size_t>(part.dimension) < pinned.bounds.size();
        expect(label != no_label || (uncuttable && part.parts == 1),
               who + "cannot be pinned along " + part.where() +
                   (!pinned.is_input()    ? ": its result has no such dimension"
                    : !part.label.empty() ? ": inputs have no labels, their dimensions are pinned by number, from 0"
                                          : ": it has no such dimension") +
                   (uncuttable ? " with a label" : ""));
        expect(label == no_label || !found_in(label, known), who + "is pinned twice along " + part.where());
        known.push_back(label);
        const std::vector<index>& extents = pinned.is_input() ? pinned.bounds : pinned.extents;
        const index extent = label == no_label ? 1 : extents[static_cast<std::size_t>(label)];
        const bool at_points = !part.points.empty();
        const std::string cut = who + "is pinned to " + std::to_string(part.parts) + " parts along " + part.where();
        if (at_points) {
            check_points(part.points, extent, who + "is pinned along " + part.where() + " at cut points ");
        }
        expect(at_points || part.parts == 1 || (part.parts > 1 && part.parts <= extent),
               cut + " of extent " + std::to_string(extent));
        ranks *= part.parts;
        expect(ranks <= processes, who + "is pinned over " + std::to_string(ranks) +
                                       " ranks or more, the plan is for " + std::to_string(processes));
        expect(!asked.powers_of_two || (part.parts & (part.parts - 1)) == 0,
               cut + ", options.powers_of_two allows powers of two only");
        if (part.parts == 1 || pinned.is_input()) {
            continue;
        }
        expect(!pinned.work->is_contraction() || may_cut(asked.algorithm, pinned.form.class_of(label)),
               who + "is pinned along " + part.where() + ", which options.algorithm " + word_for(asked.algorithm) +
                   " does not cut");
        expect(!pinned.wishes.without_communication || is_silent(pinned.form, label),
               who + "is to run without communication, but is pinned along " + part.where() +
                   ", which not all of its operands have");
    }
}

/// One sentence where wishes make no sense or contradict the options.
EINPARALLEL_INLINE void check_wishes(const einsum_graph& graph, const options& asked) {
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        const std::string who = "decompose: " + name_in_words(graph, number) + " " +
                                (each.is_input() ? std::string() : "(" + each.form.text() + ") ");
        expect(!each.wishes.without_communication || !each.is_input(),
               who + "is an input: only an einsum can be marked to run without communication");
        expect(!each.wishes.without_communication || !each.work->is_contraction() ||
                   may_cut(asked.algorithm, label_class::c),
               who + "is to run without communication, options.algorithm is " + word_for(asked.algorithm));
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

/// A dimension along which a tensor does not lie as it is wanted, so that some elements have to change ranks; nothing
/// where all of them stay. A tensor without dimensions counts as one dimension.
EINPARALLEL_INLINE std::optional<std::size_t> moved_dimension(const distribution& from, const distribution& wanted) {
    for (int rank = 0; rank < wanted.holders(); ++rank) {
        const box here = from.held_by(rank);
        const box there = wanted.held_by(rank);
        if (there.empty() || intersect(here, there) == there) {
            continue;
        }
        std::size_t dimension = 0;
        while (!here.nothing && dimension + 1 < there.sides.size() &&
               intersect(here.sides[dimension], there.sides[dimension]) == there.sides[dimension]) {
            ++dimension;
        }
        return dimension;
    }
    return std::nullopt;
}

/// Why a vertex that is marked to run without communication does not; empty where it does, and for other vertices.
EINPARALLEL_INLINE std::string reason_to_communicate(const plan& made, const planned_vertex& each) {
    if (!each.wishes.without_communication) {
        return {};
    }
    const einsum_form& form = each.work.form;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        if (!is_silent(form, axis.label)) {
            return "label " + form.names[static_cast<std::size_t>(axis.label)] +
                   " is cut, which not all of its operands and its result have";
        }
    }
    for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
        const planned_vertex& read = made.vertices()[each.inputs[operand]];
        const source* origin = read.is_input() ? read.origin->origin.get() : nullptr;
        if (read.is_input() && (origin == nullptr || origin->kind() == source_kind::everywhere)) {
            continue;
        }
        if (const std::optional<std::size_t> at = moved_dimension(read.resting, each.work.operands[operand])) {
            const bool named = *at < form.operands[operand].size() && form.operands[operand][*at] != no_label;
            return read.name + " does not lie where it would be read" +
                   (named ? ", along label " + form.names[static_cast<std::size_t>(form.operands[operand][*at])]
                          : std::string());
        }
    }
    return {};
}

/// Number of vertices that communicate against a mark.
EINPARALLEL_INLINE std::size_t broken_marks(const plan& made) {
    return static_cast<std::size_t>(
        std::count_if(made.vertices().begin(), made.vertices().end(),
                      [&](const planned_vertex& each) { return !reason_to_communicate(made, each).empty(); }));
}

/// @throws error where a plan does not obey a wish
EINPARALLEL_INLINE void check_kept(const plan& made, const std::string& who) {
    for (const planned_vertex& each : made.vertices()) {
        const std::string reason = reason_to_communicate(made, each);
        const std::string name = name_in_words(made, each) + " (" + each.work.form.text() + ")";
        expect(reason.empty(), who + ": no plan was found in which " + name + " runs without communication: " + reason);
        expect(each.is_input() || follows_pin(*each.origin, each.work.ranks),
               who + ": " + name + " is pinned to " + each.wishes.pin_text() + " and would be cut otherwise");
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
