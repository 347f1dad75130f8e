#pragma once
// Placements within a memory limit. What a rank holds during each vertex is summed over the tensors that are alive, by
// the largest shares; states are replaced, one vertex at a time, as long as that lowers what is beyond the limit, at
// the least loss, or within the limit the cost. What a plan then really holds corrects the sums.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/factor_graph.ipp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A state, and what it takes of a rank's memory.
struct footprint {
    state of;
    std::vector<place_id> operands{};  ///< where each is wanted
    std::vector<bool> gathered{};      ///< by operand: its piece is not needed once its block is there
    place_id output = anywhere;
    std::optional<std::size_t> overwritten{};  ///< the operand that the output may be computed in place of
    double memory = 0;  ///< bytes of the work, in the way that takes the least
    double work = 0;    ///< the same without the pieces of its tensors
};

/// Looks for states that take less memory among those that a search has written down.
class memory_search {
public:
    /// @param from by number of the vertex: the states to begin with
    EINPARALLEL_INLINE memory_search(const einsum_graph& graph, const options& asked,
                                     const std::vector<vertex_cuts>& may_be, factor_graph& factors,
                                     const std::vector<state>& from)
        : graph_(graph),
          effort_(asked.effort / 8),
          may_be_(may_be),
          factors_(factors),
          lasting_(graph, asked),
          least_(asked),
          limit_(static_cast<double>(asked.memory_limit)),
          lies_(graph.vertices.size(), anywhere),
          of_kind_(factors.domains().size()),
          copies_(graph.vertices.size()),
          now_(2 * graph.vertices.size() + 2) {
        constexpr std::size_t few = 24;  // variables, up to which those of one kind may take different states
        least_.memory_limit = 1;
        for (std::size_t number = 0; number < lies_.size(); ++number) {
            if (lies_somewhere(*graph.vertices[number])) {
                lies_[number] = factors.places().exact(resting_of_source(*graph.vertices[number]));
            }
        }
        groups_.resize(factors.size() > few ? of_kind_.size() : factors.size());
        for (std::size_t variable = 0; variable < factors.size(); ++variable) {
            const std::size_t kind = factors.kind_of(variable);
            groups_[factors.size() > few ? kind : variable].push_back(variable);
            from_.push_back(footprint_of(variable, exact_of(variable, from[factors.vertex_of(variable)])));
            if (of_kind_[kind].empty()) {
                write_footprints(variable);
            }
        }
        std::erase(groups_, std::vector<std::size_t>{});
    }

    /// By number of the vertex the states that it begins with, then others each time, or none where none are found.
    EINPARALLEL_INLINE std::vector<state> fit() {
        const std::vector<footprint*> last = chosen_;
        const std::size_t starts = last.empty() ? 1 : 12;
        std::vector<footprint*> best;
        loss least;
        for (std::size_t start = 0; start < starts && (start < 2 || least.excess > 0); ++start) {
            begin(start);
            until_ = std::min(effort_, spent_ + effort_ / 8);
            loss now{excess(), cost()};
            while (!last.empty() && replace(now)) {
            }
            const bool less = now.excess < least.excess || (now.excess <= least.excess && better(now.cost, least.cost));
            if (best.empty() || (now.cost < forbidden_move && less)) {
                best = chosen_;
                least = now;
            }
        }
        misses_ += least.excess > 0 ? 1 : 0;  // of which the sums are too large as well, but may be wrong
        chosen_ = std::move(best);
        excess();
        std::vector<state> made(chosen_ == last || misses_ > 2 ? 0 : graph_.vertices.size());
        for (std::size_t variable = 0; variable < chosen_.size() && !made.empty(); ++variable) {
            const std::size_t number = factors_.vertex_of(variable);
            made[number] = chosen_[variable]->of;
            made[number].memory =
                static_cast<std::size_t>(chosen_[variable]->memory + std::max(0.0, limit_ - now_[2 * number + 1]));
        }
        return made;
    }

    /// Notes how many bytes are really held during a vertex with the states found.
    EINPARALLEL_INLINE void settle(std::size_t vertex, double bytes) {
        for (std::size_t variable = 0; variable < chosen_.size(); ++variable) {
            if (factors_.vertex_of(variable) == vertex) {
                chosen_[variable]->work += bytes - std::max(now_[2 * vertex], now_[2 * vertex + 1]);
            }
        }
    }

private:
    struct loss {
        double excess = 0;  ///< bytes beyond the limit, summed over the vertices
        double cost = 0;
    };

