#pragma once
// What moves between two distributions, counted over all pairs of ranks' boxes.

#include <einparallel/cost/places.hpp>
#include <einparallel/layout/distribution.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace test {

namespace ep = einparallel;

inline ep::detail::traffic counted(const ep::distribution& from, const ep::distribution& to) {
    const int ranks = std::max(from.holders(), to.holders());
    ep::detail::traffic all;
    std::vector<double> sent(static_cast<std::size_t>(ranks), 0);
    std::vector<double> received = sent;
    std::vector<double> sends = sent;
    std::vector<double> receives = sent;
    for (int sender = 0; sender < from.holders(); ++sender) {
        for (int receiver = 0; receiver < to.holders(); ++receiver) {
            const auto both = static_cast<double>(ep::intersect(from.held_by(sender), to.held_by(receiver)).size());
            if (sender != receiver && both > 0) {
                all.elements += both;
                sent[static_cast<std::size_t>(sender)] += both;
                received[static_cast<std::size_t>(receiver)] += both;
                sends[static_cast<std::size_t>(sender)] += 1;
                receives[static_cast<std::size_t>(receiver)] += 1;
            }
        }
    }
    all.busiest = std::max(*std::ranges::max_element(sent), *std::ranges::max_element(received));
    all.messages = std::max(*std::ranges::max_element(sends), *std::ranges::max_element(receives));
    return all;
}

}  // namespace test
