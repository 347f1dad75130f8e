#pragma once
// The search over placements. Every round solves two models: one over the exact states that are written down, which
// gives a plan, and one that also has open states, which stand for all others and cost no more than any of them, which
// gives a bound. Where the second takes an open state, its exact ones are written down. When it takes none, or bound
// and plan meet, the plan is the best of all placements.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/domain.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/factor_graph.ipp>
#include <einparallel/plan/linearize.ipp>
#include <einparallel/plan/model_tables.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/places.hpp>
#include <einparallel/plan/solve.hpp>
#include <einparallel/plan/vertex_cuts.ipp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A state for every vertex.
struct placed_graph {
    std::vector<state> states;  ///< by number of the vertex; of inputs only those that are bound have one
    double cost = std::numeric_limits<double>::infinity();  ///< as the search counts
    double bound = 0;                                       ///< what no placement costs less than
};

/// Searches the placements of a graph.
class placement_search {
public:
    EINPARALLEL_INLINE placement_search(const einsum_graph& graph, const options& asked,
                                        const std::vector<vertex_cuts>& may_be, place_table& table)
        : graph_(graph), asked_(asked), factors_(graph, asked, may_be, table) {
        const std::size_t variables = std::max<std::size_t>(factors_.size(), 1);
        factor_limit_ = std::max(std::size_t{1} << 14, (std::size_t{1} << 22) / variables);
        split_limit_ = std::max(std::size_t{1} << 18, (std::size_t{1} << 26) / variables);
    }

    /// The best placement found with so many table entries and states looked at.
    EINPARALLEL_INLINE placed_graph run(std::size_t effort);

    /// One partition vector per vertex along the paper's paths.
    EINPARALLEL_INLINE placed_graph run_along_paths();

private:
    /// States that a domain begins with.
    static constexpr std::size_t first_states = 24;
    /// Table entries that may be looked at to find states that are in no better plan.
    static constexpr std::size_t most_looks = std::size_t{1} << 26;
    /// Exact states of an open one up to which all of them are written down at first, and how many are of more.
    static constexpr std::size_t few_states = 48;
    static constexpr std::size_t beam = 8;

    EINPARALLEL_INLINE void start();
    EINPARALLEL_INLINE bool refine(std::size_t number, std::size_t variable, std::size_t few);
    EINPARALLEL_INLINE bool open_readers(std::size_t variable);
    EINPARALLEL_INLINE bool add_best(std::size_t variable, std::vector<state>& made);
    EINPARALLEL_INLINE bool round_off(std::vector<state> from);
    EINPARALLEL_INLINE [[nodiscard]] std::vector<state> taken(const factor_graph::model& of,
                                                              const std::vector<int>& states);
    EINPARALLEL_INLINE bool open_further(const std::vector<int>& taken, const factor_graph::model& of,
                                         std::size_t most);
    EINPARALLEL_INLINE [[nodiscard]] std::vector<mesh> orders_like(std::size_t variable, const mesh& natural) const;
    EINPARALLEL_INLINE void consider();
    EINPARALLEL_INLINE void drop(const factor_graph::model& of, const minimum& least);
    EINPARALLEL_INLINE void improve(std::vector<state>& chosen);
    EINPARALLEL_INLINE [[nodiscard]] double total(const std::vector<state>& chosen);
    EINPARALLEL_INLINE [[nodiscard]] double around(std::size_t variable, const state& tried,
                                                   std::vector<const state*>& chosen, bool at_least);
    EINPARALLEL_INLINE [[nodiscard]] std::vector<mesh> like_neighbours(std::size_t variable) const;
    EINPARALLEL_INLINE [[nodiscard]] placed_graph result() const;

    [[nodiscard]] static std::vector<const state*> pointers(const std::vector<state>& chosen) {
        std::vector<const state*> all;
        for (const state& each : chosen) {
            all.push_back(&each);
        }
        return all;
    }

    const einsum_graph& graph_;
    const options& asked_;
    factor_graph factors_;
    std::vector<state> best_;     // by variable
    std::vector<state> relaxed_;  // by variable: what the bound's model takes
    std::vector<state> rounded_;  // by variable: a placement with its vectors
    double cost_ = std::numeric_limits<double>::infinity();
    double bound_ = 0;
    std::size_t spent_ = 0;
    std::size_t factor_limit_ = 0;  // entries of a factor beyond which it is split into pairs
    std::size_t split_limit_ = 0;   // entries that the elimination of a variable may look at
    std::size_t few_ = few_states;
};

