#pragma once
// A factor graph as a sum of tables over some of its states: what the solver takes.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/factor_graph.ipp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/places.hpp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE factor_graph::side factor_graph::side_of(std::size_t kind, const std::vector<int>& states,
                                                            const std::vector<std::size_t>& operands) const {
    side made;
    auto classes = std::make_shared<state_classes>();
    numbering numbers;
    std::vector<place_id> places;
    for (const int number : states) {
        const state* const each = number < 0 ? nullptr : &domains_[kind].states[static_cast<std::size_t>(number)];
        places.assign(std::max<std::size_t>(operands.size(), 1), anywhere);
        for (std::size_t place = 0; place < operands.size() && each != nullptr; ++place) {
            places[place] = each->operands[operands[place]];
        }
        if (operands.empty() && each != nullptr) {
            places.front() = each->output;
        }
        const auto [position, unlike] = numbers.number_of(std::vector<index>(places.begin(), places.end()));
        classes->of_state.push_back(static_cast<int>(position));
        if (unlike) {
            made.places.push_back(places);
            made.only.push_back(places.size() == 1 ? places.front() : anywhere);
        }
    }
    classes->count = made.places.size();
    made.classes = std::move(classes);
    return made;
}

/// Writes the tables of a factor graph for some of its states.
EINPARALLEL_INLINE factor_graph::model factor_graph::tables(which states, std::size_t cells, double known) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool at_least = states != which::exact;
    model made;
    std::vector<std::shared_ptr<const std::vector<double>>> own;
    for (const domain& each : domains_) {
        std::vector<int>& kept = made.states.emplace_back();
        std::vector<double> costs;
        for (std::size_t number = 0; number < each.states.size(); ++number) {
            const state& one = each.states[number];
            if (one.cost < infinity && (at_least || !one.open)) {
                kept.push_back(static_cast<int>(number));
                costs.push_back(one.cost);
            }
        }
        if (states == which::all && each.rest() < infinity) {
            kept.push_back(-1);
            costs.push_back(each.rest());
        }
        own.push_back(std::make_shared<const std::vector<double>>(std::move(costs)));
    }
    // Beside the cheapest states of all others a move may cost so much.
    double slack = known;
    std::vector<double> cheapest;
    for (const auto& costs : own) {
        cheapest.push_back(costs->empty() ? 0 : *std::min_element(costs->begin(), costs->end()));
    }
    for (const std::size_t kind : kind_of_) {
        made.sum.variables.push_back(own[kind]);
        slack -= cheapest[kind];
    }
    numbering side_numbers;
    std::deque<side> sides;
    const auto side_at = [&](std::size_t variable, const std::vector<std::size_t>& operands) -> const side& {
        std::vector<index> key{static_cast<index>(kind_of_[variable])};
        key.insert(key.end(), operands.begin(), operands.end());
        const auto [number, fresh] = side_numbers.number_of(key);
        if (fresh) {
            sides.push_back(side_of(kind_of_[variable], made.states[kind_of_[variable]], operands));
        }
        return sides[number];
    };
    numbering table_numbers;
    std::vector<std::shared_ptr<const std::vector<double>>> by_number;
    // The table of a factor; or of one of its readings, whose costs are divided by `shares` of the reader's classes.
    const auto add = [&](const factor& of, const std::vector<index>& shares) {
        struct part {
            std::size_t variable;
            const side* seen;
            std::size_t reader;  // no_variable: the maker
        };
        std::vector<part> parts;
        std::vector<index> key{of.from, static_cast<index>(graph_.vertices[of.tensor]->element.bytes),
                               of.maker && graph_.vertices[of.tensor]->is_input() ? static_cast<index>(of.first) : -1};
        key.insert(key.end(), shares.begin(), shares.end());
        key.push_back(-1);
        if (of.maker) {
            parts.push_back({*of.maker, &side_at(*of.maker, {}), no_variable});
            key.push_back(static_cast<index>(kind_of_[*of.maker]));
        }
        for (std::size_t reader = 0; reader < of.readers.size(); ++reader) {
            const auto& [variable, operands] = of.readers[reader];
            parts.push_back({variable, &side_at(variable, operands), reader});
            key.push_back(-1 - static_cast<index>(kind_of_[variable]));
            key.insert(key.end(), operands.begin(), operands.end());
        }
        std::ranges::sort(parts, {}, &part::variable);
        cost_table table;
        std::size_t count = 1;
        for (const part& each : parts) {
            table.scope.push_back(each.variable);
            table.classes.push_back(each.seen->classes);
            count *= each.seen->classes->count;
            key.push_back(each.reader == no_variable ? -1 : 0);
        }
        const auto [number, fresh] = table_numbers.number_of(key);
        if (fresh) {
            std::vector<double> costs;
            costs.reserve(count);
            std::vector<std::size_t> turn(parts.size(), 0);
            std::vector<const std::vector<place_id>*> wanted(of.readers.size());
            const auto costs_of = [&](const factor& each, place_id from,
                                      const std::vector<const std::vector<place_id>*>& to) {
                if (!at_least && asked_.objective != objective::paper && slack < infinity) {
                    moves_.cuts_only = true;
                    const double least = cost_between(each, from, to, true);
                    moves_.cuts_only = false;
                    if (least > slack) {
                        return least;
                    }
                    ++made.entries;
                }
                return cost_between(each, from, to, at_least);
            };
            // Of several readers that want different places, the sum of what each of them alone costs.
            const std::vector<place_id> here{of.from};
            const std::vector<std::vector<place_id>> lies{here};
            const std::vector<std::vector<place_id>>* made_at = &lies;
            std::size_t maker = no_variable;
            for (std::size_t place = 0; place < parts.size(); ++place) {
                maker = parts[place].reader == no_variable ? place : maker;
            }
            made_at = maker == no_variable ? made_at : &parts[maker].seen->places;
            std::vector<std::vector<double>> alone(of.readers.size());
            for (const part& each : of.readers.size() > 1 ? parts : std::vector<part>{}) {
                if (each.reader == no_variable) {
                    continue;
                }
                const factor one{of.tensor, of.maker, of.from, {of.readers[each.reader]}, each.reader};
                for (const std::vector<place_id>& from : *made_at) {
                    for (const std::vector<place_id>& to : each.seen->places) {
                        alone[each.reader].push_back(costs_of(one, from.front(), {&to}));
                    }
                }
            }
            while (costs.size() < count) {
                const std::size_t made_as = maker == no_variable ? 0 : turn[maker];
                const place_id from = (*made_at)[made_as].front();
                double sum = 0;
                bool apart = of.readers.size() > 1;
                for (std::size_t place = 0; place < parts.size(); ++place) {
                    const std::size_t reader = parts[place].reader;
                    if (reader == no_variable) {
                        continue;
                    }
                    const side& seen = *parts[place].seen;
                    wanted[reader] = &seen.places[turn[place]];
                    if (!apart) {
                        continue;
                    }
                    sum += alone[reader][made_as * seen.places.size() + turn[place]];
                    for (std::size_t other = 0; other < place && apart; ++other) {
                        const side& beside = *parts[other].seen;
                        apart = parts[other].reader == no_variable ||
                                !table_.may_be_one(seen.only[turn[place]], beside.only[turn[other]]);
                    }
                }
                double share = 1;
                for (std::size_t place = 0; place < parts.size() && !shares.empty(); ++place) {
                    share = parts[place].reader == no_variable ? share : static_cast<double>(shares[turn[place]]);
                }
                costs.push_back((apart ? sum : costs_of(of, from, wanted)) / share);
                for (std::size_t place = turn.size(); place-- > 0;) {
                    if (++turn[place] < table.classes[place]->count) {
                        break;
                    }
                    turn[place] = 0;
                }
            }
            made.entries += count;
            by_number.push_back(std::make_shared<const std::vector<double>>(std::move(costs)));
        }
        table.cost = by_number[number];
        made.sum.tables.push_back(std::move(table));
    };
    for (const factor& each : factors_) {
        double count = each.maker ? static_cast<double>(side_at(*each.maker, {}).classes->count) : 1;
        for (const tensor_reader& reader : each.readers) {
            count *= static_cast<double>(side_at(reader.variable, reader.operands).classes->count);
        }
        const bool by_reader = asked_.objective == objective::paper || count > static_cast<double>(cells);
        if (!by_reader || each.readers.size() == 1) {
            add(each, {});
            continue;
        }
        made.whole = made.whole && asked_.objective == objective::paper;
        for (std::size_t number = 0; number < each.readers.size(); ++number) {
            const tensor_reader& reader = each.readers[number];
            std::vector<index> shares;
            if (states == which::all && asked_.objective != objective::paper) {
                for (const place_id mine : side_at(reader.variable, reader.operands).only) {
                    shares.push_back(std::ranges::count_if(each.readers, [&](const tensor_reader& other) {
                        return std::ranges::any_of(side_at(other.variable, other.operands).only,
                                                   [&](place_id theirs) { return table_.may_be_one(mine, theirs); });
                    }));
                }
            }
            add({each.tensor, each.maker, each.from, {reader}, number}, shares);
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
