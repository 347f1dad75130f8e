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

/// The same for what leaves the groups of a level.
inline ep::detail::crossing counted_beyond(const ep::distribution& from, const ep::distribution& to,
                                           const ep::rank_groups& groups, std::size_t level) {
    const auto ranks = static_cast<std::size_t>(std::max(from.holders(), to.holders()));
    std::vector<double> sent(ranks, 0);
    std::vector<double> received = sent;
    std::vector<double> leaves(1024, 0);  // by group
    std::vector<double> comes = leaves;
    ep::detail::crossing all;
    for (int sender = 0; sender < from.holders(); ++sender) {
        for (int receiver = 0; receiver < to.holders(); ++receiver) {
            const int group = groups.group(level, sender);
            const int other = groups.group(level, receiver);
            if (group != other) {
                const auto both = static_cast<double>(ep::intersect(from.held_by(sender), to.held_by(receiver)).size());
                all.elements += both;
                sent[static_cast<std::size_t>(sender)] += both;
                received[static_cast<std::size_t>(receiver)] += both;
                leaves[static_cast<std::size_t>(group)] += both;
                comes[static_cast<std::size_t>(other)] += both;
            }
        }
    }
    all.of_rank = std::max(*std::ranges::max_element(sent), *std::ranges::max_element(received));
    all.busiest = std::max(*std::ranges::max_element(leaves), *std::ranges::max_element(comes));
    return all;
}

}  // namespace test
