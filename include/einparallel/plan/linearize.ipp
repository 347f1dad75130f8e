#pragma once

#include <einparallel/plan/linearize.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>

namespace einparallel::EINPARALLEL_DETAIL {

/// Takes one path after the other off a DAG, the longest first (EinDecomp §8.4). Variables are numbered in topological
/// order.
EINPARALLEL_INLINE class path_finder {
public:
    explicit path_finder(const pairwise_model& model)
        : producers_(model.variables.size()),
          consumers_(model.variables.size()),
          length_(model.variables.size(), 1),
          taken_(model.variables.size(), false) {
        for (const pairwise_term& term : model.terms) {
            producers_[term.consumer].push_back(term.producer);
            consumers_[term.producer].push_back(term.consumer);
        }
        for (std::size_t variable = 0; variable < length_.size(); ++variable) {
            length_[variable] = length_at(variable);
            ends_.insert({length_.size() - length_[variable], variable, 0});
        }
    }

    /// The longest path of what is left, first vertex first; empty when nothing is left. Of equally long ones the one
    /// that ends earliest.
    std::vector<std::size_t> next() {
        while (!ends_.empty()) {
            std::size_t variable = (*ends_.begin())[1];
            std::vector<std::size_t> path{variable};
            while (length_[variable] > 1) {
                for (const std::size_t producer : producers_[variable]) {
                    if (!taken_[producer] && length_[producer] + 1 == length_[variable]) {
                        variable = producer;
                        break;
                    }
                }
                path.push_back(variable);
            }
            std::reverse(path.begin(), path.end());
            take(path);
            return path;
        }
        return {};
    }

private:
    using ordered = std::set<std::array<std::size_t, 3>>;

    [[nodiscard]] std::size_t length_at(std::size_t variable) const {
        std::size_t longest = 0;
        for (const std::size_t producer : producers_[variable]) {
            longest = taken_[producer] ? longest : std::max(longest, length_[producer]);
        }
        return longest + 1;
    }

    void take(const std::vector<std::size_t>& path) {
        for (const std::size_t variable : path) {
            taken_[variable] = true;
            ends_.erase({length_.size() - length_[variable], variable, 0});
        }
        ordered shortened;  // in topological order
        const auto shorten_consumers = [&](std::size_t variable) {
            for (const std::size_t consumer : consumers_[variable]) {
                if (!taken_[consumer]) {
                    shortened.insert({consumer, 0, 0});
                }
            }
        };
        for (const std::size_t variable : path) {
            shorten_consumers(variable);
        }
        while (!shortened.empty()) {
            const std::size_t variable = shortened.begin()->front();
            shortened.erase(shortened.begin());
            const std::size_t length = length_at(variable);
            if (length != length_[variable]) {
                ends_.erase({length_.size() - length_[variable], variable, 0});
                length_[variable] = length;
                ends_.insert({length_.size() - length, variable, 0});
                shorten_consumers(variable);
            }
        }
    }

    std::vector<std::vector<std::size_t>> producers_;
    std::vector<std::vector<std::size_t>> consumers_;
    std::vector<std::size_t> length_;  // vertices on the longest path that ends here
    std::vector<bool> taken_;
    ordered ends_;  // what is left: how much shorter than the whole graph, and the variable
};

EINPARALLEL_INLINE std::vector<int> minimise_along_paths(const pairwise_model& model) {
    std::vector<int> states(model.variables.size(), 0);
    std::vector<std::vector<std::size_t>> entering(model.variables.size());  // numbers of terms, by consumer
    for (std::size_t term = 0; term < model.terms.size(); ++term) {
        entering[model.terms[term].consumer].push_back(term);
    }
    path_finder paths(model);
    for (std::vector<std::size_t> path = paths.next(); !path.empty(); path = paths.next()) {
        pairwise_model line;
        for (std::size_t place = 0; place < path.size(); ++place) {
            line.variables.push_back(model.variables[path[place]]);
            for (const std::size_t number : entering[path[place]]) {
                if (place > 0 && model.terms[number].producer == path[place - 1]) {
                    line.terms.push_back(model.terms[number]);
                    line.terms.back().producer = place - 1;
                    line.terms.back().consumer = place;
                }
            }
        }
        // A path never outgrows sensible tables: each of its tables has the classes of one vertex.
        constexpr std::size_t none = static_cast<std::size_t>(-1);
        // A line is cheap to eliminate as it is: looking for dominated states would cost more.
        const std::optional<std::vector<int>> best = elimination(line, {none, none}).run();
        for (std::size_t place = 0; place < path.size(); ++place) {
            states[path[place]] = (*best)[place];
        }
    }
    return states;
}

EINPARALLEL_INLINE std::vector<int> improve_locally(const pairwise_model& model, std::vector<int> states) {
    constexpr int sweeps = 100;
    std::vector<std::vector<std::size_t>> touching(model.variables.size());
    for (std::size_t term = 0; term < model.terms.size(); ++term) {
        touching[model.terms[term].producer].push_back(term);
        touching[model.terms[term].consumer].push_back(term);
    }
    bool changed = true;
    for (int sweep = 0; sweep < sweeps && changed; ++sweep) {
        changed = false;
        for (std::size_t variable = 0; variable < states.size(); ++variable) {
            const auto cost_of = [&](int state) {
                double sum = (*model.variables[variable])[static_cast<std::size_t>(state)];
                for (const std::size_t number : touching[variable]) {
                    const pairwise_term& term = model.terms[number];
                    sum += term.producer == variable ? term.at(state, states[term.consumer])
                                                     : term.at(states[term.producer], state);
                }
                return sum;
            };
            double best = cost_of(states[variable]);
            for (int state = 0; state < static_cast<int>(model.variables[variable]->size()); ++state) {
                const double cost = cost_of(state);
                if (better(cost, best)) {
                    best = cost;
                    states[variable] = state;
                    changed = true;
                }
            }
        }
    }
    return states;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
