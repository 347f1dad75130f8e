#pragma once
// Writes a factor graph, over some of its states, as the sum of tables that the solver takes.

#include <einparallel/cost/numbering.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/search/factor_graph.ipp>
#include <einparallel/search/solver/bucket.ipp>
#include <einparallel/search/solver/solve.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A sum of tables over some of the states of every variable.
struct model {
    cost_sum sum;
    std::vector<std::vector<int>> states;  ///< by kind: numbers of the states in the sum; -1 for the rest
    bool whole = true;                     ///< no factor was split into pairs
};

/// Writes the tables of a factor graph.
EINPARALLEL_INLINE class model_writer {
public:
    /// @param states by kind: numbers of the states to write, -1 for the rest
    /// @param at_least counts moves as counting::at_least: with the rest of every variable the minimum is a lower bound
    /// @param effort gets the entries that are worked out
    model_writer(factor_graph& graph, const options& asked, std::vector<std::vector<int>> states, bool at_least,
                 effort_count& effort)
        : graph_(graph), is_paper_(asked.objective == objective::paper), at_least_(at_least), effort_(effort) {
        made_.states = std::move(states);
        std::vector<std::shared_ptr<const std::vector<double>>> own;
        for (std::size_t kind = 0; kind < made_.states.size(); ++kind) {
            const domain& each = graph.domains()[kind];
            own.push_back(std::make_shared<const std::vector<double>>(list_of(made_.states[kind], [&](int number) {
                return number < 0 ? each.rest() : each.states[std::size_t(number)].cost;
            })));
        }
        for (std::size_t variable = 0; variable < graph.size(); ++variable) {
            made_.sum.variables.push_back(own[graph.kind_of(variable)]);
        }
    }

    /// @param cells a factor with more entries is split into pairs of maker and reader. Each reader then pays its whole
    /// move, or with `at_least`, where there are n readers, an n-th of it (not under the paper's objective)
    model write(std::size_t cells) && {
        for (const factor& each : graph_.factors()) {
            const std::size_t readers = each.users.size() - (each.from == anywhere ? 1 : 0);
            const double count = product_in(
                each.users, 1.0, [&](const tensor_user& user) { return double(side_at(user).classes->count); });
            const bool whole = readers <= 1 || (!is_paper_ && count <= double(cells));
            made_.whole = made_.whole && (whole || is_paper_);
            factor one = each;
            for (std::size_t number = each.users.size() - readers; number < each.users.size() && !whole; ++number) {
                one.users.assign(each.users.begin(), each.users.end() - std::ptrdiff_t(readers));
                one.users.push_back(each.users[number]);
                add(one, at_least_ && !is_paper_ ? readers : 1);
            }
            if (whole) {
                add(each, 1);
            }
        }
        return std::move(made_);
    }

private:
    /// The places of a tensor in the states of one kind. States with equal places form one class.
    struct side {
        std::shared_ptr<const state_classes> classes;
        std::vector<wanted_places> places;  ///< by class
    };

    const side& side_at(const tensor_user& user) {
        const std::size_t kind = graph_.kind_of(user.variable);
        std::vector<index> key{index(kind)};
        key.insert(key.end(), user.operands.begin(), user.operands.end());
        return sides_.at(key, [&] {
            side made;
            state_classes classes;
            numbering numbers;
            const std::vector<state>& all = graph_.domains()[kind].states;
            const state rest;
            for (const int number : made_.states[kind]) {
                wanted_places places = user.places_in(number < 0 ? rest : all[std::size_t(number)]);
                const auto [position, unlike] = numbers.number_of(std::vector<index>(places.begin(), places.end()));
                classes.of_state.push_back(int(position));
                if (unlike) {
                    made.places.push_back(std::move(places));
                }
            }
            classes.count = made.places.size();
            made.classes = std::make_shared<const state_classes>(std::move(classes));
            return made;
        });
    }

    /// Adds the table of a factor whose costs are divided by `shares`.
    void add(const factor& of, std::size_t shares) {
        std::vector<const side*> sides;
        std::vector<index> key{of.from, index(of.element_bytes), std::bit_cast<index>(of.runs), index(shares)};
        cost_table table;
        for (const tensor_user& each : of.users) {
            sides.push_back(&side_at(each));
            table.scope.push_back(each.variable);
            table.classes.push_back(sides.back()->classes);
            key.push_back(-1 - index(graph_.kind_of(each.variable)));
            key.insert(key.end(), each.operands.begin(), each.operands.end());
        }
        table.cost = costs_.at(key, [&] {
            effort_.expect_room(product_in(sides, 1.0, [](const side* each) { return double(each->classes->count); }));
            std::vector<double> costs;
            std::vector<std::size_t> turn(sides.size(), 0);
            std::vector<const wanted_places*> wanted(sides.size());
            do {
                const std::size_t compared = graph_.places().compared();
                for (std::size_t user = 0; user < sides.size(); ++user) {
                    wanted[user] = &sides[user]->places[turn[user]];
                }
                costs.push_back(graph_.moves().of(of, wanted, at_least_ ? counting::at_least : counting::estimated) /
                                double(shares));
                effort_.add(1 + effort_count::of_pair * (graph_.places().compared() - compared));
            } while (next_turn(turn, table.classes));
            return std::make_shared<const std::vector<double>>(std::move(costs));
        });
        made_.sum.tables.push_back(std::move(table));
    }

    factor_graph& graph_;
    bool is_paper_;
    bool at_least_;
    effort_count& effort_;
    model made_;
    memo<side> sides_;
    memo<std::shared_ptr<const std::vector<double>>> costs_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
