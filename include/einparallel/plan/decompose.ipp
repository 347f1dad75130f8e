#pragma once

#include <einparallel/plan/decompose.hpp>

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/best_order.ipp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/limited_plans.ipp>
#include <einparallel/plan/machine_text.hpp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/paged_plan.ipp>
#include <einparallel/plan/plan.ipp>
#include <einparallel/plan/recompute.ipp>
#include <einparallel/search/partition.hpp>
#include <einparallel/search/pins.hpp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The most ranks that a plan may be for. With more of them, counts of blocks of blocks might not fit into an int.
inline constexpr int largest_processes = 1 << 20;

/// @throws error, one sentence, where options make no sense
EINPARALLEL_SELDOM void check_options(const options& asked) {
    require(asked.processes >= 1 && asked.processes <= largest_processes,
            {"decompose: options.processes is ", asked.processes, ", it must be between 1 and ", largest_processes});
    expect(asked.objective <= objective::bytes, "decompose: options.objective is none of time, paper and bytes");
    expect(asked.algorithm <= algorithm::master_worker,
           "decompose: options.algorithm is none of automatic, c, mn, k and master_worker");
    expect(asked.method <= method::linearized, "decompose: options.method is neither exact nor linearized");
    expect(asked.order <= order::best_plan, "decompose: options.order is neither fewest_operations nor best_plan");
    expect(asked.runs >= 1, "decompose: options.runs is 0, it must be at least 1");
    describe(asked.machine, [](const char* /*name*/, const auto& constant) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(constant)>, double>) {
            expect(std::isfinite(constant) && constant >= 0,
                   "decompose: every constant of options.machine must be finite and not negative");
        }
    });
    check_levels(asked.machine, planned_processes(asked.processes, asked.powers_of_two), "decompose: options.machine");
    const auto levels = int(count_of(asked.machine.levels));
    require(asked.level >= -1 && asked.level < std::max(levels - 1, 0),
            {"decompose: options.level is ", asked.level,
             ", it must be -1 or a level of options.machine below its outermost one, and the machine has ",
             levels == 0 ? "no" : std::to_string(levels).c_str(), levels == 1 ? " level" : " levels"});
}

/// The graph on which some outputs depend. @throws error where options make no sense, constraints cannot be obeyed, or
/// inputs rest on ranks that the plan does not have
EINPARALLEL_SELDOM einsum_graph checked_graph(const options& asked,
                                              const std::vector<std::shared_ptr<vertex>>& outputs) {
    check_options(asked);
    einsum_graph graph = collect(outputs);
    const int processes = planned_processes(asked.processes, asked.powers_of_two);
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        if (kind_of(each) == source_kind::root) {
            const int root = each.origin->root();
            require(root >= 0 && root < processes, {"decompose: the elements of ", graph.name_of(number),
                                                    " are on rank ", root, ", the plan is for ", processes, " ranks"});
        } else if (kind_of(each) == source_kind::resting) {
            const int holders = each.origin->holders();
            require(holders <= processes, {"decompose: ", graph.name_of(number), " rests on ", holders,
                                           " ranks, the plan is for ", processes});
        }
        check_constraints(graph, number, asked);
    }
    return graph;
}

/// Refuses a plan that exceeds the memory limit. @throws error that names the vertex that needs most
EINPARALLEL_SELDOM void check_limit(const limited_plan& found) {
    if (found.excess > 0) {
        refuse({"decompose: ", found.made.vertices()[found.heaviest()].name, " needs ", found.most(),
                " bytes on a rank in the smallest plan found, other tensors that the rank holds meanwhile included; "
                "options.memory_limit is ",
                found.made.asked().memory_limit,
                found.made.asked().paging ? "" : "; with options.paging tensors may wait in files"});
    }
}

