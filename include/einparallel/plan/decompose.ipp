#pragma once

#include <einparallel/plan/decompose.hpp>

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/best_order.ipp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/machine_text.hpp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/paged_plan.ipp>
#include <einparallel/plan/paging_order.ipp>
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

/// True where seconds of redistributions are not asked for: not even where axes lie is chosen by them.
EINPARALLEL_INLINE bool counts_elements_only(const options& asked) {
    return asked.objective != objective::time && !asked.machine.levels.front().is_given();
}

/// What a search found for a graph, from which plans for other orders of its vertices are built.
struct searched_graph {
    searched_graph(const einsum_graph& graph, const options& asked)
        : table(asked.machine, counts_elements_only(asked)),
          may_be(cuts_of_graph(graph, asked)),
          best(best_placement(graph, asked, may_be, table)) {}

    place_table table;
    std::vector<vertex_cuts> may_be;
    placed_graph best;
};

/// The best plan found, without checks of memory.
EINPARALLEL_SELDOM plan best_plan(const einsum_graph& graph, const options& asked, searched_graph& found) {
    plan made = plan_builder::build(graph, asked, found.may_be, found.best.states, found.table);
    if (broken_marks(made) == 0) {
        const double cost = made.objective_cost();
        const bool is_best = found.best.bound >= found.best.cost * (1 - 1e-12) && cost <= found.best.cost * (1 + 1e-9);
        plan_builder::made_for(made, asked, is_best ? cost : std::min(found.best.bound * (1 - 1e-12), cost));
    }
    return made;
}
EINPARALLEL_SELDOM plan best_plan(const einsum_graph& graph, const options& asked) {
    searched_graph found(graph, asked);
    return best_plan(graph, asked, found);
}

/// The cheapest plan found that keeps to the memory limit, otherwise the smallest plan found, with the bytes by which
/// it exceeds the limit. The plan without a limit is tried first. If it exceeds the limit, search_within() follows,
/// because peak memory is not a sum over vertices: it writes down states that keep to the limit by themselves, and
/// looks among them for states that fit together and for an order of the vertices. Where tensors kept over runs leave
/// too little of the limit, the plan keeps nothing.
EINPARALLEL_SELDOM limited_plan plan_within(const einsum_graph& graph, const options& asked) {
    const std::size_t limit = asked.memory_limit;
    options other = asked;
    other.memory_limit = 0;
    limited_plan best{best_plan(graph, other)};
    std::optional<double> bound = best.made.lower_bound();  // the limit only takes plans away
    plan_builder::made_for(best.made, asked, bound);
    const std::vector<int> ranks = heaviest_ranks(graph, best.made.processes());
    best.held = most_held(best.made, ranks);
    if (best.most() > limit) {
        place_table table(asked.machine, counts_elements_only(asked));
        const std::vector<vertex_cuts> may_be = cuts_of_graph(graph, asked);
        search_within(graph, asked, may_be, table, [&](const auto& states, const auto& order) {
            std::vector<std::size_t> number_of;
            const einsum_graph ordered = in_order(graph, order, number_of);
            const auto renumber = [&](const auto& by_number) {
                auto there = by_number;
                for (std::size_t number = 0; number < there.size(); ++number) {
                    there[number_of[number]] = by_number[number];
                }
                return there;
            };
            limited_plan found{plan_builder::build(ordered, asked, renumber(may_be), renumber(states), table)};
            found.held = most_held(found.made, ranks);
            std::vector<std::size_t> held = renumbered(number_of, found.held);
            if (std::pair{std::max(found.most(), limit), found.made.objective_cost()} <
                    std::pair{std::max(best.most(), limit), best.made.objective_cost()} &&
                broken_marks(found.made) <= broken_marks(best.made)) {
                best = std::move(found);
            }
            return best.most() > limit ? held : std::vector<std::size_t>{};
        });
    }
    if (best.most() > limit && asked.runs > 1) {
        other = asked;
        other.runs = 1;
        best = plan_within(graph, other);
        bound.reset();
    }
    plan_builder::made_for(best.made, asked, bound);
    best.excess = std::max(best.most(), limit) - limit;
    return best;
}

/// Replaces a plan by one that exceeds the limit less, or costs less.
EINPARALLEL_SELDOM void take_better(limited_plan& best, limited_plan&& other) {
    if (other.excess != best.excess ? other.excess < best.excess
                                    : better(other.made.objective_cost(), best.made.objective_cost())) {
        best = std::move(other);
    }
}

