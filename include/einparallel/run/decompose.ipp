#pragma once

#include <einparallel/run/decompose.hpp>

#include <einparallel/run/agreement.hpp>
#include <einparallel/run/graph_agreement.ipp>
#include <einparallel/run/plan_cache.ipp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// The plan that `make` makes on every rank of the context. Collective.
EINPARALLEL_INLINE plan plan_on(const context& world, const char* who, options asked, const planned_outputs& outputs,
                                function_ref<plan(const options&, const planned_outputs&)> make) {
    const exclusive guard(*world.state(), who);
    static_cast<void>(agree_on_graph(world, asked, outputs));
    plan made = agreed(world.control(), who, [&] {
        if (asked.processes != 1 && asked.processes != world.size()) {  // 1, the default, says nothing
            throw error(who + (": options.processes is " + std::to_string(asked.processes)) + ", the context has " +
                        std::to_string(world.size()) + (world.size() == 1 ? " rank" : " ranks"));
        }
        asked.processes = world.size();
        plan here = make(asked, outputs);
        if (here.processes() != asked.processes) {
            throw error(std::string(who) + ": with powers_of_two the plan is for " + std::to_string(here.processes()) +
                        " ranks, the context has " + std::to_string(asked.processes));
        }
        return here;
    });
    const std::string otherwise = std::string(who) + ": the plan is not the same on all ranks";
    agree(world.control(), {}, {{fingerprint_of(made), otherwise}});
    made.set_number(++world.state()->plans);
    return made;
}

EINPARALLEL_INLINE plan decompose_on(const context& world, const options& asked, const planned_outputs& outputs) {
    return plan_on(world, "decompose", asked, outputs,
                   [](const options& all, const planned_outputs& of) { return decompose_vertices(all, of); });
}

/// True where an output is to be computed in the blocks that it goes to.
EINPARALLEL_INLINE bool is_pinned_to_blocks(const binding& output) {
    const vertex* const made = output.placeholder.get();
    const std::shared_ptr<const distribution> blocks = output.into == nullptr ? nullptr : output.into->where;
    if (made == nullptr || blocks == nullptr || made->is_input() || made->constraints.pin ||
        made->constraints.without_communication || made->bounds != blocks->bounds()) {
        return false;
    }
    const std::optional<mesh> grid = mesh_of(*blocks);
    return grid && !grid->axes.empty() && std::ranges::all_of(grid->axes, [&](const mesh_axis& axis) {
               const auto dimension =
                   static_cast<std::size_t>(axis.label);  // not where one rank has all: it would compute all
               return made->form.output[dimension] != no_label &&
                      grid->largest_block(axis.label, made->bounds[dimension]) < made->bounds[dimension];
           });
}

EINPARALLEL_INLINE void evaluate_in_place(context& world, const options& asked, std::span<const binding> outputs) {
    struct pinned_outputs {
        std::vector<vertex*> pinned{};
        ~pinned_outputs() {
            std::ranges::for_each(pinned, [](vertex* each) { each->constraints.pin.reset(); });
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
        return decompose_on(world, asked, made);
    }();
    static_cast<void>(carry_out(planned, world, outputs));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
