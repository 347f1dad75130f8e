#pragma once

#include <einparallel/plan/decompose.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/best_order.ipp>
#include <einparallel/plan/build.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/eliminate.hpp>
#include <einparallel/plan/kept_wishes.ipp>
#include <einparallel/plan/linearize.hpp>
#include <einparallel/plan/model.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/place.ipp>
#include <einparallel/plan/program.ipp>
#include <einparallel/plan/sums.hpp>
#include <einparallel/plan/wishes.ipp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Ranks that a plan may be for: what is left of an int when blocks of blocks are counted.
inline constexpr int largest_processes = 1 << 20;

/// One way per variable, and whether none are better.
struct minimum {
    std::vector<int> states;
    bool exact = false;
};

/// One sentence where options make no sense.
EINPARALLEL_INLINE void check_options(const options& asked) {
    if (asked.processes < 1 || asked.processes > largest_processes) {
        throw error("decompose: options.processes is " + std::to_string(asked.processes) +
                    ", it must be between 1 and " + std::to_string(largest_processes));
    }
    if (static_cast<int>(asked.objective) > static_cast<int>(objective::bytes)) {
        throw error("decompose: options.objective is none of time, paper and bytes");
    }
    if (static_cast<int>(asked.algorithm) > static_cast<int>(algorithm::master_worker)) {
        throw error("decompose: options.algorithm is none of automatic, c, mn, k and master_worker");
    }
    if (asked.algorithm == algorithm::master_worker) {
        throw error("decompose: master-worker runs are not part of this version, choose automatic, c, mn or k");
    }
    if (static_cast<int>(asked.method) > static_cast<int>(method::linearized)) {
        throw error("decompose: options.method is neither exact nor linearized");
    }
    if (static_cast<int>(asked.order) > static_cast<int>(order::best_plan)) {
        throw error("decompose: options.order is neither fewest_operations nor best_plan");
    }
    const machine& constants = asked.machine;
    for (const double constant :
         {constants.seconds_per_message, constants.seconds_per_byte, constants.seconds_per_flop, constants.exposed}) {
        if (!std::isfinite(constant) || constant < 0) {
            throw error("decompose: every constant of options.machine must be finite and not negative");
        }
    }
}

/// Inputs that rest on ranks which the plan does not have cannot be read.
EINPARALLEL_INLINE void check_sources(const einsum_graph& graph, int processes) {
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const source* origin = graph.vertices[number]->is_input() ? graph.vertices[number]->origin.get() : nullptr;
        if (origin == nullptr) {
            continue;
        }
        if (origin->kind() == source_kind::root && (origin->root() < 0 || origin->root() >= processes)) {
            throw error("decompose: the elements of " + graph.name_of(number) + " are on rank " +
                        std::to_string(origin->root()) + ", the plan is for " + std::to_string(processes) + " ranks");
        }
        if (origin->kind() == source_kind::resting && origin->holders() > processes) {
            throw error("decompose: " + graph.name_of(number) + " rests on " + std::to_string(origin->holders()) +
                        " ranks, the plan is for " + std::to_string(processes));
        }
    }
}

/// Exactly where tables stay small enough, otherwise by the paper's linearisation, improved one vertex at a time. Never
/// worse than the linearisation.
EINPARALLEL_INLINE minimum minimise(const pairwise_model& model, method how) {
    if (how == method::linearized) {
        return {minimise_along_paths(model), false};
    }
    if (std::optional<std::vector<int>> exact = minimise_exactly(model)) {
        return {*std::move(exact), true};
    }
    return {improve_locally(model, minimise_along_paths(model)), false};
}

/// One partition vector per variable, placed vertex by vertex.
EINPARALLEL_INLINE placement_choice aligned(const einsum_graph& graph, const model_builder& builder,
                                            std::vector<int> states, overlap_table& table) {
    placement_choice made;
    made.decisions.resize(graph.vertices.size());
    for (std::size_t variable = 0; variable < states.size(); ++variable) {
        const choices& ways = *builder.ways()[variable];
        const std::span<const int> vector = ways[static_cast<std::size_t>(states[variable])];
        made.decisions[builder.vertex_of()[variable]] = {{vector.begin(), vector.end()}, ways.wanted, ways.fell_back};
    }
    made.placed = align_all(graph, made.decisions, table);
    made.states = std::move(states);
    return made;
}

