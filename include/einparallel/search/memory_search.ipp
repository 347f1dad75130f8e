#pragma once
// Placements within a memory limit, and the order of the vertices. Vertices take another turn, which costs nothing, and
// states are replaced, one at a time, as long as that lowers what is beyond the limit, at the least loss, or within the
// limit the cost. What a plan then really holds corrects what was counted.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/factor_graph.ipp>
#include <einparallel/search/held_memory.ipp>
#include <einparallel/search/search.hpp>
#include <einparallel/search/search.ipp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Looks for an order of the vertices and for states that take less memory, among those that a search has written down.
class memory_search {
public:
    /// @param from by number of the vertex: the states to begin with
    EINPARALLEL_INLINE memory_search(const einsum_graph& graph, const options& asked,
                                     const std::vector<vertex_cuts>& may_be, factor_graph& factors,
                                     const std::vector<state>& from)
        : graph_(graph),
          effort_(asked.effort / 8),
          factors_(factors),
          limit_(static_cast<double>(asked.memory_limit)),
          held_(graph, asked, may_be, factors),
          of_kind_(factors.domains().size()) {
        constexpr std::size_t few = 24;  // variables, up to which those of one kind may take different states
        groups_.resize(factors.size() > few ? of_kind_.size() : factors.size());
        for (std::size_t variable = 0; variable < factors.size(); ++variable) {
            in_turn_.push_back(variable);
            const std::size_t kind = factors.kind_of(variable);
            groups_[factors.size() > few ? kind : variable].push_back(variable);
            from_.push_back(held_.footprint_of(variable, from[factors.vertex_of(variable)]));
            if (of_kind_[kind].empty()) {
                write_footprints(variable);
            }
        }
        std::erase(groups_, std::vector<std::size_t>{});
    }

    /// By number of the vertex the states that it begins with, then others each time, or none where none are found.
    /// @param order becomes the numbers of the einsums, in the order that goes with them
    EINPARALLEL_INLINE std::vector<state> fit(std::vector<std::size_t>& order) {
        const std::vector<footprint*> last = chosen_;
        const std::vector<std::size_t> last_in_turn = in_turn_;
        const std::size_t starts = last.empty() ? 1 : 12;
        std::vector<footprint*> best;
        std::vector<std::size_t> best_in_turn;
        loss least;
        for (std::size_t start = 0; start < starts && (start < 2 || least.excess > 0); ++start) {
            begin(start);
            until_ = std::min(effort_, spent_ + effort_ / 8);
            loss now{excess(), cost()};
            while (reorder(now) || (!last.empty() && replace(now))) {
            }
            const bool less = now.excess < least.excess || (now.excess <= least.excess && better(now.cost, least.cost));
            if (best.empty() || (now.cost < forbidden_move && less)) {
                best = chosen_;
                best_in_turn = in_turn_;
                least = now;
            }
        }
        misses_ += least.excess > 0 ? 1 : 0;  // of which the sums are too large as well, but may be wrong
        chosen_ = std::move(best);
        in_turn_ = std::move(best_in_turn);
        excess();
        const bool is_new = chosen_ != last || in_turn_ != last_in_turn;
        std::vector<state> made(is_new && misses_ <= 2 ? graph_.vertices.size() : 0);
        order.clear();
        for (const std::size_t variable : in_turn_) {
            order.push_back(factors_.vertex_of(variable));
        }
        for (std::size_t variable = 0; variable < chosen_.size() && !made.empty(); ++variable) {
            const std::size_t number = factors_.vertex_of(variable);
            made[number] = chosen_[variable]->of;
            made[number].memory =
                static_cast<std::size_t>(chosen_[variable]->memory + std::max(0.0, limit_ - held_.at_work(number)));
        }
        if (!made.empty()) {
            factors_.bind(made);
        }
        return made;
    }

    /// Notes how many bytes are really held during a vertex with the states found.
    EINPARALLEL_INLINE void settle(std::size_t vertex, double bytes) {
        for (std::size_t variable = 0; variable < chosen_.size(); ++variable) {
            if (factors_.vertex_of(variable) == vertex) {
                chosen_[variable]->work += bytes - held_.most(vertex);
            }
        }
    }

private:
    struct loss {
        double excess = 0;  ///< bytes beyond the limit, summed over the vertices
        double cost = 0;
    };

