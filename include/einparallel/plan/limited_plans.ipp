#pragma once
// The best plans that a search finds, and those within a memory limit: with everything in memory, and with tensors that
// wait in storage.

#include <einparallel/cost/places.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/best_order.ipp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/paged_plan.ipp>
#include <einparallel/plan/paging_order.ipp>
#include <einparallel/plan/plan.ipp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where seconds of redistributions are not asked for: not even where axes lie is chosen by them.
EINPARALLEL_INLINE bool counts_elements_only(const options& asked) {
    return asked.objective != objective::time && !asked.machine.levels.front().is_given();
}

/// What a search found for a graph, from which plans for other orders of its vertices are built.
struct searched_graph {
    std::shared_ptr<place_table> table;  ///< searches of one graph share what they count
    std::vector<vertex_cuts> may_be;
    placed_graph best;
};

EINPARALLEL_SELDOM searched_graph search_graph(const einsum_graph& graph, const options& asked,
                                               std::vector<vertex_cuts> may_be,
                                               std::shared_ptr<place_table> table = nullptr) {
    if (table == nullptr) {
        table = std::make_shared<place_table>(asked.machine, counts_elements_only(asked));
    }
    searched_graph found{std::move(table), std::move(may_be), {}};
    found.best = best_placement(graph, asked, found.may_be, *found.table);
    return found;
}

