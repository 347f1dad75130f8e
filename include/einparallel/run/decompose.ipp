#pragma once

#include <einparallel/run/decompose.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/graph_agreement.ipp>
#include <einparallel/run/nodes.ipp>
#include <einparallel/run/plan_cache.ipp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM plan plan_on(const context& world, options asked, const planned_outputs& outputs,
                                const cutting_rule* rule) {
    const char* const who = rule == nullptr ? "decompose" : "plan_with";
    const exclusive guard(*world.state(), who);
    agree_on_graph(world, asked, outputs);
    std::vector<int>& nodes = world.state()->nodes;
    if (asked.machine.levels.front().is_given() && nodes.empty()) {  // the ranks agree in their options
        nodes = nodes_of(world.control());
    }
    plan made;
    std::uint64_t signature = 0;
    const std::string failure = failure_of(who, [&] {
        require(asked.processes == 1 || asked.processes == world.size(),  // 1, the default, says nothing
                {who, ": options.processes is ", asked.processes, ", the context has ", world.size(),
                 world.size() == 1 ? " rank" : " ranks"});
        asked.processes = world.size();
        if (!nodes.empty()) {
            find_ranks(asked.machine, nodes);
        }
        made = rule == nullptr ? decompose_vertices(asked, outputs) : plan_vertices_with(asked, *rule, outputs);
        require(made.processes() == asked.processes, {who, ": with powers_of_two the plan is for ", made.processes(),
                                                      " ranks, the context has ", asked.processes});
        signature = fingerprint_of(made);
    });
    agree(world.control(), failure, {{signature, who + std::string(": the plan is not the same on all ranks")}});
    made.set_number(++world.state()->plans);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