    /// A tensor at one place, from when to when: twice the vertex's number while its operands are brought, one more
    /// while it works.
    struct copy {
        place_id place = anywhere;
        std::size_t first = 0;
        std::size_t last = 0;
    };

    /// The states of the search, those that need the least alone, or any.
    EINPARALLEL_INLINE void begin(std::size_t start) {
        chosen_.clear();
        for (std::size_t variable = 0; variable < from_.size(); ++variable) {
            std::vector<footprint*> finished;
            for (footprint& each : of_kind_[factors_.kind_of(variable)]) {
                if (start > 0 && each.of.sums.none() && !factors_.vertex_at(variable).is_input()) {
                    finished.push_back(&each);
                }
            }
            const std::size_t drawn = ((start * from_.size() + variable) * 2'654'435'761) >> 8U;
            chosen_.push_back(finished.empty() ? &from_[variable]
                              : start == 1     ? *std::ranges::min_element(finished, {}, &footprint::memory)
                                               : finished[drawn % finished.size()]);
        }
    }

    /// Of every state that is written down, or of one that an open state stands for.
    EINPARALLEL_INLINE void write_footprints(std::size_t variable) {
        for (const state& each : factors_.states_of(variable).states) {
            if (each.cost == std::numeric_limits<double>::infinity() ||
                (each.open && factors_.vertex_at(variable).is_input())) {
                continue;
            }
            of_kind_[factors_.kind_of(variable)].push_back(footprint_of(variable, exact_of(variable, each)));
        }
    }

    /// A state that is open, as those along paths are, stands for others: one of them; of a tensor that is bound, where
    /// its readers want it.
    EINPARALLEL_INLINE state exact_of(std::size_t variable, const state& from) {
        if (!from.open) {
            return from;
        }
        std::vector<state> exact(factors_.vertex_at(variable).is_input() ? 1 : 0);
        if (exact.empty()) {
            factors_.states_of(variable).placements_of(from, 0, exact);
        }
        return exact.front();
    }

    EINPARALLEL_INLINE footprint footprint_of(std::size_t variable, const state& chosen) {
        footprint made{.of = chosen, .output = chosen.output};
        const std::size_t number = factors_.vertex_of(variable);
        const vertex& einsum = *graph_.vertices[number];
        if (einsum.is_input()) {
            return made;
        }
        const task work = task_of(einsum, chosen, may_be_[number].wanted, least_, lasting_.work_of(number));
        place_table& table = factors_.places();
        if (made.output < 0 || table.is_open(made.output)) {
            made.output = exact_place(chosen, work.extents, work.form.output, chosen.cuts.output, table);
        }
        const std::vector<std::size_t> travelling = travelling_operands(work);
        made.overwritten = overwritten_operand(graph_, number, lasting_);
        made.memory = task_memory(work);
        made.work = made.memory - largest_shares(work.output, work.output_bytes).piece;
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            made.operands.push_back(
                exact_place(chosen, work.extents, work.form.operands[operand], chosen.cuts.operands[operand], table));
            made.gathered.push_back(work.operands[operand].replication() > 1 && !found_in(operand, travelling));
            made.work -=
                made.gathered.back() ? 0 : largest_shares(work.operands[operand], work.operand_bytes[operand]).piece;
        }
        return made;
    }

    /// Bytes of the largest piece at a place.
    EINPARALLEL_INLINE double bytes_at(place_id where, std::size_t element_bytes) {
        const auto number = static_cast<std::size_t>(where);
        elements_.resize(std::max(elements_.size(), number + 1), -1);
        if (elements_[number] < 0) {
            elements_[number] = largest_shares(factors_.places().resting(where), 1).piece;
        }
        return elements_[number] * static_cast<double>(element_bytes);
    }

