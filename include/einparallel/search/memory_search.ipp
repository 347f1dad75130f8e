#pragma once
// Placements within a memory limit, and the order of the vertices. In each step a vertex moves to another position,
// which costs nothing, or states are replaced, as long as that lowers the bytes beyond the limit, or, within the limit,
// the cost. The bytes that a plan then really holds correct the count.

#include <einparallel/cost/copies.hpp>
#include <einparallel/cost/memory.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/search/factor_graph.ipp>
#include <einparallel/search/search.hpp>
#include <einparallel/search/search.ipp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A state, and the memory of a rank that it needs.
struct footprint {
    state of;
    std::vector<place_id> places{};  ///< where each operand is wanted, then where the output is made
    double memory = 0;               ///< bytes that the work needs, run in the way that needs the least
    double work = 0;                 ///< `memory` without the pieces of the vertex's tensors at rest
};

/// Looks for an order of the vertices and for states that take less memory, among those that a search has written down.
class memory_search {
public:
    EINPARALLEL_INLINE memory_search(const einsum_graph& graph, const options& asked,
                                     const std::vector<vertex_cuts>& may_be, place_table& table)
        : graph_(graph),
          limit_(double(asked.memory_limit)),
          effort_(asked.effort / 8),
          search_(graph, asked, may_be, table),
          factors_(search_.factors()),
          least_(asked),
          turn_of_(graph.vertices.size()) {
        const placed_graph found =
            asked.method == method::linearized ? search_.run_along_paths() : search_.run(effort_);
        least_.memory_limit = 1;
        alike_.resize(factors_.domains().size());
        known_.resize(alike_.size());
        for (std::size_t variable = 0; variable < factors_.size(); ++variable) {
            in_turn_.push_back(variable);
            const std::size_t kind = factors_.kind_of(variable);
            alike_[kind].push_back(variable);
            first_.push_back(footprint_of(variable, found.states[factors_.vertex_of(variable)]));
            if (known_[kind].empty()) {
                write_footprints(variable);
            }
        }
    }

    /// The best states found, by number of the vertex; none where they are those of the call before.
    /// @param order gets the numbers of the einsums in their order
    EINPARALLEL_INLINE std::vector<state> fit(std::vector<std::size_t>& order) {
        const std::pair last{chosen_, in_turn_};
        std::pair<std::vector<footprint*>, std::vector<std::size_t>> best;
        loss least{infinity, infinity};
        for (const bool smallest : {false, true}) {
            begin(smallest);
            until_ = std::min(effort_, spent_ + effort_ / 8);
            loss now = lost();
            while (reorder(now) || replace(now)) {
            }
            if (!smallest || now < least) {
                best = {chosen_, in_turn_};
                least = now;
            }
        }
        if (best == last) {
            return {};
        }
        std::tie(chosen_, in_turn_) = std::move(best);
        beyond();
        std::vector<state> made(graph_.vertices.size());
        for (const std::size_t variable : in_turn_) {
            const std::size_t number = factors_.vertex_of(variable);
            order.push_back(number);
            made[number] = chosen_[variable]->of;
            const double left = limit_ - held_[2 * turn_of_[number] + 1];
            made[number].memory = std::size_t(chosen_[variable]->memory + std::max(0.0, left));
        }
        factors_.bind(made);
        return made;
    }

