#pragma once
// Does a plan obey what the user has fixed?

#include <einparallel/graph/source.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

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
        if (const std::string reason = reason_to_communicate(made, each); !reason.empty()) {
            throw error(who + ": no plan was found in which " + each.name + " (" + each.work.form.text() +
                        ") runs without communication: " + reason);
        }
        if (!each.is_input() && !follows_pin(*each.origin, each.work.ranks)) {
            throw error(who + ": " + each.name + " (" + each.work.form.text() + ") is pinned to " +
                        each.wishes.pin_text() + " and would be cut otherwise");
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
