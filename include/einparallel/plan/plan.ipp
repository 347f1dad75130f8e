#pragma once

#include <einparallel/plan/plan.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>

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

EINPARALLEL_INLINE std::size_t plan::bytes_moved() const {
    return detail::sum_over(vertices_, &planned_vertex::bytes);
}

EINPARALLEL_INLINE double plan::objective_cost() const {
    const auto again = static_cast<double>(options_.runs - 1);
    switch (options_.objective) {
        case objective::paper:
            return cost() + again * detail::sum_over(vertices_, &planned_vertex::numbers_again);
        case objective::bytes:
            return static_cast<double>(bytes_moved()) +
                   again * static_cast<double>(detail::sum_over(vertices_, &planned_vertex::bytes_again));
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

EINPARALLEL_INLINE std::size_t std::hash<einparallel::plan>::operator()(const einparallel::plan& hashed) const {
    std::string text;
    const auto add = [&](const auto& value) { text.append(std::to_string(value)).append(" "); };
    describe(hashed.asked(), [&](const char* /*name*/, const auto& value) {
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
            add(static_cast<int>(value));
        } else if constexpr (requires { std::to_string(value); }) {
            add(value);
        }
    });
    for (const einparallel::planned_vertex& each : hashed.vertices()) {
        text.append(each.name).append(each.work.form.text());
        add(each.bytes);
        for (const einparallel::mesh_axis& axis : each.work.ranks.axes) {
            add(axis.label);
            add(axis.parts);
            std::ranges::for_each(axis.points, add);
        }
    }
    return std::hash<std::string>{}(text);
}