/// Every domain gets its first states, at least one of them exact and with all sums finished.
EINPARALLEL_INLINE void placement_search::start() {
    for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
        domain& of = factors_.states_of(variable);
        if (graph_.vertices[factors_.vertex_of(variable)]->is_input() || !of.states.empty()) {
            continue;
        }
        of.grow(asked_.objective == objective::paper ? 8 * first_states : first_states);
        const auto finished = [](const state& each) { return each.sums.none(); };
        while (std::ranges::none_of(of.states, finished) && of.grow(first_states)) {
        }
        const auto known = std::ranges::find_if(of.states, finished);
        if (known == of.states.end()) {
            throw error("decompose: " + graph_.name_of(factors_.vertex_of(variable)) + " alone needs at least " +
                        std::to_string(static_cast<std::size_t>(of.least_memory())) +
                        " bytes on a rank however it is cut, options.memory_limit is " +
                        std::to_string(asked_.memory_limit));
        }
        if (known->open) {
            std::vector<state> made;
            of.placements_of(*known, {}, 0, made);
            of.add(*std::ranges::min_element(made, {}, &state::cost));
        }
    }
}

/// What a vertex costs in this state with all that moves to and from it.
EINPARALLEL_INLINE double placement_search::around(std::size_t variable, const state& tried,
                                                   std::vector<const state*>& chosen, bool at_least) {
    const state* const before = std::exchange(chosen[variable], &tried);
    double sum = tried.cost;
    for (const std::size_t number : factors_.touching(variable)) {
        sum += factors_.cost(factors_.factors()[number], chosen, at_least);
    }
    spent_ += factors_.touching(variable).size() + 1;
    chosen[variable] = before;
    return sum;
}

EINPARALLEL_INLINE double placement_search::total(const std::vector<state>& chosen) {
    const std::vector<const state*> all = pointers(chosen);
    double sum = 0;
    for (const state& each : chosen) {
        sum += each.cost;
    }
    for (const factor& each : factors_.factors()) {
        sum += factors_.cost(each, all, false);
    }
    return sum;
}

/// Orders of a vertex's axes in which its neighbours have them, as their labels stand in its own tensors.
EINPARALLEL_INLINE std::vector<mesh> placement_search::like_neighbours(std::size_t variable) const {
    std::vector<mesh> like;
    const vertex& einsum = *graph_.vertices[factors_.vertex_of(variable)];
    if (rounded_.empty() || einsum.is_input()) {
        return like;
    }
    const auto translated = [&](const mesh& theirs, const std::vector<label_id>& their_labels,
                                const std::vector<label_id>& own_labels) {
        mesh made;
        for (const mesh_axis& axis : theirs.axes) {
            for (std::size_t dimension = 0; dimension < their_labels.size() && dimension < own_labels.size();
                 ++dimension) {
                if (their_labels[dimension] == axis.label && own_labels[dimension] != no_label) {
                    made.axes.push_back({own_labels[dimension], axis.parts});
                    break;
                }
            }
        }
        like.push_back(std::move(made));
    };
    for (const std::size_t number : factors_.touching(variable)) {
        const factor& each = factors_.factors()[number];
        const vertex& tensor = *graph_.vertices[each.tensor];
        for (const tensor_reader& reader : each.readers) {
            const vertex& reading = *graph_.vertices[factors_.vertex_of(reader.variable)];
            const std::vector<label_id>& read_as = reading.form.operands[reader.operands.front()];
            if (each.maker == variable) {
                translated(rounded_[reader.variable].ranks, read_as, tensor.form.output);
            } else if (reader.variable == variable && each.maker && !tensor.is_input()) {
                translated(rounded_[*each.maker].ranks, tensor.form.output, read_as);
            }
        }
    }
    return like;
}

/// Orders of the axes of a state in which neighbours have them: those that they know first, the others behind.
EINPARALLEL_INLINE std::vector<mesh> placement_search::orders_like(std::size_t variable, const mesh& natural) const {
    std::vector<mesh> like;
    for (const mesh& theirs : natural.axes.size() > 4 ? like_neighbours(variable) : std::vector<mesh>{}) {
        const auto position = [&](const mesh_axis& axis) {
            return std::ranges::find(theirs.axes, axis.label, &mesh_axis::label) - theirs.axes.begin();
        };
        mesh ordered = natural;
        std::stable_sort(ordered.axes.begin(), ordered.axes.end(),
                         [&](const mesh_axis& a, const mesh_axis& b) { return position(a) < position(b); });
        if (std::ranges::find(like, ordered) == like.end()) {
            like.push_back(std::move(ordered));
        }
    }
    return like;
}

