#pragma once
// A factor graph as a sum of tables over some of its states: what the solver takes.

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

/// A sum of tables for some states of every variable.
struct model {
    cost_sum sum;
    std::vector<std::vector<int>> states;  ///< by kind: the states of the sum; -1 for the rest
    bool whole = true;                     ///< no factor was split into pairs
};

/// Writes the tables of a factor graph.
EINPARALLEL_INLINE class model_writer {
public:
    /// @param states by kind: those to write, -1 for the rest
    /// @param at_least moves at least: with the rest of every variable the minimum is a bound
    /// @param effort gets the entries that are worked out
    model_writer(factor_graph& graph, const options& asked, std::vector<std::vector<int>> states, bool at_least,
                 effort_count& effort)
        : graph_(graph), is_paper_(asked.objective == objective::paper), at_least_(at_least), effort_(effort) {
        made_.states = std::move(states);
        std::vector<std::shared_ptr<const std::vector<double>>> own;
        for (std::size_t kind = 0; kind < made_.states.size(); ++kind) {
            const domain& each = graph.domains()[kind];
            std::vector<double> costs;
            for (const int number : made_.states[kind]) {
                costs.push_back(number < 0 ? each.rest() : each.states[static_cast<std::size_t>(number)].cost);
            }
            own.push_back(std::make_shared<const std::vector<double>>(std::move(costs)));
        }
        for (std::size_t variable = 0; variable < graph.size(); ++variable) {
            const auto& costs = own[graph.kind_of(variable)];
            made_.sum.variables.push_back(costs);
        }
    }

    /// @param cells entries of one factor beyond which it is split into pairs of maker and reader: each reader then
    /// pays all of its move, or of n of them an n-th with `all`
    model write(std::size_t cells) && {
        for (const factor& each : graph_.factors()) {
            double count = each.maker ? static_cast<double>(side_at(*each.maker, {}).classes->count) : 1;
            for (const tensor_reader& reader : each.readers) {
                count *= static_cast<double>(side_at(reader.variable, reader.operands).classes->count);
            }
            const bool whole = each.readers.size() == 1 || (!is_paper_ && count <= static_cast<double>(cells));
            made_.whole = made_.whole && (whole || is_paper_);
            for (std::size_t number = 0; number < (whole ? 1 : each.readers.size()); ++number) {
                factor one = each;
                if (!whole) {
                    one.readers = {each.readers[number]};
                    if (each.binder && number != *each.binder) {
                        const bool is_first = *each.binder < number;
                        one.readers.insert(is_first ? one.readers.begin() : one.readers.end(),
                                           each.readers[*each.binder]);
                        one.binder = is_first ? 0 : 1;
                    } else if (each.binder) {
                        one.binder = 0;
                    }
                }
                add(one, !whole && at_least_ && !is_paper_ ? each.readers.size() : 1);
            }
        }
        return std::move(made_);
    }

private:
    /// How the states of one kind have a tensor: equal ones are one class.
    struct side {
        std::shared_ptr<const state_classes> classes;
        std::vector<wanted_places> places;  ///< by class
    };

    /// Without operands: of its output.
    const side& side_at(std::size_t variable, const std::vector<std::size_t>& operands) {
        const std::size_t kind = graph_.kind_of(variable);
        std::vector<index> key{static_cast<index>(kind)};
        key.insert(key.end(), operands.begin(), operands.end());
        return sides_.at(key, [&] {
            side made;
            state_classes classes;
            numbering numbers;
            for (const int number : made_.states[kind]) {
                wanted_places places(std::max<std::size_t>(operands.size(), 1), anywhere);
                if (number >= 0) {
                    const state& each = graph_.domains()[kind].states[static_cast<std::size_t>(number)];
                    places.front() = each.output;
                    for (std::size_t place = 0; place < operands.size(); ++place) {
                        places[place] = each.operands[operands[place]];
                    }
                }
                const auto [place, unlike] = numbers.number_of(std::vector<index>(places.begin(), places.end()));
                classes.of_state.push_back(static_cast<int>(place));
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
        const side lies{nullptr, {{of.from}}};
        const side& maker = of.maker ? side_at(*of.maker, {}) : lies;
        std::vector<const side*> readers;
        std::vector<index> key{of.from, static_cast<index>(of.element_bytes), std::bit_cast<index>(of.runs),
                               of.binder ? static_cast<index>(*of.binder) : -1, static_cast<index>(shares)};
        cost_table table;
        const auto add_variable = [&](std::size_t variable, const side& seen) {
            table.scope.push_back(variable);
            table.classes.push_back(seen.classes);
        };
        if (of.maker) {
            key.push_back(static_cast<index>(graph_.kind_of(*of.maker)));
            add_variable(*of.maker, maker);
        }
        for (const tensor_reader& each : of.readers) {
            readers.push_back(&side_at(each.variable, each.operands));
            add_variable(each.variable, *readers.back());
            key.push_back(-1 - static_cast<index>(graph_.kind_of(each.variable)));
            key.insert(key.end(), each.operands.begin(), each.operands.end());
        }
        table.cost = costs_.at(key, [&] {
            return std::make_shared<const std::vector<double>>(costs_of(of, maker, readers, table.classes, shares));
        });
        made_.sum.tables.push_back(std::move(table));
    }

    std::vector<double> costs_of(const factor& of, const side& maker, const std::vector<const side*>& readers,
                                 const std::vector<std::shared_ptr<const state_classes>>& classes, std::size_t shares) {
        std::vector<double> costs;
        std::vector<std::size_t> turn(classes.size(), 0);
        const std::size_t* const at = turn.data() + (of.maker ? 1 : 0);  // by reader
        std::vector<const wanted_places*> wanted(readers.size());
        do {
            const std::size_t compared = graph_.places().compared();
            for (std::size_t reader = 0; reader < readers.size(); ++reader) {
                wanted[reader] = &readers[reader]->places[at[reader]];
            }
            costs.push_back(graph_.moves().of(of, maker.places[of.maker ? turn.front() : 0].front(), wanted,
                                              at_least_ ? counting::at_least : counting::estimated) /
                            static_cast<double>(shares));
            effort_.add(1 + effort_count::of_pair * (graph_.places().compared() - compared));
        } while (next_turn(turn, classes));
        return costs;
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
