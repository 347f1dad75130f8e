#pragma once

#include <einparallel/plan/pairwise.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double pairwise_term::at(int producer_state, int consumer_state) const {
    const auto row = static_cast<std::size_t>(of_producer->of_state[static_cast<std::size_t>(producer_state)]);
    const auto column = static_cast<std::size_t>(of_consumer->of_state[static_cast<std::size_t>(consumer_state)]);
    return (*cost)[row * of_consumer->count + column];
}

EINPARALLEL_INLINE double wide_term::at(std::span<const int> states) const {
    std::size_t cell = 0;
    for (std::size_t place = 0; place < scope.size(); ++place) {
        const auto state = static_cast<std::size_t>(states[scope[place]]);
        cell = cell * classes[place]->count + static_cast<std::size_t>(classes[place]->of_state[state]);
    }
    return (*cost)[cell];
}

EINPARALLEL_INLINE double total_cost(const pairwise_model& model, std::span<const int> states) {
    double sum = 0;
    for (std::size_t variable = 0; variable < model.variables.size(); ++variable) {
        sum += (*model.variables[variable])[static_cast<std::size_t>(states[variable])];
    }
    for (const pairwise_term& term : model.terms) {
        sum += term.at(states[term.producer], states[term.consumer]);
    }
    for (const wide_term& term : model.wide) {
        sum += term.at(states);
    }
    return sum;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