    /// Takes note of the bytes that are really held during each vertex, by its number, with the states found last.
    EINPARALLEL_INLINE void settle(const std::vector<std::size_t>& held) {
        for (const std::size_t variable : in_turn_) {
            const std::size_t number = factors_.vertex_of(variable);
            const std::size_t time = 2 * turn_of_[number];
            chosen_[variable]->work += double(held[number]) - std::max(held_[time], held_[time + 1]);
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    /// Bytes beyond the limit, summed over the vertices, and the cost.
    using loss = std::pair<double, double>;

    /// The footprint of a variable in a state.
    EINPARALLEL_INLINE footprint footprint_of(std::size_t variable, const state& chosen) {
        footprint made{.of = chosen};
        const task work = factors_.states_of(variable).work_of(chosen, least_);
        const auto add = [&](std::size_t tensor, const distribution& resting, std::size_t element_bytes) {
            made.places.push_back(exact_place(chosen, work.form, work.extents, tensor, factors_.places()));
            made.work -= largest_piece(resting) * double(element_bytes);
        };
        made.work = made.memory = task_memory(work);
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            add(operand, work.operands[operand], work.operand_bytes[operand]);
        }
        add(work.operands.size(), work.output, work.output_bytes);
        return made;
    }

    /// Writes the footprints for a variable's kind: of all states that are written down, and of more partition vectors
    /// in their natural placement.
    EINPARALLEL_INLINE void write_footprints(std::size_t variable) {
        constexpr std::size_t vectors = 512;
        domain& of = factors_.states_of(variable);
        std::vector<footprint>& known = known_[factors_.kind_of(variable)];
        of.grow(vectors);
        known = list_of(of.states, [&](const state& each) { return footprint_of(variable, each); });
        for (const listed_vector& each : of.vectors) {
            known.push_back(footprint_of(variable, each.natural));
        }
    }

    /// Begins with the states of the search, or with `smallest` with states whose sums are finished and which need the
    /// least memory by themselves.
    EINPARALLEL_INLINE void begin(bool smallest) {
        sort_range(in_turn_);
        chosen_.clear();
        for (std::size_t variable = 0; variable < first_.size(); ++variable) {
            footprint* best = &first_[variable];
            for (footprint& each : known_[factors_.kind_of(variable)]) {
                const bool less = !best->of.sums.none() || each.memory < best->memory;
                best = smallest && less && each.of.sums.none() ? &each : best;
            }
            chosen_.push_back(best);
        }
    }

    EINPARALLEL_INLINE loss lost() {
        const double excess = beyond();
        const auto state_of = [&](std::size_t variable) -> const state& { return chosen_[variable]->of; };
        const double cost = factors_.cost_of(state_of, counting::estimated);
        spent_ += graph_.vertices.size() + factors_.factors().size();
        return {cost < forbidden_move ? excess : infinity, cost};
    }

    /// Moves vertices to earlier or later positions, one vertex after the other, wherever that lowers the bytes beyond
    /// the limit. False where it never does.
    EINPARALLEL_INLINE bool reorder(loss& now) {
        const double before = now.first;
        for (const std::size_t variable : before > 0 ? in_turn_ : std::vector<std::size_t>{}) {
            const std::vector<std::size_t> given = in_turn_;
            std::vector<std::size_t> best = given;
            for (const std::ptrdiff_t way : {-1, 1}) {
                in_turn_ = given;
                auto here = find_in(in_turn_, variable);
                while (here != (way < 0 ? in_turn_.begin() : std::prev(in_turn_.end())) && spent_ < until_ &&
                       !reads(*(way < 0 ? here : here + 1), *(way < 0 ? here - 1 : here))) {
                    std::iter_swap(here, here + way);
                    here += way;
                    spent_ += graph_.vertices.size();
                    if (const double tried = beyond(); better(tried, now.first)) {
                        now.first = tried;
                        best = in_turn_;
                    }
                }
            }
            in_turn_ = std::move(best);
        }
        return now.first < before;
    }

    bool reads(std::size_t reader, std::size_t variable) const {
        return found_in(factors_.vertex_of(variable), graph_.inputs[factors_.vertex_of(reader)]);
    }

    /// Gives all vertices of one kind another state, if that is better: beyond the limit the state that costs the least
    /// per byte saved, within the limit the one that costs the least. False where nothing is better.
    EINPARALLEL_INLINE bool replace(loss& now) {
        const loss before = now;
        const bool exceeds = before.first > 0;
        double least = exceeds ? infinity : before.second;
        std::vector<footprint*> best = chosen_;
        for (const std::vector<std::size_t>& group : alike_) {
            const std::vector<footprint*> kept = chosen_;
            for (footprint& one : known_[factors_.kind_of(group.front())]) {
                for (const std::size_t variable : group) {
                    chosen_[variable] = &one;
                }
                const loss tried = spent_ < until_ ? lost() : before;
                const double loses =
                    exceeds ? std::max(0.0, tried.second - before.second) / (before.first - tried.first) : tried.second;
                if ((exceeds ? tried.first < before.first : tried.first <= 0) && better(loses, least)) {
                    least = loses;
                    best = chosen_;
                    now = tried;
                }
            }
            chosen_ = kept;
        }
        chosen_ = std::move(best);
        return now != before;
    }

    /// Bytes beyond the limit, summed over the vertices. No tensor shares memory with results, because the application
    /// owns them.
    EINPARALLEL_INLINE double beyond() {
        held_.assign(2 * in_turn_.size() + 1, 0);
        moves_.copies.clear();
        moves_.first.assign(graph_.vertices.size(), no_copy);
        for (std::size_t turn = 0; turn < in_turn_.size(); ++turn) {
            const std::size_t number = factors_.vertex_of(in_turn_[turn]);
            const footprint& takes = *chosen_[in_turn_[turn]];
            turn_of_[number] = turn;
            held_[2 * turn + 1] += takes.work;
            held_[2 * turn + 2] -= takes.work;
            for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
                const std::size_t tensor = graph_.inputs[number][operand];
                const place_id wanted = takes.places[operand];
                const place_id lies = factors_.lies(tensor) >= 0 ? factors_.lies(tensor) : wanted;
                const auto rests = is_moved(*graph_.vertices[tensor]) ? std::optional(lies) : std::nullopt;
                moves_.bring(tensor, wanted, rests, 2 * turn);
            }
            moves_.make(number, takes.places.back(), 2 * turn + 1);
        }
        for_each_in(in_turn_, [&](std::size_t variable) { compute_in_place(variable); });
        for (const std::size_t output : graph_.outputs) {
            if (const std::size_t made = moves_.first[output]; made != no_copy) {
                moves_.copies[made].first = 0;
                moves_.copies[made].last = held_.size() - 2;
            }
        }
        for (const tensor_copy<place_id>& each : moves_.copies) {
            const double bytes =
                largest_piece(factors_.places().resting(each.at)) * double(graph_.vertices[each.tensor]->element.bytes);
            held_[each.first] += bytes;
            held_[each.last + 1] -= bytes;
        }
        double sum = 0;
        double all = 0;
        double alive = 0;
        for (double& each : held_) {
            each = alive += each;
            all += alive;
            sum += std::max(0.0, alive - limit_);
        }
        return sum > 0 ? sum + 1e-6 * all : 0;  // of equal sums the one that holds less over time leads further
    }