/// The cheapest plan found that keeps to the memory limit, where tensors may wait in storage. The plan without a limit
/// pages what does not fit, in its order and in one that pages less. Plans that keep to the limit with less to page, or
/// nothing, are found as without pages, with a part of the effort.
EINPARALLEL_SELDOM limited_plan plan_with_pages(const einsum_graph& graph, const options& asked, paged_tensors which) {
    options other = asked;
    other.memory_limit = 0;
    searched_graph searched(graph, other);
    plan whole = best_plan(graph, other, searched);
    const std::vector<int> ranks = heaviest_ranks(graph, whole.processes());
    std::optional<double> bound = whole.lower_bound();
    const auto with_pages = [&](plan made) {
        plan_builder::made_for(made, asked, bound);
        return paged(std::move(made), {which}, ranks);
    };
    limited_plan best{whole};
    plan_builder::made_for(best.made, asked, bound);
    best.held = most_held(best.made, ranks);
    if (best.most() <= asked.memory_limit) {
        return best;
    }
    if (asked.runs > 1) {  // what pages keeps nothing
        other.runs = 1;
        bound.reset();
        searched = searched_graph(graph, other);
        whole = best_plan(graph, other, searched);
    }
    best = with_pages(whole);
    paging_order orders(graph, whole, asked.memory_limit);
    const auto order = orders.best();
    if (order != orders.given()) {
        std::vector<std::size_t> old;
        const einsum_graph ordered = orders.graph_of(order, old);
        const auto renumber = [&](const auto& by_number) {
            return list_of(old, [&](std::size_t number) { return by_number[number]; });
        };
        take_better(best, with_pages(plan_builder::build(ordered, other, renumber(searched.may_be),
                                                         renumber(searched.best.states), searched.table)));
    }
    constexpr double enough = 1.001;
    constexpr std::size_t part = 16;
    if (whole.processes() > 1 && best.made.objective_cost() > enough * whole.objective_cost()) {
        options quick = asked;
        quick.runs = 1;
        quick.effort /= part;
        limited_plan found = plan_within(graph, quick);
        plan_builder::made_for(found.made, asked, bound);
        take_better(best, found.excess == 0 ? std::move(found) : paged(std::move(found.made), {which}, ranks));
    }
    return best.excess == 0 ? std::move(best) : paged_in_more(whole, asked, {which}, ranks);
}

/// Refuses a plan that exceeds the memory limit. @throws error that names the vertex that needs most
EINPARALLEL_SELDOM void check_limit(const limited_plan& found) {
    if (found.excess > 0) {
        refuse({"decompose: ", found.made.vertices()[found.heaviest()].name, " needs ", found.most(),
                " bytes on a rank in the smallest plan found, other tensors that the rank holds meanwhile included; "
                "options.memory_limit is ",
                found.made.asked().memory_limit});
    }
}

EINPARALLEL_SELDOM plan plan_into_files(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    einsum_graph graph = checked_graph(asked, outputs);
    share_equal(graph);
    options other = asked;
    other.memory_limit = 0;
    plan whole = best_plan(graph, other);
    plan_builder::made_for(whole, asked, whole.lower_bound());
    const std::vector<int> ranks = heaviest_ranks(graph, whole.processes());
    limited_plan found = paged(whole, {paged_tensors::all, true}, ranks);
    check_limit(found.excess == 0 ? found : paged_in_more(whole, asked, {paged_tensors::all, true}, ranks));
    return std::move(found.made);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM plan decompose_vertices(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    detail::einsum_graph graph = detail::checked_graph(asked, outputs);
    detail::share_equal(graph);
    const auto found_within = [&](const options& limits) {
        const auto plan_of = [&](const detail::einsum_graph& ordered) {
            return limits.memory_limit == 0 ? detail::limited_plan{detail::best_plan(ordered, limits)}
                                            : detail::plan_within(ordered, limits);
        };
        if (asked.order == order::best_plan) {
            return detail::plan_of_best_order(graph, plan_of);
        }
        detail::limited_plan found = plan_of(graph);
        return found.excess > 0 ? detail::computed_again(graph, std::move(found), plan_of) : found;
    };
    detail::limited_plan found;
    const bool pages = asked.paging && asked.memory_limit > 0;
    if (pages) {
        const auto plan_of = [&](const detail::einsum_graph& ordered) {
            return detail::plan_with_pages(ordered, asked, paged_tensors::all);
        };
        found = asked.order == order::best_plan ? detail::plan_of_best_order(graph, plan_of) : plan_of(graph);
    } else {
        found = found_within(asked);
    }
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
        detail::limited_plan other = detail::plan_with_pages(graph, asked, paged_tensors::inputs);
        if (other.excess < found.excess) {
            found = std::move(other);
        }
    }
    detail::check_limit(found);
    detail::check_kept(found.made, "decompose");
    return std::move(found.made);
}

}  // namespace einparallel