/// Writes down the exact states of an open one: all of them where they are few, and it is then open no more; of many
/// those that suit the neighbours of a variable best.
EINPARALLEL_INLINE bool placement_search::refine(std::size_t number, std::size_t variable, std::size_t few) {
    domain& of = factors_.states_of(variable);
    std::vector<state> made;
    const bool all = of.placements_of(of.states[number], orders_like(variable, of.states[number].ranks), few, made);
    bool fresh = all;
    if (all) {
        of.drop(number);
        for (state& each : made) {
            of.add(std::move(each));
        }
    } else {
        fresh = add_best(variable, made);
    }
    spent_ += made.size();
    return fresh;
}

/// Adds the states that suit the neighbours of a variable best, as the rounded placement has them; the best of them
/// takes its part in it.
EINPARALLEL_INLINE bool placement_search::add_best(std::size_t variable, std::vector<state>& made) {
    std::vector<const state*> all = pointers(rounded_);
    std::vector<ranked> order;
    for (std::size_t place = 0; place < made.size(); ++place) {
        order.emplace_back(around(variable, made[place], all, true), place);
    }
    const std::size_t kept = std::min(beam, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end());
    bool fresh = false;
    for (std::size_t place = 0; place < kept; ++place) {
        fresh = factors_.states_of(variable).add(made[order[place].second]) || fresh;
    }
    rounded_[variable] = std::move(made[order.front().second]);
    return fresh;
}

/// Makes a placement of what a model takes: there and back through the graph, every vertex keeps its partition
/// vector and gets the order of axes and the cuts that suit its neighbours best. Vertices in equal surroundings are
/// looked at once.
EINPARALLEL_INLINE bool placement_search::round_off(std::vector<state> from) {
    rounded_ = std::move(from);
    bool fresh = false;
    for (const bool forward : {true, false}) {
        numbering met;
        std::vector<state> known;
        for (std::size_t step = 0; step < factors_.size(); ++step) {
            const std::size_t variable = forward ? step : factors_.size() - 1 - step;
            if (graph_.vertices[factors_.vertex_of(variable)]->is_input()) {
                continue;
            }
            if (rounded_[variable].operands.empty()) {
                rounded_[variable] = best_[variable];  // of the rest nothing is known
            }
            std::vector<index> key{static_cast<index>(factors_.kind_of(variable))};
            const auto look = [&](const state& of) {
                key.insert(key.end(), of.operands.begin(), of.operands.end());
                key.insert(key.end(), {of.output, -2});
            };
            look(rounded_[variable]);
            for (const std::size_t number : factors_.touching(variable)) {
                const factor& each = factors_.factors()[number];
                for (const tensor_reader& reader : each.readers) {
                    look(rounded_[reader.variable]);
                }
                if (each.maker) {
                    look(rounded_[*each.maker]);
                }
            }
            const auto [place, unlike] = met.number_of(key);
            if (unlike) {
                domain& of = factors_.states_of(variable);
                std::vector<state> made;
                of.placements_of(rounded_[variable], orders_like(variable, rounded_[variable].ranks), few_states, made);
                const std::size_t before = of.states.size();
                for (const mesh& like : like_neighbours(variable)) {
                    fresh = of.follow(like) || fresh;
                }
                for (std::size_t number = before; number < of.states.size(); ++number) {
                    const state follows = of.states[number];
                    of.placements_of(follows, orders_like(variable, follows.ranks), few_states, made);
                }
                spent_ += made.size();
                fresh = add_best(variable, made) || fresh;
                known.push_back(rounded_[variable]);
            }
            rounded_[variable] = known[place];
        }
    }
    return fresh;
}

/// Writes down the exact states of readers whose open ones want a tensor where the bound's model binds it.
EINPARALLEL_INLINE bool placement_search::open_readers(std::size_t variable) {
    bool changed = false;
    for (const tensor_reader& reader : factors_.factors()[factors_.touching(variable).front()].readers) {
        domain& of = factors_.states_of(reader.variable);
        const std::size_t count = of.states.size();
        for (std::size_t number = 0; number < count; ++number) {
            const bool wants = of.states[number].open && std::ranges::any_of(reader.operands, [&](std::size_t operand) {
                                   return of.states[number].operands[operand] == relaxed_[variable].output;
                               });
            changed = (wants && refine(number, reader.variable, few_)) || changed;
        }
    }
    return changed;
}