    /// A vertex may write its output over its first suitable operand (schedule/in_place.hpp), if both lie alike and
    /// nobody reads the operand later. The operand then no longer counts while the vertex works. This is wrong for
    /// tensors that last over runs; settle() corrects it.
    EINPARALLEL_INLINE void compute_in_place(std::size_t variable) {
        const std::size_t number = factors_.vertex_of(variable);
        const vertex& einsum = *graph_.vertices[number];
        const std::vector<std::size_t>& inputs = graph_.inputs[number];
        std::size_t operand = found_in(number, graph_.outputs) ? inputs.size() : 0;
        while (operand < inputs.size() &&
               (!is_elementwise_in(einsum.form, einsum.work->replaces(), operand) ||
                einsum.operands[operand]->is_input() || found_in(inputs[operand], graph_.outputs) ||
                count_in(inputs, inputs[operand]) > 1 ||
                einsum.operands[operand]->element.bytes != einsum.element.bytes)) {
            ++operand;
        }
        const std::vector<place_id>& places = chosen_[variable]->places;
        if (operand < inputs.size() && places[operand] == places.back()) {
            for (std::size_t copy = moves_.first[inputs[operand]]; copy != no_copy; copy = moves_.copies[copy].next) {
                moves_.copies[copy].last -=
                    moves_.copies[copy].at == places.back() && moves_.copies[copy].last == 2 * turn_of_[number] + 1 ? 1
                                                                                                                    : 0;
            }
        }
    }

    const einsum_graph& graph_;
    double limit_;
    std::size_t effort_;
    placement_search search_;
    factor_graph& factors_;
    options least_;                     // as asked, but with a limit of 1 byte: every vertex takes the least memory
    copy_ledger<place_id> moves_;       // times are half turns
    std::vector<std::size_t> turn_of_;  // by number of the einsum
    std::vector<double> held_;          // bytes, by time of the ledger
    std::vector<std::vector<std::size_t>> alike_;  // by kind: its variables, which all take one state
    std::vector<footprint> first_;                 // by variable
    std::vector<std::vector<footprint>> known_;    // by kind
    std::vector<footprint*> chosen_;               // by variable
    std::vector<std::size_t> in_turn_;             // variables of einsums, in their order
    std::size_t spent_ = 0, until_ = 0;
};

EINPARALLEL_INLINE void search_within(const einsum_graph& graph, const options& asked,
                                      const std::vector<vertex_cuts>& may_be, place_table& table,
                                      const held_by_placement& visit) {
    constexpr int rounds = 24;
    memory_search memory(graph, asked, may_be, table);
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::size_t> order;
        const std::vector<state> states = memory.fit(order);
        const std::vector<std::size_t> held = states.empty() ? std::vector<std::size_t>{} : visit(states, order);
        if (held.empty()) {
            return;
        }
        memory.settle(held);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
