#pragma once

#include <einparallel/search/pins.hpp>

#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE label_id label_named(const einsum_form& form, std::string_view name) {
    const auto known = find_in(form.names, name) - form.names.begin();
    return known == std::ssize(form.names) ? no_label : label_id(known);
}

EINPARALLEL_INLINE label_id label_of(const vertex& pinned, const pinned_part& pin) {
    if (pin.label.empty()) {
        const bool is_there = pin.dimension >= 0 && pin.dimension < std::ssize(pinned.bounds);
        return !is_there           ? no_label
               : pinned.is_input() ? label_id(pin.dimension)
                                   : pinned.form.output[std::size_t(pin.dimension)];
    }
    const label_id named = label_named(pinned.form, pin.label);
    return pinned.form.in_output(named) ? named : no_label;
}

/// True where the cut points are those of even blocks.
EINPARALLEL_INLINE bool is_even(const std::vector<index>& points) {
    const int parts = int(points.size()) - 1;
    for (int part = 0; part < parts; ++part) {
        if (block_of(points.back(), parts, part).begin != points[std::size_t(part)]) {
            return false;
        }
    }
    return true;
}

/// The axes that a pin makes, outermost first. Axes of one part are left out. @pre check_constraints() has passed
EINPARALLEL_INLINE std::vector<mesh_axis> pinned_axes(const vertex& pinned) {
    std::vector<mesh_axis> axes;
    for (const pinned_part& pin : pinned.constraints.pin.value_or(std::vector<pinned_part>{})) {
        if (pin.parts > 1) {
            axes.push_back({label_of(pinned, pin), pin.parts, pin.points});
            if (is_even(pin.points)) {
                axes.back().points.clear();
            }
        }
    }
    return axes;
}

EINPARALLEL_INLINE distribution resting_of_source(const vertex& input) {
    if (is_placeholder(input)) {
        return cut_along(input.bounds, mesh{pinned_axes(input)});
    }
    std::vector<box> boxes;
    for (int rank = 0; rank < input.origin->holders(); ++rank) {
        boxes.push_back(input.origin->held_by(rank));
    }
    return {input.bounds, std::move(boxes)};
}

EINPARALLEL_INLINE bool follows_pin(const vertex& einsum, const mesh& ranks) {
    std::vector<mesh_axis> of_output = ranks.axes;
    std::erase_if(of_output, [&](const mesh_axis& axis) { return !einsum.form.in_output(axis.label); });
    return !einsum.constraints.pin || of_output == pinned_axes(einsum);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