/// Writes down more where the bound's model takes what is not: further partition vectors, and of open states those that
/// are taken or come next. False where there is nothing left to write.
EINPARALLEL_INLINE bool placement_search::open_further(const std::vector<int>& taken, const factor_graph::model& of,
                                                       std::size_t most) {
    bool changed = false;
    numbering met;
    std::vector<const state*> loose = pointers(relaxed_);
    std::vector<bool> grown(factors_.domains().size(), false);
    for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
        const std::size_t kind = factors_.kind_of(variable);
        // Variables of one kind in equal surroundings ask for the same.
        std::vector<index> key{static_cast<index>(kind), taken[variable]};
        for (const std::size_t number : factors_.touching(variable)) {
            const factor& each = factors_.factors()[number];
            key.push_back(each.maker ? taken[*each.maker] : -1);
            for (const tensor_reader& reader : each.readers) {
                key.push_back(reader.variable == variable ? -2 : taken[reader.variable]);
            }
        }
        if (graph_.vertices[factors_.vertex_of(variable)]->is_input() && relaxed_[variable].output >= 0) {
            changed = (relaxed_[variable].open && open_readers(variable)) || changed;
        }
        if (graph_.vertices[factors_.vertex_of(variable)]->is_input() || !met.number_of(key).second) {
            continue;
        }
        domain& states = factors_.domains()[kind];
        const int own = of.states[kind][static_cast<std::size_t>(taken[variable])];
        if (own < 0) {
            changed = (!grown[kind] && states.grow(std::max(first_states, of.states[kind].size()))) || changed;
            grown[kind] = true;
        }
        std::vector<ranked> order;
        for (const int number : of.states[kind]) {
            const state* const each = number < 0 ? nullptr : &states.states[static_cast<std::size_t>(number)];
            if (each != nullptr && each->open) {
                order.emplace_back(number == own ? -1 : around(variable, *each, loose, true),
                                   static_cast<std::size_t>(number));
            }
        }
        const std::size_t count = std::min(most, order.size());
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
        order.resize(count);
        // Beside these neighbours nothing that costs more than the plan is worth a look.
        const double enough = around(variable, relaxed_[variable], loose, true) + (cost_ - bound_);
        for (const auto& [costs, number] : order) {
            if (costs <= enough && states.states[number].open) {
                changed = refine(number, variable, few_) || changed;
            }
        }
    }
    return changed;
}

/// One vertex at a time, as long as the plan becomes cheaper: where the tables did not know everything.
EINPARALLEL_INLINE void placement_search::improve(std::vector<state>& chosen) {
    constexpr int sweeps = 3;
    const std::size_t most = std::size_t{60'000} / std::max<std::size_t>(chosen.size(), 1);
    std::vector<const state*> all = pointers(chosen);
    bool changed = true;
    for (int sweep = 0; sweep < sweeps && changed; ++sweep) {
        changed = false;
        for (std::size_t variable = 0; variable < chosen.size(); ++variable) {
            double least = around(variable, chosen[variable], all, false);
            std::size_t tried = 0;
            for (const state& each : factors_.states_of(variable).states) {
                if (each.open || !(each.cost < least) || ++tried > most) {
                    continue;
                }
                if (const double cost = around(variable, each, all, false); better(cost, least)) {
                    least = cost;
                    chosen[variable] = each;
                    changed = true;
                }
            }
        }
    }
}

/// Solves the model over the exact states; again where it took moves whose cost was an estimate.
EINPARALLEL_INLINE void placement_search::consider() {
    constexpr int times = 4;
    factors_.update_bound();
    for (int time = 0; time < times; ++time) {
        const factor_graph::model of = factors_.tables(factor_graph::which::exact, factor_limit_, cost_);
        const minimum least = minimise(of.sum, split_limit_);
        spent_ += of.entries + least.entries / 16;
        std::vector<state> chosen = taken(of, least.states);
        if (!of.whole || !least.exact) {
            improve(chosen);
        }
        const bool estimated = factors_.settle(chosen);
        if (const double cost = total(chosen); better(cost, cost_)) {
            cost_ = cost;
            best_ = std::move(chosen);
        }
        if (!estimated) {
            break;
        }
    }
}

EINPARALLEL_INLINE placed_graph placement_search::result() const {
    placed_graph made;
    made.states.resize(graph_.vertices.size());
    for (std::size_t variable = 0; variable < best_.size(); ++variable) {
        made.states[factors_.vertex_of(variable)] = best_[variable];
    }
    made.cost = cost_;
    made.bound = bound_;
    return made;
}

/// What an assignment of a model takes, by variable.
EINPARALLEL_INLINE std::vector<state> placement_search::taken(const factor_graph::model& of,
                                                              const std::vector<int>& states) {
    std::vector<state> made;
    for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
        const std::size_t kind = factors_.kind_of(variable);
        const int number = of.states[kind][static_cast<std::size_t>(states[variable])];
        made.push_back(number < 0 ? factors_.rest_of(kind)
                                  : factors_.domains()[kind].states[static_cast<std::size_t>(number)]);
    }
    return made;
}

