#pragma once
// What a rank holds during each vertex of placements that are only thought of, in any order of the vertices: the
// tensors that are alive, by the largest shares, and what the work takes beside them.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>
#include <einparallel/search/factor_graph.ipp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A state, and what it takes of a rank's memory.
struct footprint {
    state of;
    std::vector<place_id> operands{};  ///< where each is wanted
    std::vector<bool> gathered{};      ///< by operand: its piece is not needed once its block is there
    place_id output = anywhere;
    std::optional<std::size_t> overwritten{};  ///< the operand that the output may be computed in place of
    double memory = 0;                         ///< bytes of the work, in the way that takes the least
    double work = 0;                           ///< the same without the pieces of its tensors
};

/// The memory of a rank over the vertices of a graph.
class held_memory {
public:
    EINPARALLEL_INLINE held_memory(const einsum_graph& graph, const options& asked,
                                   const std::vector<vertex_cuts>& may_be, factor_graph& factors)
        : graph_(graph),
          may_be_(may_be),
          factors_(factors),
          lasting_(graph, asked.runs, asked.objective),
          least_(asked),
          lies_(graph.vertices.size(), anywhere),
          copies_(graph.vertices.size()),
          time_of_(graph.vertices.size()) {
        least_.memory_limit = 1;
        for (std::size_t number = 0; number < lies_.size(); ++number) {
            if (lies_somewhere(*graph.vertices[number])) {
                lies_[number] = factors.places().exact(resting_of_source(*graph.vertices[number]));
            }
        }
    }

    /// What a variable takes in a state.
    EINPARALLEL_INLINE footprint footprint_of(std::size_t variable, const state& chosen) {
        footprint made{.of = chosen, .output = chosen.output};
        const std::size_t number = factors_.vertex_of(variable);
        const vertex& einsum = *graph_.vertices[number];
        const task work = task_of(einsum, chosen, may_be_[number].wanted, least_, lasting_.work_of(number));
        place_table& table = factors_.places();
        if (made.output < 0 || least_.objective == objective::paper) {
            made.output = exact_place(chosen, work.extents, work.form.output, chosen.cuts.output, table);
        }
        made.overwritten = overwritten_operand(graph_, number, lasting_);
        made.memory = task_memory(work);
        made.work = made.memory - largest_shares(work.output, work.output_bytes).piece;
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            made.operands.push_back(
                exact_place(chosen, work.extents, work.form.operands[operand], chosen.cuts.operands[operand], table));
            made.gathered.push_back(work.operands[operand].replication() > 1 && !work.travels(operand));
            made.work -=
                made.gathered.back() ? 0 : largest_shares(work.operands[operand], work.operand_bytes[operand]).piece;
        }
        return made;
    }

    /// Bytes beyond a limit, summed over the vertices. Nothing shares memory with results, which are the application's.
    /// @param in_turn variables of all einsums, in their order
    /// @param chosen by variable
    EINPARALLEL_INLINE double beyond(double limit, const std::vector<std::size_t>& in_turn,
                                     const std::vector<footprint*>& chosen) {
        now_.assign(2 * in_turn.size() + 1, 0);
        std::ranges::for_each(copies_, [](std::vector<copy>& each) { each.clear(); });
        for (const factor& each : factors_.factors()) {
            if (each.binder) {  // bound where one of its readers wants it
                const tensor_reader& binder = each.readers[*each.binder];
                lies_[each.tensor] =
                    factors_.places().whole_of(chosen[binder.variable]->operands[binder.operands.front()]);
            }
        }
        for (std::size_t turn = 0; turn < in_turn.size(); ++turn) {
            const std::size_t number = factors_.vertex_of(in_turn[turn]);
            const footprint& takes = *chosen[in_turn[turn]];
            time_of_[number] = turn;
            copies_[number].push_back({takes.output, 2 * turn + 1, 2 * turn + 1});
            now_[2 * turn + 1] += takes.work;
            now_[2 * turn + 2] -= takes.work;
            for (std::size_t operand = 0; operand < takes.operands.size(); ++operand) {
                bring(graph_.inputs[number][operand], takes.operands[operand], number, takes.gathered[operand]);
            }
        }
        for (const std::size_t variable : in_turn) {
            compute_in_place(factors_.vertex_of(variable), *chosen[variable]);
        }
        for (const std::size_t output : graph_.outputs) {
            if (!copies_[output].empty()) {
                copies_[output].front() = {copies_[output].front().place, 0, now_.size() - 2};
            }
        }
        for (std::size_t number = 0; number < copies_.size(); ++number) {
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
            sum += std::max(0.0, alive - limit);
        }
        return sum;
    }

    /// Bytes held while a vertex works, as last counted.
    [[nodiscard]] double at_work(std::size_t vertex) const { return now_[2 * time_of_[vertex] + 1]; }
    /// The same, or while its operands are brought.
    [[nodiscard]] double most(std::size_t vertex) const {
        return std::max(now_[2 * time_of_[vertex]], at_work(vertex));
    }

private:
    /// A tensor at one place, from when to when: twice the turn of a vertex while its operands are brought, one more
    /// while it works.
    struct copy {
        place_id place = anywhere;
        std::size_t first = 0;
        std::size_t last = 0;
    };

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
        const std::size_t time = 2 * time_of_[reader];
        if (known.empty() && is_brought) {
            known.push_back({lies_[tensor] >= 0 ? lies_[tensor] : wanted, time, time});
        }
        auto here = std::ranges::find(known, wanted, &copy::place);
        if (here == known.end()) {
            if (is_brought) {
                known.front().last = std::max(known.front().last, time);
            }
            known.push_back({wanted, time, time});
            here = std::prev(known.end());
        }
        here->last = std::max(here->last, time + (gathered ? 0 : 1));
    }

    /// The operand is gone while its reader works, where that writes its output to the same place.
    EINPARALLEL_INLINE void compute_in_place(std::size_t reader, const footprint& takes) {
        if (!takes.overwritten || takes.operands[*takes.overwritten] != takes.output) {
            return;
        }
        for (copy& each : copies_[graph_.inputs[reader][*takes.overwritten]]) {
            each.last -= each.place == takes.output && each.last == 2 * time_of_[reader] + 1 ? 1 : 0;
        }
    }

    const einsum_graph& graph_;
    const std::vector<vertex_cuts>& may_be_;
    factor_graph& factors_;
    lasting_tensors lasting_;
    options least_;                          // as asked, with the least memory for every vertex
    std::vector<place_id> lies_;             // by number of the vertex: inputs that rest somewhere
    std::vector<std::vector<copy>> copies_;  // by number of the vertex, where it is made or lies first
    std::vector<std::size_t> time_of_;       // by number of the einsum: its turn
    std::vector<double> now_;                // bytes alive, in the time of the copies
    std::vector<double> elements_;           // of the largest piece, by place
};

}  // namespace einparallel::EINPARALLEL_DETAIL
