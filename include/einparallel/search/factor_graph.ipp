#pragma once
// The planner's problem: a variable for every vertex that is placed, and a factor for every tensor that moves, over its
// maker and its readers. Objectives differ in what a state costs and in what a move costs, in nothing else.

#include <einparallel/cost/numbering.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/domain.ipp>
#include <einparallel/search/move_cost.ipp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/pins.hpp>
#include <einparallel/search/solver/solve.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A graph's variables, their domains, and the factors between them.
class factor_graph {
public:
    /// @param may_be how each vertex may be cut, by its number; see cuts_of_graph()
    EINPARALLEL_INLINE factor_graph(const einsum_graph& graph, const options& asked,
                                    const std::vector<vertex_cuts>& may_be, place_table& table)
        : graph_(graph), table_(table), moves_(asked, table) {
        const std::size_t count = graph.vertices.size();
        const lasting_tensors lasting(graph, asked.runs, asked.objective, asked.memory_limit);
        std::vector<std::size_t> readings(count, 0);
        for (std::size_t number = 0; number < count; ++number) {
            lies_.push_back(given_place(*graph.vertices[number], table));
            for (std::size_t operand = 0; operand < graph.inputs[number].size(); ++operand) {
                // At functions of labels a rank reads its own block and a halo.
                readings[graph.inputs[number][operand]] += graph.vertices[number]->form.is_viewed(operand) ? 2 : 1;
            }
        }
        const bool sees_places = asked.objective != objective::paper || any_in(graph.vertices, [](const auto& each) {
                                     return each->constraints.without_communication;
                                 });
        std::vector<std::vector<tensor_user>> users(count);
        for (std::size_t number = 0; number < count; ++number) {
            const vertex& einsum = *graph.vertices[number];
            if (einsum.is_input()) {
                continue;
            }
            const std::size_t variable = vertex_of_.size();
            users[number].push_back({variable, {}});
            seen_tensors seen;
            for (std::size_t operand = 0; operand < graph.inputs[number].size(); ++operand) {
                const std::size_t input = graph.inputs[number][operand];
                const vertex& read = *graph.vertices[input];
                seen.operands.push_back(is_moved(read) &&
                                        (readings[input] > 1 || !is_placeholder(read) || lies_[input] >= 0));
                seen.rests.push_back(is_moved(read));
                seen.shares.push_back(lasting.sharers(input) > 0 && lasting.may_be_shared(einsum, operand));
                const bool is_known = lies_[input] != anywhere && (einsum.constraints.without_communication ||
                                                                   only_holder(table.resting(lies_[input])));
                seen.from.push_back(is_known ? lies_[input] : anywhere);
                std::vector<tensor_user>& known = users[input];
                if (known.empty() || known.back().variable != variable) {
                    known.push_back({variable, {}, einsum.constraints.without_communication});
                }
                known.back().operands.push_back(operand);
                known.back().sharing += seen.shares.back() ? 1 : 0;
            }
            seen.output = readings[number] > 0;
            seen.sees_places = sees_places;
            seen.lasting = lasting.work_of(number, may_be[number].wanted);
            vertex_of_.push_back(number);
            const auto known =
                find_if_in(domains_, [&](const domain& each) { return each.is_for(einsum, may_be[number], seen); });
            kind_of_.push_back(std::size_t(known - domains_.begin()));
            if (known == domains_.end()) {
                domains_.emplace_back(einsum, may_be[number], std::move(seen), asked, table);
            }
        }
        touching_.resize(size());
        for (std::size_t number = 0; number < count; ++number) {
            const vertex& tensor = *graph.vertices[number];
            const bool is_alone = readings[number] == 1 && lies_[number] == anywhere;  // bound where it is read
            if (readings[number] == 0 || !is_moved(tensor) ||
                (tensor.is_input() && (asked.objective == objective::paper || is_alone))) {
                continue;
            }
            const auto marked = find_in(users[number], true, &tensor_user::is_marked);
            if (tensor.is_input() && marked != users[number].end()) {
                std::rotate(users[number].begin(), marked, marked + 1);
            }
            for (const tensor_user& user : users[number]) {
                touching_[user.variable].push_back(factors_.size());
            }
            factors_.push_back({number, tensor.element.bytes, lasting.runs(number), lies_[number],
                                std::move(users[number]), lasting.sharers(number)});
        }
    }

    std::size_t size() const { return vertex_of_.size(); }
    /// The number of a variable's vertex.
    std::size_t vertex_of(std::size_t variable) const { return vertex_of_[variable]; }
    const vertex& vertex_at(std::size_t variable) const { return *graph_.vertices[vertex_of_[variable]]; }
    /// The number of a variable's kind. Vertices of one kind share a domain.
    std::size_t kind_of(std::size_t variable) const { return kind_of_[variable]; }
    domain& states_of(std::size_t variable) { return domains_[kind_of_[variable]]; }
    std::deque<domain>& domains() { return domains_; }
    const std::vector<factor>& factors() const { return factors_; }
    move_cost& moves() { return moves_; }
    place_table& places() { return table_; }
    /// The place where an input lies before a run, by its number; see given_place().
    place_id lies(std::size_t input) const { return lies_[input]; }
    /// The cost of all states together, with all moves. @param state_of the state of a variable
    template <class StateOf>
    double cost_of(const StateOf& state_of, counting how) {
        double sum = 0;
        for (std::size_t variable = 0; variable < size(); ++variable) {
            sum += state_of(variable).cost;
        }
        return sum_in(factors_, sum, [&](const factor& each) { return moves_.between_states(each, state_of, how); });
    }
    /// The factors that a variable appears in.
    const std::vector<std::size_t>& touching(std::size_t variable) const { return touching_[variable]; }

    /// Gives inputs that are bound at the run their place: where their first reader wants them.
    EINPARALLEL_INLINE void bind(std::vector<state>& by_vertex) {
        for (const factor& each : factors_) {
            const tensor_user& binder = each.users.front();
            if (graph_.vertices[each.tensor]->is_input() && each.from == anywhere) {
                by_vertex[each.tensor].output =
                    table_.whole_of(binder.places_in(by_vertex[vertex_of(binder.variable)]).front());
            }
        }
    }

private:
    const einsum_graph& graph_;
    place_table& table_;
    move_cost moves_;
    std::vector<place_id> lies_;
    std::vector<std::size_t> vertex_of_;
    std::vector<std::size_t> kind_of_;
    std::deque<domain> domains_;
    std::vector<factor> factors_;
    std::vector<std::vector<std::size_t>> touching_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