EINPARALLEL_INLINE placed_graph placement_search::run(std::size_t effort) {
    constexpr std::size_t seeds = 3;  // rounds in which placements are also made of what no rest is part of
    start();
    consider();
    std::size_t most = 1;
    for (std::size_t round = 0;; ++round) {
        most = std::min<std::size_t>(2 * most, 64);
        const factor_graph::model of = factors_.tables(factor_graph::which::all, factor_limit_);
        const minimum least = minimise(of.sum, split_limit_, most_looks);
        spent_ += of.entries + least.entries / 16;
        bound_ = std::max(bound_, std::min(least.bound, cost_));
        relaxed_ = taken(of, least.states);
        if (!(bound_ < cost_ * (1 - 1e-12)) || spent_ > effort) {
            break;
        }
        drop(of, least);
        bool rounded = false;
        if (asked_.objective != objective::paper) {
            rounded = round_off(relaxed_);
            if (round < seeds) {
                const factor_graph::model known = factors_.tables(factor_graph::which::written, factor_limit_);
                const minimum cheapest = minimise(known.sum, split_limit_);
                spent_ += known.entries + cheapest.entries / 16;
                rounded = round_off(taken(known, cheapest.states)) || rounded;
            }
        }
        if (!open_further(least.states, of, most) && !rounded) {
            constexpr std::size_t all = 4096;  // exact states of an open one
            if (of.whole && least.exact && few_ >= all) {
                break;
            }
            factor_limit_ *= 4;  // the bound is as loose as the tables are small
            split_limit_ *= 4;
            few_ = std::min(4 * few_, all);
        } else if (few_ < 4 * few_states) {
            few_ *= 2;
        }
        consider();
    }
    return result();
}

/// Drops the states with which every plan costs more than the best one known.
EINPARALLEL_INLINE void placement_search::drop(const factor_graph::model& of, const minimum& least) {
    if (least.least_with.empty()) {
        return;
    }
    std::vector<std::vector<double>> with(of.states.size());  // by kind
    for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
        std::vector<double>& known = with[factors_.kind_of(variable)];
        known.resize(least.least_with[variable].size(), std::numeric_limits<double>::infinity());
        std::ranges::transform(known, least.least_with[variable], known.begin(),
                               [](double a, double b) { return std::min(a, b); });
    }
    for (std::size_t kind = 0; kind < with.size(); ++kind) {
        domain& states = factors_.domains()[kind];
        for (std::size_t position = 0; position < with[kind].size(); ++position) {
            if (with[kind][position] <= cost_ * (1 + 1e-9)) {
                continue;
            }
            if (const int number = of.states[kind][position]; number >= 0) {
                states.drop(static_cast<std::size_t>(number));
            } else {
                states.close();
            }
        }
    }
}

EINPARALLEL_INLINE placed_graph placement_search::run_along_paths() {
    constexpr std::size_t vectors = 512;
    start();
    for (domain& each : factors_.domains()) {
        if (!each.states.empty()) {
            each.grow(vectors);
        }
    }
    factors_.update_bound();
    const factor_graph::model of = factors_.tables(factor_graph::which::written, 0);
    best_ = taken(of, minimise_along_paths(of.sum));
    const factor_graph::model all = factors_.tables(factor_graph::which::all, factor_limit_);
    bound_ = minimise(all.sum, split_limit_).bound;
    return result();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