    /// Writes down where a tensor is wanted, and from when to when it is there.
    EINPARALLEL_INLINE void bring(std::size_t tensor, place_id wanted, std::size_t reader, bool gathered) {
        std::vector<copy>& known = copies_[tensor];
        const bool is_brought = is_moved(*graph_.vertices[tensor]);
        if (known.empty() && is_brought) {
            known.push_back({lies_[tensor] >= 0 ? lies_[tensor] : wanted, 2 * reader, 2 * reader});
        }
        auto here = std::ranges::find(known, wanted, &copy::place);
        if (here == known.end()) {
            if (is_brought) {
                known.front().last = std::max(known.front().last, 2 * reader);
            }
            known.push_back({wanted, 2 * reader, 2 * reader});
            here = std::prev(known.end());
        }
        here->last = std::max(here->last, 2 * reader + (gathered ? 0 : 1));
    }

    /// The operand is gone while its reader works, where that writes its output to the same place.
    EINPARALLEL_INLINE void compute_in_place(std::size_t reader, const footprint& takes) {
        if (!takes.overwritten || takes.operands[*takes.overwritten] != takes.output) {
            return;
        }
        for (copy& each : copies_[graph_.inputs[reader][*takes.overwritten]]) {
            each.last -= each.place == takes.output && each.last == 2 * reader + 1 ? 1 : 0;
        }
    }

    /// Bytes beyond the limit with the chosen states. Nothing shares memory with results, which are the application's.
    EINPARALLEL_INLINE double excess() {
        const std::size_t count = graph_.vertices.size();
        spent_ += count;
        std::ranges::fill(now_, 0);
        std::ranges::for_each(copies_, [](std::vector<copy>& each) { each.clear(); });
        for (std::size_t variable = chosen_.size(); variable-- > 0;) {  // inputs that are bound stand behind all
            const std::size_t number = factors_.vertex_of(variable);
            if (graph_.vertices[number]->is_input()) {
                lies_[number] = chosen_[variable]->output;
            } else {
                copies_[number].push_back({chosen_[variable]->output, 2 * number + 1, 2 * number + 1});
                now_[2 * number + 1] += chosen_[variable]->work;
                now_[2 * number + 2] -= chosen_[variable]->work;
            }
        }
        for (std::size_t variable = 0; variable < chosen_.size(); ++variable) {
            const std::size_t number = factors_.vertex_of(variable);
            const footprint& takes = *chosen_[variable];
            for (std::size_t operand = 0; operand < takes.operands.size(); ++operand) {
                bring(graph_.inputs[number][operand], takes.operands[operand], number, takes.gathered[operand]);
            }
        }
        for (std::size_t variable = 0; variable < chosen_.size(); ++variable) {
            compute_in_place(factors_.vertex_of(variable), *chosen_[variable]);
        }
        for (const std::size_t output : graph_.outputs) {
            if (!copies_[output].empty()) {
                copies_[output].front() = {copies_[output].front().place, 0, 2 * count};
            }
        }
        for (std::size_t number = 0; number < count; ++number) {
            for (const copy& each : copies_[number]) {
                const double bytes = bytes_at(each.place, graph_.vertices[number]->element.bytes);
                now_[each.first] += bytes;
                now_[each.last + 1] -= bytes;
            }
        }
        double sum = 0;
        double alive = 0;
        for (double& each : now_) {
            each = alive += each;
            sum += std::max(0.0, alive - limit_);
        }
        return sum;
    }

    EINPARALLEL_INLINE double cost() {
        spent_ += factors_.factors().size();
        std::vector<const state*> all;
        std::ranges::transform(chosen_, std::back_inserter(all), [](const footprint* each) { return &each->of; });
        return factors_.cost_of(all);
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
    const std::vector<vertex_cuts>& may_be_;
    factor_graph& factors_;
    lasting_tensors lasting_;
    options least_;  // as asked, with the least memory for every vertex
    double limit_;
    std::vector<place_id> lies_;                    // by number of the vertex: inputs that rest somewhere
    std::vector<std::vector<std::size_t>> groups_;  // of variables that take the same states
    std::vector<footprint> from_;                   // by variable
    std::vector<std::vector<footprint>> of_kind_;
    std::vector<footprint*> chosen_;         // by variable
    std::vector<std::vector<copy>> copies_;  // by number of the vertex, where it is made or lies first
    std::vector<double> now_;                // bytes alive, in the time of the copies
    std::vector<double> elements_;           // of the largest piece, by place
    int misses_ = 0;
    std::size_t spent_ = 0, until_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
