#pragma once
// The search over placements. Every round solves two models. The first has the states that are written down, and gives
// a plan. The second also has a rest for every vertex, and gives a bound: a rest stands for all other states, costs no
// more than any of them, and moves nothing. Where the second model takes a rest, more states are written down. When it
// takes none, or bound and plan meet, the plan is the best of all placements.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/search/linearize.ipp>
#include <einparallel/search/model_tables.ipp>
#include <einparallel/search/partition.ipp>
#include <einparallel/search/placement_writer.ipp>
#include <einparallel/search/search.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Searches the placements of a graph.
class placement_search {
public:
    /// In graphs of at most this many vertices, all vertices begin with cuts that one would try by hand. Larger graphs
    /// need the effort elsewhere.
    static constexpr std::size_t few_vertices = 24;
    /// Number of partition vectors that a domain begins with.
    static constexpr std::size_t first_states = 24;

    EINPARALLEL_INLINE placement_search(const einsum_graph& graph, const options& asked,
                                        const std::vector<vertex_cuts>& may_be, place_table& table)
        : graph_(graph), asked_(asked), factors_(graph, asked, may_be, table), written_(factors_, effort_) {
        const std::size_t variables = std::max<std::size_t>(factors_.size(), 1);
        factor_limit_ = std::max(std::size_t{1} << 14, (std::size_t{1} << 22) / variables);
        split_limit_ = std::max(std::size_t{1} << 18, (std::size_t{1} << 26) / variables);
    }

    /// The best placement found; the `known` ones compete too. `effort` limits how many table entries and states are
    /// looked at.
    EINPARALLEL_INLINE placed_graph run(std::size_t effort, const std::vector<placed_graph>& known = {}) {
        // Under the paper's objective states are only cuts, and moves have closed forms: twice as many take as long.
        const std::size_t half = std::min(effort, std::numeric_limits<std::size_t>::max() / 2);
        effort = asked_.objective == objective::paper ? 2 * half : effort;
        const bool has_others = any_in(factors_.domains(), &domain::may_have_others);
        let_in_others(!has_others);
        start();
        for (const placed_graph& each : known) {
            add(each);
        }
        find_best();
        // Usual numbers of ranks come first, which neighbours share. Then come all numbers, near the best of these.
        if (has_others) {
            let_in_others(true);
            certain_ = std::min(solve(all_states(true), true).least.bound, best_.cost);
            let_in_others(false);
            attempt([&] { refine(effort / 2); });
            let_in_others(true);
            attempt([&] { grow_from_heaviest(effort / 4); });
            effort_.limit = 2 * std::min(effort, std::numeric_limits<std::size_t>::max() / 2);
        }
        bound_ = std::exchange(certain_, 0);
        attempt([&] { refine(effort); });
        return result();
    }

    /// Chooses one partition vector per vertex by the paper's linearisation (linearize.ipp).
    EINPARALLEL_INLINE placed_graph run_along_paths() {
        constexpr std::size_t vectors = 512;
        start();
        for (domain& each : factors_.domains()) {
            each.grow(vectors);
        }
        const model of = model_writer(factors_, asked_, all_states(false), false, effort_).write(0);
        best_.states = taken(of, minimise_along_paths(of.sum));
        bound_ = solve(all_states(true), true).least.bound;
        return result();
    }

    factor_graph& factors() { return factors_; }

private:
    EINPARALLEL_INLINE void let_in_others(bool may) {
        for (domain& each : factors_.domains()) {
            each.has_others = may;
        }
    }

    /// Does work that may end early, when the effort is spent. best_ and bound_ are valid then, too.
    static void attempt(auto work) {
        try {
            work();
        } catch (const effort_count::exceeded&) {
        }
    }

    /// Adds a placement that was found elsewhere.
    EINPARALLEL_INLINE void add(const placed_graph& known) {
        std::vector<state> made;
        for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
            domain& of = factors_.states_of(variable);
            made.push_back(of.priced(known.states[factors_.vertex_of(variable)]));
            of.add(made.back());
        }
        consider(made);
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    /// A model and its minimum.
    struct answer {
        model of;
        minimum least;
        std::vector<state> taken;  ///< by variable
    };