/// The plan that pages within the limit of `asked`; otherwise the one within the smallest limit found that is enough,
/// with an excess, and this limit as what it holds. `within` makes a plan with other limits.
EINPARALLEL_SELDOM limited_plan paged_or_in_more(const options& asked,
                                                 function_ref<limited_plan(const options&)> within) {
    limited_plan best = within(asked);
    std::size_t fails = asked.memory_limit;
    std::size_t enough = best.most();
    constexpr int raises = 16;
    for (int raise = 0; raise < raises && best.excess > 0; ++raise) {
        options looser = asked;
        looser.memory_limit = enough = std::max(enough + (raise > 0 ? enough / 4 + arena_alignment : 0), fails + 1);
        best = within(looser);
        fails = best.excess > 0 ? enough : fails;
    }
    if (fails == asked.memory_limit && enough <= asked.memory_limit) {
        return best;
    }
    constexpr std::size_t few_vertices = 16;
    constexpr std::size_t many_vertices = 2048;
    const std::size_t vertices = best.made.vertices().size();
    const int tries = vertices < few_vertices ? 8 : vertices < many_vertices ? 3 : 2;
    bool halves = false;
    constexpr std::size_t precise = 128;  // a limit is found up to this part of it
    for (int attempt = 0; attempt < tries && best.excess == 0 && enough - fails > enough / precise; ++attempt) {
        halves = halves || best.most() + enough / precise >= enough;
        options smaller = asked;
        smaller.memory_limit = halves ? fails + (enough - fails) / 2 : best.most();
        limited_plan found = within(smaller);
        if (found.excess == 0) {
            enough = smaller.memory_limit;
            best = std::move(found);
        } else if (halves) {
            fails = smaller.memory_limit;
        }
        halves = !halves;
        fails = std::min(fails, enough);
    }
    best.held[best.heaviest()] = std::max(best.most(), enough);
    plan_builder::made_for(best.made, asked);
    best.excess = std::max(best.most(), asked.memory_limit) - asked.memory_limit;
    return best;
}

EINPARALLEL_SELDOM plan plan_into_files(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    einsum_graph graph = checked_graph(asked, outputs);
    share_equal(graph);
    options other = asked;
    other.memory_limit = 0;
    plan whole = best_plan(graph, other);
    const std::vector<int> ranks = heaviest_ranks(graph, whole.processes());
    limited_plan found = paged_or_in_more(asked, [&](const options& limits) {
        plan_builder::made_for(whole, limits, whole.lower_bound());
        return paged(whole, {paged_tensors::all, true}, ranks);
    });
    check_limit(found);
    return std::move(found.made);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM plan decompose_vertices(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    detail::einsum_graph graph = detail::checked_graph(asked, outputs);
    detail::share_equal(graph);
    const bool pages = asked.paging && asked.memory_limit > 0;
    const auto found_within = [&](const options& limits) {
        const auto plan_of = [&](const detail::einsum_graph& ordered) {
            return limits.memory_limit == 0 ? detail::limited_plan{detail::best_plan(ordered, limits)}
                   : pages                  ? detail::plan_with_pages(ordered, limits, paged_tensors::all)
                                            : detail::plan_within(ordered, limits);
        };
        if (asked.order == order::best_plan) {
            return detail::plan_of_best_order(graph, plan_of);
        }
        detail::limited_plan found = plan_of(graph);
        return found.excess > 0 && !pages ? detail::computed_again(graph, std::move(found), plan_of) : found;
    };
    detail::limited_plan found = pages ? detail::paged_or_in_more(asked, found_within) : found_within(asked);
    while (found.excess > 0 && !pages) {  // a looser limit may lead the search to a smaller plan
        options looser = asked;
        looser.memory_limit = found.most() - 1;
        detail::limited_plan other = found_within(looser);
        if (other.most() >= found.most()) {
            break;
        }
        other.excess = std::max(other.most(), asked.memory_limit) - asked.memory_limit;
        plan_builder::made_for(other.made, asked, other.made.lower_bound());
        found = std::move(other);
    }
    if (found.excess > 0 && !pages) {
        detail::limited_plan other = detail::paged_or_in_more(asked, [&](const options& limits) {
            return detail::plan_with_pages(graph, limits, paged_tensors::inputs);
        });
        if (other.excess < found.excess) {
            found = std::move(other);
        }
    }
    detail::check_limit(found);
    detail::check_kept(found.made, "decompose");
    return std::move(found.made);
}

}  // namespace einparallel