/// What a plan costs by the objective that it was made for; more than any plan where it moves what may not move.
EINPARALLEL_INLINE double objective_of(const plan& made) {
    if (const std::size_t broken = broken_marks(made); broken > 0) {
        return static_cast<double>(broken) * forbidden_move;
    }
    return made.objective_cost();
}

/// With a lower bound where none is noted yet.
EINPARALLEL_INLINE plan bounded(plan made, const model_builder& builder, const pairwise_model& model,
                                const pending_offers& offers, bool priced) {
    if (made.lower_bound() == 0 && !priced && builder.is_complete()) {
        plan_builder::bound(made, builder.lower_bound(model, offers));
    }
    return made;
}

/// The best plan with this price on memory. Under the paper's cost a vertex is its partition vector. Under bytes and
/// time it is its whole placement: all of them are searched where they can be written down. Where they cannot, axis
/// orders are chosen after the partition vectors, for the best vectors by an estimate of what the edges cost and for
/// the linearised ones; from the better plan the search goes on among the placements near it. Sums that may be left
/// pending (plan/sums.hpp) are decided in the search over placements, in the last step where that is too large.
EINPARALLEL_INLINE plan best_plan(const einsum_graph& graph, const options& asked, double memory_price) {
    model_builder builder(graph, asked, memory_price);
    const pairwise_model model = builder.build();
    overlap_table table;
    minimum least = minimise(model, asked.method);
    placement_choice best = aligned(graph, builder, std::move(least.states), table);
    plan made = plan_builder::build(graph, asked, best.decisions, best.placed, table);
    const bool priced = memory_price > 0;
    const pending_offers offers = offers_of(graph, asked);
    if (asked.objective == objective::paper && least.exact && !priced) {
        plan_builder::bound(made, objective_of(made));
    }
    if (asked.objective == objective::paper || asked.method == method::linearized) {
        return bounded(std::move(made), builder, model, offers, priced);
    }
    const auto consider = [&](placement_choice other) {
        plan tried = plan_builder::build(graph, asked, other.decisions, other.placed, table);
        const bool is_better = better(objective_of(tried), objective_of(made));
        if (is_better) {
            best = std::move(other);
            made = std::move(tried);
        }
        return is_better;
    };
    placement_search search(graph, asked, builder, memory_price, offers, table);
    const auto best_of_all = [&](double known) {
        std::optional<placement_choice> found;
        if (offers.any) {
            found = search.best_of_all(known, true);
        }
        const bool with_sums = found.has_value();
        return std::pair(with_sums ? std::move(found) : search.best_of_all(known, false), with_sums || !offers.any);
    };
    if (priced) {
        const std::optional<placement_choice> found = best_of_all(std::numeric_limits<double>::infinity()).first;
        return found ? plan_builder::build(graph, asked, found->decisions, found->placed, table) : made;
    }
    if (std::vector<int> along_paths = minimise_along_paths(model); along_paths != best.states) {
        consider(aligned(graph, builder, std::move(along_paths), table));
    }
    if (auto [found, all] = best_of_all(objective_of(made)); found) {
        best = *std::move(found);
        made = plan_builder::build(graph, asked, best.decisions, best.placed, table);
        if (all) {
            if (builder.is_complete() && search.is_complete()) {
                plan_builder::bound(made, objective_of(made));
            }
            return bounded(std::move(made), builder, model, offers, priced);
        }
    } else {
        constexpr int rounds = 3;
        for (int round = 0; round < rounds; ++round) {
            std::optional<placement_choice> nearby = search.improve(best.states, best.placed, false);
            if (!nearby || !consider(*std::move(nearby))) {
                break;
            }
        }
    }
    if (offers.any) {
        if (std::optional<placement_choice> nearby = search.improve(best.states, best.placed, true)) {
            consider(*std::move(nearby));
        }
    }
    return bounded(std::move(made), builder, model, offers, priced);
}