    /// Runs rounds until bound and plan meet, nothing is left to write down, or the effort is spent. The last round may
    /// spend as much again before it is broken off. The effort decides how much is done, but not what is done first.
    /// When an eighth of it is spent, a plan within a thousandth of the bound is good enough: the time model is less
    /// exact than that.
    EINPARALLEL_INLINE void refine(std::size_t effort) {
        constexpr std::size_t all = 6144;  // placements of a partition vector
        std::size_t most = 1;
        for (;; ++round_) {
            most = std::min<std::size_t>(2 * most, 64);
            const answer loose = solve(all_states(true), true);
            bound_ = std::max(bound_, std::min(loose.least.bound, best_.cost));
            effort_.limit = 2 * std::min(effort, std::numeric_limits<std::size_t>::max() / 2);
            if (asked_.on_progress) {
                asked_.on_progress({round_, effort_.spent, effort, best_.cost, certain_ > 0 ? certain_ : bound_});
            }
            const double open = effort_.spent > effort / 8 ? 1e-3 : 1e-12;
            if (!(bound_ < best_.cost * (1 - open)) || effort_.spent > effort) {
                break;
            }
            const bool fresh = asked_.objective != objective::paper && round_off(loose.taken);
            if (!open_further(loose, most) && !fresh) {
                if (loose.of.whole && loose.least.exact && written_.few == all) {
                    break;
                }
                factor_limit_ *= 4;  // the smaller the tables, the looser the bound
                split_limit_ *= 4;
            }
            written_.few = std::min(2 * written_.few, all);
            find_best();
        }
    }

    EINPARALLEL_INLINE answer solve(std::vector<std::vector<int>> states, bool at_least = false) {
        answer made{model_writer(factors_, asked_, std::move(states), at_least, effort_).write(factor_limit_), {}, {}};
        made.least = minimise(made.of.sum, split_limit_, &effort_);
        made.taken = taken(made.of, made.least.states);
        return made;
    }

    /// By kind: the numbers of all states that are written down, and with `with_rest` -1 for the rest, if there is one.
    EINPARALLEL_INLINE std::vector<std::vector<int>> all_states(bool with_rest) {
        std::vector<std::vector<int>> made;
        for (const domain& each : factors_.domains()) {
            made.emplace_back(each.states.size());
            std::iota(made.back().begin(), made.back().end(), 0);
            if (with_rest && each.rest() < infinity) {
                made.back().push_back(-1);
            }
        }
        return made;
    }

