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
    made.set_number(++world.state()->plans);
    return made;
}

EINPARALLEL_INLINE plan decompose_on(const context& world, const options& asked, const planned_outputs& outputs) {
    return plan_on(world, "decompose", asked, outputs,
                   [](const options& all, const planned_outputs& of) { return decompose_vertices(all, of); });
}

/// Outputs pinned to the blocks that they go to, until the guard goes.
EINPARALLEL_INLINE class pinned_outputs {
public:
    explicit pinned_outputs(std::span<const binding> outputs) {
        for (const binding& each : outputs) {
            vertex* const made = each.placeholder.get();
            const std::shared_ptr<const distribution> blocks = each.into == nullptr ? nullptr : each.into->where;
            if (made == nullptr || blocks == nullptr || made->is_input() || made->constraints.pin ||
                made->constraints.without_communication || made->bounds != blocks->bounds()) {
                continue;
            }
            const std::optional<mesh> grid = mesh_of(*blocks);
            const auto may_cut = [&](const mesh_axis& axis) {  // not where one rank has all: it would compute all
                const auto dimension = static_cast<std::size_t>(axis.label);
                return made->form.output[dimension] != no_label &&
                       grid->largest_block(axis.label, made->bounds[dimension]) < made->bounds[dimension];
            };
            if (grid && !grid->axes.empty() && std::ranges::all_of(grid->axes, may_cut)) {
                made->constraints.pin = pin_of(*blocks);
                pinned_.push_back(made);
            }
        }
    }
    pinned_outputs(const pinned_outputs&) = delete;
    pinned_outputs& operator=(const pinned_outputs&) = delete;
    ~pinned_outputs() {
        for (vertex* const each : pinned_) {
            each->constraints.pin.reset();
        }
    }

private:
    std::vector<vertex*> pinned_;
};

EINPARALLEL_INLINE void evaluate_in_place(context& world, const options& asked, std::span<const binding> outputs) {
    planned_outputs made;
    for (const binding& each : outputs) {
        if (each.is_output()) {
            made.push_back(each.placeholder);
        }
    }
    const bool may_pin = asked.algorithm == algorithm::automatic && !asked.powers_of_two;
    const plan planned = [&] {
        const pinned_outputs guard(may_pin ? outputs : std::span<const binding>{});
        return decompose_on(world, asked, made);
    }();
    static_cast<void>(carry_out(planned, world, outputs));
}

EINPARALLEL_INLINE plan plan_with_on(const context& world, const options& asked, const planned_outputs& outputs,
                                     function_ref<plan(const options&, const planned_outputs&)> make) {
    std::uint64_t cut_so = 0;
    plan made = plan_on(world, "plan_with", asked, outputs, [&](const options& all, const planned_outputs& of) {
        plan here = make(all, of);
        cut_so = fingerprint_of(here);
        return here;
    });
    agree(world.control(), {}, {{cut_so, "plan_with: the plan is not the same on all ranks"}});
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