/// The best plan found, without checks of memory.
EINPARALLEL_SELDOM plan best_plan(const einsum_graph& graph, const options& asked, searched_graph& found) {
    plan made = plan_builder::build(graph, asked, found.may_be, found.best.states, *found.table);
    if (broken_marks(made) == 0) {
        const double cost = made.objective_cost();
        const bool is_best = found.best.bound >= found.best.cost * (1 - 1e-12) && cost <= found.best.cost * (1 + 1e-9);
        plan_builder::made_for(made, asked, is_best ? cost : std::min(found.best.bound * (1 - 1e-12), cost));
    }
    return made;
}
EINPARALLEL_SELDOM plan best_plan(const einsum_graph& graph, const options& asked) {
    searched_graph found = search_graph(graph, asked, cuts_of_graph(graph, asked));
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

/// Gives what einsums read from files its price. False where nothing of it has one.
EINPARALLEL_SELDOM bool price_reading(const einsum_graph& graph, const options& asked,
                                      std::vector<vertex_cuts>& may_be) {
    bool any = false;
    for (std::size_t number = 0; number < may_be.size() && asked.objective == objective::time; ++number) {
        const vertex& einsum = *graph.vertices[number];
        const auto price = [&](const std::shared_ptr<vertex>& read) {
            const bool is_in_file = read->is_input() && read->origin != nullptr && read->origin->is_in_file();
            any = any || is_in_file;
            return is_in_file ? asked.machine.seconds_per_stored_byte : 0;
        };
        may_be[number].reading = list_of(einsum.operands, price);
    }
    return any;
}

/// True where one reading of all files takes longer than the arithmetic.
EINPARALLEL_SELDOM bool reads_longer_than_it_computes(const einsum_graph& graph, const options& asked) {
    const double operations = sum_in(graph.vertices, 0.0, [](const std::shared_ptr<vertex>& each) {
        return each->is_input() ? 0 : product_in(each->extents, each->work->operations_per_point(), [](index extent) {
            return double(extent);
        });
    });
    return bytes_of_files(graph) * asked.machine.seconds_per_stored_byte > operations * asked.machine.seconds_per_flop;
}

/// Raises the prices of the partition vectors in a plan by what its pages cost: those of vertices that may be cut
/// alike, as much as pages cost one of them. False where nothing is dearer than before.
EINPARALLEL_SELDOM bool raise_prices(std::vector<vertex_cuts>& may_be, const limited_plan& paged) {
    struct priced_vertices {
        priced_cut cut;
        std::size_t first = 0;  // a vertex of the kind
        double count = 0;
    };
    const plan& made = paged.made;
    const auto moved = double(sum_in(paged.paged, std::size_t{0}, std::identity()));
    const bool counts_bytes = made.asked().objective == objective::bytes;
    const double all = counts_bytes ? double(made.paging().bytes) : made.paging().seconds;
    if (!(moved > 0 && all > 0) || made.paging().bytes == 0 || made.asked().objective == objective::paper) {
        return false;
    }
    std::vector<priced_vertices> found;
    for (std::size_t number = 0; number < may_be.size(); ++number) {
        const planned_vertex& each = made.vertices()[number];
        if (each.is_input()) {
            continue;
        }
        std::vector<int> parts(each.work.extents.size());
        for (std::size_t label = 0; label < parts.size(); ++label) {
            parts[label] = each.work.ranks.parts(label_id(label));
        }
        auto known = find_if_in(found, [&](const priced_vertices& other) {
            return other.cut.parts == parts && may_be[other.first] == may_be[number];
        });
        if (known == found.end()) {
            known = found.insert(found.end(), {{std::move(parts)}, number});
        }
        ++known->count;
        known->cut.cost += all * double(paged.paged[number]) / moved;
    }
    const std::vector<vertex_cuts> before = may_be;
    bool is_dearer = false;
    for (priced_vertices& each : found) {
        each.cut.cost /= each.count;
        for (std::size_t number = 0; number < may_be.size() && each.cut.cost > 0; ++number) {
            if (made.vertices()[number].is_input() || before[number] != before[each.first]) {
                continue;
            }
            std::vector<priced_cut>& prices = may_be[number].prices;
            auto known = find_if_in(prices, [&](const priced_cut& other) { return other.parts == each.cut.parts; });
            if (known == prices.end()) {
                known = prices.insert(prices.end(), {each.cut.parts, 0});
            }
            is_dearer = is_dearer || better(known->cost, each.cut.cost);
            known->cost = std::max(known->cost, each.cut.cost);
        }
    }
    return is_dearer;
}

/// True where a plan exceeds the limit less than another one, or costs less.
EINPARALLEL_SELDOM bool is_better(const limited_plan& a, const limited_plan& b) {
    return a.excess != b.excess ? a.excess < b.excess : better(a.made.objective_cost(), b.made.objective_cost());
}

/// The cheapest plan found that keeps to the memory limit, where tensors may wait in storage. The plan without a limit
/// pages what does not fit, and reads its inputs in files ahead of their use. Where that costs something, the search is
/// done again with a price of reading, and then, a few times, with prices of cuts whose tensors wait. The best of these
/// plans is tried in an order that pages less. Plans that keep to the limit with less to page, or nothing, are found as
/// without pages, with a part of the effort.
EINPARALLEL_SELDOM limited_plan plan_with_pages(const einsum_graph& graph, const options& asked, paged_tensors which) {
    options other = asked;
    other.memory_limit = 0;
    std::vector<vertex_cuts> prices = cuts_of_graph(graph, other);
    const bool reads_most = which == paged_tensors::all && reads_longer_than_it_computes(graph, asked) &&
                            price_reading(graph, asked, prices);
    searched_graph searched = search_graph(graph, other, prices);
    plan whole = best_plan(graph, other, searched);
    // Ranks do nearly the same, but the first and the last may do more or less: they say how good a plan is.
    const std::vector<int> ranks = heaviest_ranks(graph, whole.processes());
    const std::vector<int> some = ranks.size() > 1 ? std::vector<int>{ranks.front(), ranks.back()} : ranks;
    std::optional<double> bound = reads_most ? std::nullopt : whole.lower_bound();
    limited_plan fitting{whole};
    plan_builder::made_for(fitting.made, asked, bound);
    const auto fits_on = [&](const std::vector<int>& looked_at) {
        fitting.held = most_held(fitting.made, looked_at);
        return fitting.most() <= asked.memory_limit;
    };
    bool fits = fits_on(some);
    if (fits && (bytes_of_files(graph) == 0 || which != paged_tensors::all || asked.runs > 1)) {
        fits = fits_on(ranks);
        if (fits) {
            return fitting;
        }
    }
    if (asked.runs > 1) {  // what pages keeps nothing
        other.runs = 1;
        bound.reset();
        const std::vector<vertex_cuts> priced = std::exchange(prices, cuts_of_graph(graph, other));
        for (std::size_t number = 0; number < prices.size(); ++number) {
            prices[number].reading = priced[number].reading;
        }
        searched = search_graph(graph, other, prices, searched.table);
        whole = best_plan(graph, other, searched);
    }
    const auto with_pages = [&](plan made) {
        plan_builder::made_for(made, asked, bound);
        return paged(std::move(made), {which}, some);
    };
    std::vector<limited_plan> found{with_pages(whole)};  // the best first
    const auto add = [&](limited_plan&& next) {
        const bool is_best = is_better(next, found.front());
        const auto behind = find_if_in(found, [&](const limited_plan& known) { return is_better(next, known); });
        found.insert(behind, std::move(next));
        return is_best;
    };
    const double least = whole.objective_cost();
    constexpr double enough = 1.02;
    const auto is_dear = [&] {
        const limited_plan& now = found.front();
        return whole.processes() > 1 && (now.excess > 0 || now.made.objective_cost() > enough * least);
    };
    for (const double small : small_shares) {
        std::vector<vertex_cuts> gathered = prices;
        if (fits || !is_dear() || !gather_small_operands(gathered, found.front().made, small)) {
            continue;
        }
        std::swap(searched.may_be, gathered);
        plan next = best_plan(graph, other, searched);
        if (add(with_pages(next))) {
            whole = std::move(next);
            prices = searched.may_be;
        } else {
            std::swap(searched.may_be, gathered);
        }
    }
    constexpr int rounds = 4;
    constexpr std::size_t many_vertices = 2048;
    const int most_failures = graph.vertices.size() < many_vertices ? 3 : 1;
    limited_plan last = found.front();
    int failures = 0;
    for (int round = 0;
         round < rounds && failures < most_failures && is_dear() &&
         ((round == 0 && !reads_most && price_reading(graph, asked, prices)) || raise_prices(prices, last));
         ++round) {
        searched_graph again = search_graph(graph, other, prices, searched.table);
        plan next = best_plan(graph, other, again);
        last = with_pages(next);
        const double before = found.front().made.objective_cost();
        if (add(limited_plan(last))) {
            whole = std::move(next);
            searched = std::move(again);
        }
        failures = found.front().made.objective_cost() * enough < before ? 0 : failures + 1;
    }
    paging_order orders(graph, whole, asked.memory_limit);
    const auto order = fits ? orders.given() : orders.best();
    if (order != orders.given()) {
        std::vector<std::size_t> old;
        const einsum_graph ordered = orders.graph_of(order, old);
        const auto renumber = [&](const auto& by_number) {
            return list_of(old, [&](std::size_t number) { return by_number[number]; });
        };
        add(with_pages(plan_builder::build(ordered, other, renumber(searched.may_be), renumber(searched.best.states),
                                           *searched.table)));
    }
    if (!fits && is_dear()) {
        constexpr std::size_t part = 16;
        options quick = asked;
        quick.runs = 1;
        quick.effort /= part;
        limited_plan less = plan_within(graph, quick);
        plan_builder::made_for(less.made, asked, bound);
        add(less.excess == 0 && bytes_of_files(graph) == 0 ? std::move(less) : with_pages(std::move(less.made)));
    }
    if (found.front().excess > 0 && whole.processes() > 1 && which == paged_tensors::all) {
        // On one rank nothing travels.
        std::vector<vertex_cuts> uncut = cuts_of_graph(graph, other);
        for (std::size_t number = 0; number < uncut.size(); ++number) {
            if (!graph.vertices[number]->is_input()) {
                uncut[number] = only_cuts(*graph.vertices[number], mesh(), uncut[number]);
            }
        }
        searched_graph alone = search_graph(graph, other, std::move(uncut), searched.table);
        plan on_one = best_plan(graph, other, alone);
        add(with_pages(std::move(on_one)));
    }
    for (limited_plan& each : found) {
        if (each.excess == 0) {
            const plan_paging how{each.made.paging().which};
            limited_plan sure = paged(std::move(each.made), how, ranks, std::move(each.ranks));
            each = std::move(sure);
            if (each.excess == 0) {
                return each;
            }
        }
    }
    const auto less = [](const limited_plan& a, const limited_plan& b) { return is_better(a, b); };
    return fits && fits_on(ranks) ? fitting : *std::min_element(found.begin(), found.end(), less);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