    /// By kind: the states that cost least when one vertex takes them and all others keep their states of the best
    /// plan.
    EINPARALLEL_INLINE std::vector<std::vector<int>> states_near_best() {
        constexpr std::size_t most = 16;
        std::vector<std::vector<costed>> order(factors_.domains().size());
        numbering met;
        for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
            if (met.number_of(written_.surroundings(variable, best_.states)).second) {
                const std::vector<state>& states = factors_.states_of(variable).states;
                const double now = written_.cost_with(variable, best_.states[variable], best_.states);
                for (std::size_t number = 0; number < states.size(); ++number) {
                    order[factors_.kind_of(variable)].emplace_back(
                        written_.cost_with(variable, states[number], best_.states) - now, number);
                }
            }
        }
        std::vector<std::vector<int>> made(order.size());
        for (std::size_t kind = 0; kind < order.size(); ++kind) {
            sort_range(order[kind]);
            for (const auto& [loses, number] : order[kind]) {
                if (made[kind].size() < most && !found_in(int(number), made[kind])) {
                    made[kind].push_back(int(number));
                }
            }
        }
        return made;
    }

    /// By variable: the state that an assignment of a model takes; an empty state where it takes the rest.
    EINPARALLEL_INLINE std::vector<state> taken(const model& of, const std::vector<int>& states) {
        std::vector<state> made;
        for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
            const std::size_t kind = factors_.kind_of(variable);
            const int number = of.states[kind][std::size_t(states[variable])];
            made.push_back(number < 0 ? state() : factors_.domains()[kind].states[std::size_t(number)]);
        }
        return made;
    }

    EINPARALLEL_INLINE placed_graph result() {
        placed_graph made{std::vector<state>(graph_.vertices.size()), best_.cost, bound_};
        for (std::size_t variable = 0; variable < best_.states.size(); ++variable) {
            made.states[factors_.vertex_of(variable)] = best_.states[variable];
        }
        factors_.bind(made.states);
        return made;
    }

    /// Every domain gets its first states, at least one of them with all sums finished.
    EINPARALLEL_INLINE void start() {
        const std::vector<int> divisors = divisors_of(handy_number(asked_.processes));
        for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
            domain& of = factors_.states_of(variable);
            if (!of.states.empty()) {
                continue;
            }
            of.grow(asked_.objective == objective::paper ? 8 * first_states : first_states);
            of.grow_each_number();
            // Cuts that one would try by hand: along one label, and about equally along two.
            const std::size_t labels =
                factors_.size() <= few_vertices ? factors_.vertex_at(variable).extents.size() : 0;
            for (std::size_t label = 0; label < labels; ++label) {
                of.follow({{{label_id(label), divisors[(divisors.size() - 1) / 2]}}});
            }
            const auto finished = [](const state& each) { return each.sums.none(); };
            while (!any_in(of.states, finished) && of.grow(first_states)) {
            }
        }
    }

    /// Writes down more states of the vertices for which the model of the bound takes the rest: further partition
    /// vectors, and for up to `most` vectors of each vertex the placements that suit the best plan. False where nothing
    /// is left to write.
    EINPARALLEL_INLINE bool open_further(const answer& loose, std::size_t most) {
        bool changed = false;
        numbering met;
        for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
            // Variables of one kind in equal surroundings ask for the same.
            if (!loose.taken[variable].operands.empty() ||
                !met.number_of(written_.surroundings(variable, loose.taken)).second) {
                continue;
            }
            domain& of = factors_.states_of(variable);
            const double rest = of.rest();
            const bool is_next = of.unlisted_rest() <= rest;
            const std::size_t before = of.vectors.size();
            changed = of.grow(is_next ? std::max(first_states, before) : first_states) || changed;
            effort_.add(effort_count::of_vector * of.weight() * (of.vectors.size() - before));
            std::vector<std::size_t> open;
            for (std::size_t number = 0; number < of.vectors.size(); ++number) {
                if (!of.vectors[number].is_whole && of.vectors[number].least <= rest + (best_.cost - bound_)) {
                    open.push_back(number);
                }
            }
            const auto natural = [&](std::size_t position) -> const state& {
                return of.vectors[open[position]].natural;
            };
            for (const auto& [cost, position] :
                 written_.best_beside(variable, best_.states, open.size(), natural, most)) {
                changed = written_.write(open[position], variable) || changed;
            }
        }
        return changed;
    }

    /// In a graph of few vertices: makes placements that grow from the partition vectors of the vertex with the most
    /// expensive work, until `effort` more is spent.
    EINPARALLEL_INLINE void grow_from_heaviest(std::size_t effort) {
        constexpr std::size_t vectors = 96;
        if (factors_.size() > few_vertices || best_.states.empty()) {
            return;
        }
        const auto heaviest = std::max_element(best_.states.begin(), best_.states.end(),
                                               [](const state& a, const state& b) { return a.cost < b.cost; }) -
                              best_.states.begin();
        domain& of = factors_.states_of(std::size_t(heaviest));
        of.grow(vectors);
        std::vector<costed> seeds;
        for (std::size_t number = 0; number < of.vectors.size(); ++number) {
            seeds.emplace_back(of.vectors[number].least, number);
        }
        sort_range(seeds);
        const std::size_t end = effort_.spent + effort;
        for (std::size_t position = 0; position < seeds.size() && effort_.spent < end; ++position) {
            const state seed = of.vectors[seeds[position].second].natural;
            written_.grow_from(std::size_t(heaviest), seed);
            consider(written_.rounded());
        }
    }

    /// Keeps a placement if it is the cheapest so far.
    EINPARALLEL_INLINE void consider(const std::vector<state>& made) {
        const auto state_of = [&](std::size_t variable) -> const state& { return made[variable]; };
        if (const double cost = factors_.cost_of(state_of, counting::settled); better(cost, best_.cost)) {
            best_ = {made, cost, 0};
        }
    }

    /// Makes a placement from the states that a model takes, or a better placement from another. True where states are
    /// new. `further`: see placement_writer::round_off.
    EINPARALLEL_INLINE bool round_off(std::vector<state> from, bool further = false) {
        const bool fresh = written_.round_off(std::move(from), best_.states, further);
        consider(written_.rounded());
        return fresh;
    }

    /// Solves the model over the states that are written down. Then improves one vertex after the other, which may also
    /// take states that were in no table. Where tables were split, solves again over the states that suit the best
    /// plan, as long as that helps.
    EINPARALLEL_INLINE void find_best() {
        double before = best_.cost;
        answer made = solve(all_states(false));
        consider(made.taken);
        round_off(std::move(made.taken), true);
        while (!made.least.exact && better(best_.cost, before)) {
            before = best_.cost;
            consider(solve(states_near_best()).taken);
        }
    }

    const einsum_graph& graph_;
    const options& asked_;
    factor_graph factors_;
    effort_count effort_;
    placement_writer written_;
    placed_graph best_;  // states by variable
    double bound_ = 0;
    // While only usual numbers of ranks compete: lower bound of the cost of placements on any number.
    double certain_ = 0;
    std::size_t round_ = 0;
    std::size_t factor_limit_ = 0;  // entries of a factor beyond which it is split into pairs
    std::size_t split_limit_ = 0;   // entries that the elimination of a variable may look at
};

}  // namespace einparallel::EINPARALLEL_DETAIL