    /// The states of the search, those that need the least alone, or any.
    EINPARALLEL_INLINE void begin(std::size_t start) {
        std::ranges::sort(in_turn_);
        chosen_.clear();
        for (std::size_t variable = 0; variable < from_.size(); ++variable) {
            std::vector<footprint*> finished;
            for (footprint& each : of_kind_[factors_.kind_of(variable)]) {
                if (start > 0 && each.of.sums.none()) {
                    finished.push_back(&each);
                }
            }
            const std::size_t drawn = ((start * from_.size() + variable) * 2'654'435'761) >> 8U;
            chosen_.push_back(finished.empty() ? &from_[variable]
                              : start == 1     ? *std::ranges::min_element(finished, {}, &footprint::memory)
                                               : finished[drawn % finished.size()]);
        }
    }

    /// Of every state that is written down.
    EINPARALLEL_INLINE void write_footprints(std::size_t variable) {
        for (const state& each : factors_.states_of(variable).states) {
            if (each.cost < std::numeric_limits<double>::infinity()) {
                of_kind_[factors_.kind_of(variable)].push_back(held_.footprint_of(variable, each));
            }
        }
    }

    EINPARALLEL_INLINE double excess() {
        spent_ += graph_.vertices.size();
        return held_.beyond(limit_, in_turn_, chosen_);
    }

    EINPARALLEL_INLINE double cost() {
        spent_ += factors_.factors().size();
        std::vector<const state*> all;
        std::ranges::transform(chosen_, std::back_inserter(all), [](const footprint* each) { return &each->of; });
        return factors_.cost_of(all);
    }

    /// Vertices earlier or later, one after the other, wherever that lowers what is beyond the limit. False where none
    /// does.
    EINPARALLEL_INLINE bool reorder(loss& now) {
        const double before = now.excess;
        for (const std::size_t variable : before > 0 ? in_turn_ : std::vector<std::size_t>{}) {
            const std::vector<std::size_t> given = in_turn_;
            std::vector<std::size_t> best = given;
            for (const std::ptrdiff_t way : {-1, 1}) {
                in_turn_ = given;
                auto here = std::ranges::find(in_turn_, variable);
                while (here != (way < 0 ? in_turn_.begin() : std::prev(in_turn_.end())) && spent_ < until_ &&
                       !reads(*(way < 0 ? here : here + 1), *(way < 0 ? here - 1 : here))) {
                    std::iter_swap(here, here + way);
                    here += way;
                    if (const double tried = excess(); better(tried, now.excess)) {
                        now.excess = tried;
                        best = in_turn_;
                    }
                }
            }
            in_turn_ = std::move(best);
        }
        return now.excess < before;
    }

    [[nodiscard]] bool reads(std::size_t reader, std::size_t variable) const {
        return found_in(factors_.vertex_of(variable), graph_.inputs[factors_.vertex_of(reader)]);
    }

    /// Other states of a group: beyond the limit those of all groups that lose the least for the bytes saved, within it
    /// the cheapest, group by group. False where nothing is better.
    EINPARALLEL_INLINE bool replace(loss& now) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        bool changed = false;
        std::vector<footprint*> best;
        loss then;
        double least = now.excess > 0 ? infinity : now.cost;
        for (std::size_t group = 0; group < groups_.size(); ++group) {
            const std::vector<footprint*> before = chosen_;
            for (footprint& one : of_kind_[factors_.kind_of(groups_[group].front())]) {
                for (const std::size_t variable : groups_[group]) {
                    chosen_[variable] = &one;
                }
                loss tried{spent_ < until_ ? excess() : infinity, 0};
                if (now.excess > 0 ? tried.excess >= now.excess : tried.excess > 0) {
                    continue;
                }
                tried.cost = cost();
                const double loses =
                    now.excess > 0 ? std::max(0.0, tried.cost - now.cost) / (now.excess - tried.excess) : tried.cost;
                if (tried.cost < forbidden_move && better(loses, least)) {
                    std::tie(least, best, then) = std::tie(loses, chosen_, tried);
                }
            }
            chosen_ = before;
            if (!best.empty() && (now.excess <= 0 || group + 1 == groups_.size())) {
                chosen_ = std::exchange(best, {});
                now = then;
                least = now.excess > 0 ? infinity : now.cost;
                changed = true;
            }
        }
        return changed;
    }

    const einsum_graph& graph_;
    std::size_t effort_;
    factor_graph& factors_;
    double limit_;
    held_memory held_;
    std::vector<std::vector<std::size_t>> groups_;  // of variables that take the same states
    std::vector<footprint> from_;                   // by variable
    std::vector<std::vector<footprint>> of_kind_;
    std::vector<footprint*> chosen_;    // by variable
    std::vector<std::size_t> in_turn_;  // variables of einsums, in their order
    int misses_ = 0;
    std::size_t spent_ = 0, until_ = 0;
};

EINPARALLEL_INLINE limited_search search_within(const einsum_graph& graph, const options& asked,
                                                const std::vector<vertex_cuts>& may_be, place_table& table) {
    const auto search = std::make_shared<placement_search>(graph, asked, may_be, table);
    const placed_graph found =
        asked.method == method::linearized ? search->run_along_paths() : search->run(asked.effort / 8, true);
    const auto memory = std::make_shared<memory_search>(graph, asked, may_be, search->factors(), found.states);
    return {[search, memory](std::vector<std::size_t>& order) { return memory->fit(order); },
            [search, memory](std::size_t vertex, double bytes) { memory->settle(vertex, bytes); }};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