/// Ranks whose peaks are looked at: all of them up to 64. Of more, those that hold an input or a root's, and 64 spread
/// over all: blocks differ by an element along each dimension, and what lies in one piece of memory packs differently.
EINPARALLEL_INLINE std::vector<int> heaviest_ranks(const einsum_graph& graph, int processes) {
    constexpr int looked_at = 64;
    std::vector<int> ranks;
    for (int place = 0; place < std::min(processes, looked_at); ++place) {
        ranks.push_back(static_cast<int>(std::int64_t{place} * processes / std::min(processes, looked_at)));
    }
    for (const std::shared_ptr<vertex>& each : graph.vertices) {
        if (lies_somewhere(*each) && each->origin->kind() == source_kind::resting) {
            for (int rank = 0; rank < each->origin->holders(); ++rank) {
                ranks.push_back(rank);
            }
        } else if (lies_somewhere(*each) && each->origin->kind() == source_kind::root) {
            ranks.push_back(each->origin->root());
        }
    }
    sort_range(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

/// The cheapest plan found that keeps to the memory limit. Peak memory is not a sum over vertices, so memory gets a
/// price, raised until the peak fits or every vertex is as small as it can be.
EINPARALLEL_INLINE plan plan_within(const einsum_graph& graph, const options& asked) {
    options free = asked;
    free.memory_limit = 0;
    plan best = best_plan(graph, free, 0);
    if (asked.memory_limit == 0) {
        return best;
    }
    const std::vector<int> ranks = heaviest_ranks(graph, best.processes());
    const auto peak_of = [&](const plan& made) {
        std::pair<std::size_t, int> peak{0, 0};
        for (const int rank : ranks) {
            peak = std::max(peak, {made.peak_bytes(rank), -rank});
        }
        return peak;
    };
    const double lower_bound = best.lower_bound();
    std::pair<std::size_t, int> smallest = peak_of(best);
    const auto consider = [&](const options& narrower, double price) {
        plan other = best_plan(graph, narrower, price);
        const std::pair<std::size_t, int> peak = peak_of(other);
        if (peak.first < smallest.first && broken_marks(other) <= broken_marks(best)) {
            smallest = peak;
            best = std::move(other);
        }
    };
    const double unit = std::max(best.objective_cost(), 1e-12) / static_cast<double>(asked.memory_limit);
    if (smallest.first > asked.memory_limit) {
        consider(asked, 0);
    }
    for (double price = unit / 64; smallest.first > asked.memory_limit && price <= unit * 5e6; price *= 8) {
        consider(asked, price);
    }
    // The peak is not a sum: what is left to try are plans in which no vertex alone comes near the smallest peak found.
    for (double share = 0.9; smallest.first > asked.memory_limit && share > 0.2; share *= 0.85) {
        options narrower = asked;
        narrower.memory_limit = static_cast<std::size_t>(share * static_cast<double>(smallest.first));
        for (const double price : {0.0, unit, unit * 4096}) {
            try {
                consider(narrower, price);
            } catch (const error&) {  // some vertex takes more in every way
                share = 0;
                break;
            }
        }
    }
    plan_builder::made_for(best, asked);
    if (smallest.first > asked.memory_limit) {
        const std::size_t at = vertex_at_peak(best.program_of(-smallest.second));
        throw error("decompose: " + (at < best.vertices().size() ? best.vertices()[at].name : "the outputs") +
                    " needs " + std::to_string(smallest.first) +
                    " bytes on a rank in the smallest plan found, with all that is held beside it; " +
                    "options.memory_limit is " + std::to_string(asked.memory_limit));
    }
    plan_builder::bound(best, lower_bound);  // the limit only takes plans away
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE plan decompose_vertices(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs) {
    detail::check_options(asked);
    const detail::einsum_graph graph = detail::collect(outputs);
    detail::check_sources(graph, planned_processes(asked.processes, asked.powers_of_two));
    detail::check_wishes(graph, asked);
    const auto plan_of = [&](const detail::einsum_graph& ordered) { return detail::plan_within(ordered, asked); };
    plan made = asked.order == order::best_plan ? detail::plan_of_best_order(graph, asked, plan_of) : plan_of(graph);
    detail::check_kept(made, "decompose");
    return made;
}

}  // namespace einparallel
