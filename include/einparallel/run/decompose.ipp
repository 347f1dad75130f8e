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

}  // namespace einparallel::EINPARALLEL_DETAIL
