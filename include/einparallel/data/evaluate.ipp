#pragma once

#include <einparallel/data/evaluate.hpp>
#include <einparallel/notation/search_range.hpp>

#include <einparallel/data/own_layout.hpp>
#include <einparallel/layout/distribution.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where evaluate_into() pins an output to the blocks of its memory.
EINPARALLEL_SELDOM bool is_pinned_to_blocks(const binding& output) {
    const vertex* const made = output.placeholder.get();
    const std::shared_ptr<const distribution> blocks = output.into == nullptr ? nullptr : output.into->where;
    if (made == nullptr || blocks == nullptr || made->is_input() || made->constraints.pin ||
        made->constraints.without_communication || made->bounds != blocks->bounds()) {
        return false;
    }
    const std::optional<mesh> grid = mesh_of(*blocks);
    return grid && !grid->axes.empty() && all_in(grid->axes, [&](const mesh_axis& axis) {
               const auto dimension = std::size_t(axis.label);  // if one rank had all, it would compute all
               return made->form.output[dimension] != no_label &&
                      grid->largest_block(axis.label, made->bounds[dimension]) < made->bounds[dimension];
           });
}

EINPARALLEL_SELDOM void evaluate_into_memory(context& world, const options& asked, std::span<const binding> outputs) {
    struct pinned_outputs {
        std::vector<vertex*> pinned{};
        ~pinned_outputs() {
            for_each_in(pinned, [](vertex* each) { each->constraints.pin.reset(); });
        }
    };
    const plan planned = [&] {
        pinned_outputs until_planned;
        planned_outputs made;
        for (const binding& each : outputs) {
            if (each.is_output()) {
                made.push_back(each.placeholder);
            }
            if (asked.algorithm == algorithm::automatic && !asked.powers_of_two && is_pinned_to_blocks(each)) {
                each.placeholder->constraints.pin = pin_of(*each.into->where);
                until_planned.pinned.push_back(each.placeholder.get());
            }
        }
        return plan_on(world, asked, made);
    }();
    static_cast<void>(carry_out(planned, world, outputs));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
