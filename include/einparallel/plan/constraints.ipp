#pragma once
// Whether the pins and marks of a graph make sense, and whether a plan obeys them.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/partition.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// @throws error, one sentence, where the points are no cut points of this extent. @param who begins the sentence
EINPARALLEL_SELDOM void check_points(const std::vector<index>& points, index extent, const std::string& who) {
    require(points.size() > 1, {who, "that are fewer than two: there must be 0 and the extent ", extent});
    require(points.front() == 0, {who, "that begin at ", points.front(), " and must begin at 0"});
    if (const auto falls = std::adjacent_find(points.begin(), points.end(), std::greater()); falls != points.end()) {
        refuse({who, "that do not ascend: ", falls[0], " stands before ", falls[1]});
    }
    require(points.back() == extent, {who, "that end at ", points.back(), " and must end at the extent ", extent});
}

/// @throws error, one sentence, where a pin cannot be obeyed. @param who begins the sentence
EINPARALLEL_SELDOM void check_pin(const vertex& pinned, const std::string& who, const options& asked) {
    require(!pinned.is_input() || is_placeholder(pinned), {who,
                                                           "is an input whose source says where it lies or is read; "
                                                           "only placeholders and results of einsums can be pinned"});
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    std::vector<label_id> known;
    index ranks = 1;
    for (const pinned_part& pin : *pinned.constraints.pin) {
        const label_id label = label_of(pinned, pin);
        const bool uncuttable = !pinned.is_input() && pin.label.empty() && pin.dimension >= 0 &&
                                std::size_t(pin.dimension) < pinned.bounds.size();
        const std::string along = pin.where();
        require(label != no_label || (uncuttable && pin.parts == 1),
                {who, "cannot be pinned along ", along,
                 !pinned.is_input()   ? ": its result has no such dimension"
                 : !pin.label.empty() ? ": inputs have no labels, their dimensions are pinned by number, from 0"
                                      : ": it has no such dimension",
                 uncuttable ? " with a label" : ""});
        require(label == no_label || !found_in(label, known), {who, "is pinned twice along ", along});
        known.push_back(label);
        const std::vector<index>& extents = pinned.is_input() ? pinned.bounds : pinned.extents;
        const index extent = label == no_label ? 1 : extents[std::size_t(label)];
        const bool at_points = !pin.points.empty();
        const std::string cut = sentence({who, "is pinned to ", pin.parts, " parts along ", along});
        if (at_points) {
            check_points(pin.points, extent, who + "is pinned along " + along + " at cut points ");
        }
        require(at_points || pin.parts == 1 || (pin.parts > 1 && pin.parts <= extent), {cut, " of extent ", extent});
        ranks *= pin.parts;
        require(ranks <= processes, {who, "is pinned over ", ranks, " ranks or more, the plan is for ", processes});
        require(!asked.powers_of_two || (pin.parts & (pin.parts - 1)) == 0,
                {cut, ", options.powers_of_two allows powers of two only"});
        if (pin.parts == 1 || pinned.is_input()) {
            continue;
        }
        require(
            !pinned.work->is_contraction() || may_cut(asked.algorithm, pinned.form.class_of(label)),
            {who, "is pinned along ", along, ", which options.algorithm ", name_for(asked.algorithm), " does not cut"});
        require(!pinned.constraints.without_communication || pinned.form.class_of(label) == label_class::c,
                {who, "is to run without communication, but is pinned along ", along,
                 ", and not all of its operands have this label"});
    }
}

/// @throws error, one sentence, where the constraints of a vertex make no sense or contradict the options
EINPARALLEL_SELDOM void check_constraints(const einsum_graph& graph, std::size_t number, const options& asked) {
    const vertex& each = *graph.vertices[number];
    const std::string who =
        "decompose: " + full_name(graph, number) + (each.is_input() ? " " : " (" + each.form.text() + ") ");
    if (each.constraints.without_communication) {
        require(!each.is_input(), {who, "is an input: only an einsum can be marked to run without communication"});
        require(!each.work->is_contraction() || may_cut(asked.algorithm, label_class::c),
                {who, "is to run without communication, options.algorithm is ", name_for(asked.algorithm)});
    }
    if (each.constraints.pin) {
        check_pin(each, who, asked);
    }
}

/// A label along which elements of a tensor have to change ranks, to get from one distribution to the wanted one. It is
/// no_label where the dimension has no label. Nothing where all elements stay.
EINPARALLEL_SELDOM std::optional<label_id> moved_label(const distribution& from, const distribution& wanted,
                                                       const std::vector<label_id>& labels) {
    for (int rank = 0; rank < wanted.holders(); ++rank) {
        const box there = wanted.held_by(rank);
        const box stays = intersect(from.held_by(rank), there);
        if (!there.empty() && stays != there) {
            const auto same = std::mismatch(stays.sides.begin(), stays.sides.end(), there.sides.begin()).first;
            const auto dimension = std::size_t(same - stays.sides.begin());
            return dimension < labels.size() ? labels[dimension] : no_label;
        }
    }
    return std::nullopt;
}

/// The reason why a vertex communicates that is marked to run without communication. Empty where it does not
/// communicate, and for vertices without the mark.
EINPARALLEL_SELDOM std::string reason_to_communicate(const plan& made, const planned_vertex& each) {
    if (!each.constraints.without_communication) {
        return {};
    }
    const einsum_form& form = each.work.form;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        if (form.class_of(axis.label) != label_class::c) {
            return "label " + form.names[std::size_t(axis.label)] +
                   " is cut, but not all operands and the result have it";
        }
    }
    for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
        const planned_vertex& read = made.vertices()[each.inputs[operand]];
        const std::optional<label_id> along =
            moved_label(read.resting, each.work.operands[operand], form.operands[operand]);
        if (is_moved(*read.origin) && along) {
            return read.name + " does not lie where it would be read" +
                   (*along == no_label ? "" : ", along label " + form.names[std::size_t(*along)]);
        }
    }
    return {};
}

/// The number of vertices that communicate although they are marked to run without communication.
EINPARALLEL_SELDOM std::size_t broken_marks(const plan& made) {
    return std::size_t(count_if_in(
        made.vertices(), [&](const planned_vertex& each) { return !reason_to_communicate(made, each).empty(); }));
}

/// @throws error where a plan does not obey a pin or a mark. @param who begins the sentence
EINPARALLEL_SELDOM void check_kept(const plan& made, const std::string& who) {
    for (const planned_vertex& each : made.vertices()) {
        const std::string reason = reason_to_communicate(made, each);
        const std::string name = full_name(made, each) + " (" + each.work.form.text() + ")";
        require(reason.empty(), {who, ": no plan was found in which ", name, " runs without communication: ", reason});
        if (!each.is_input() && !follows_pin(*each.origin, each.work.ranks)) {
            refuse({who, ": ", name, " is pinned to ", each.constraints.pin_text(), " and would be cut otherwise"});
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
