#pragma once

#include <einparallel/layout/levels.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <cmath>
#include <numeric>

namespace einparallel {

EINPARALLEL_INLINE rank_groups::rank_groups(const machine_levels& levels, const numbers_of_ranks& node_of_rank) {
    const std::size_t count = count_of(levels);
    levels_ = count == 0 ? 0 : count - 1;
    for (std::size_t level = 0; level < levels_; ++level) {
        const machine_level& each = levels[level];
        largest_[level] = each.ranks;
        if (each.is_uneven()) {
            runs_[level] = each.uneven;
            largest_[level] = 0;
            for (const group_run& run : each.uneven) {
                largest_[level] = std::max(largest_[level], run.count > 0 ? run.ranks : 0);
            }
        } else {
            sizes_[level] = each.ranks;
        }
        even_ = even_ && !each.is_uneven();
    }
    if (levels_ > 0 && !node_of_rank.empty()) {
        std::vector<int> order(node_of_rank.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return node_of_rank[std::size_t(a)] < node_of_rank[std::size_t(b)]; });
        slots_.resize(std::is_sorted(order.begin(), order.end()) ? 0 : order.size());
        for (std::size_t at = 0; at < slots_.size(); ++at) {
            slots_[std::size_t(order[at])] = int(at);
            even_ = false;
        }
    }
}

EINPARALLEL_INLINE int rank_groups::group_in_runs(std::size_t level, int at) const {
    int number = 0;
    for (const group_run& run : runs_[level]) {
        if (run.count > 0 && at < run.count * run.ranks) {
            return number + at / run.ranks;
        }
        number += run.count;
        at -= run.count * run.ranks;
    }
    return number;
}

EINPARALLEL_INLINE std::vector<int> ring_of(const distribution& resting, int rank, const rank_groups& groups) {
    std::vector<int> ring = resting.replicas(rank);
    if (!groups.is_even()) {
        std::sort(ring.begin(), ring.end(), [&](int a, int b) { return groups.slot(a) < groups.slot(b); });
    }
    return ring;
}

EINPARALLEL_INLINE ring_shape shape_of_ring(const std::vector<int>& ring, const rank_groups& groups) {
    const int all = int(ring.size());
    ring_shape made;
    made.count = 0;
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        int together = 1;
        while (together < all && groups.group(level, ring[std::size_t(together)]) == groups.group(level, ring[0])) {
            ++together;
        }
        for (int first = 0; first < all; first += together) {
            const int last = std::min(first + together, all) - 1;
            const int number = groups.group(level, ring[std::size_t(first)]);
            made.is_mixed = made.is_mixed || first + together > all ||
                            groups.group(level, ring[std::size_t(last)]) != number ||
                            (first > 0 && groups.group(level, ring[std::size_t(first - 1)]) == number);
        }
        made.add(together, level);
    }
    made.add(all, groups.levels());
    if (made.is_mixed || made.count == 0) {
        made.stages[0] = {all, groups.between(ring.front(), ring.back())};
        made.count = 1;
    }
    return made;
}

namespace EINPARALLEL_DETAIL {

/// The shape of a tensor's rings by the digits of their ranks' numbers. It is mixed, and an estimate, where a group
/// begins or ends within one value of a digit, where groups differ, and where ranks do not fill them in order.
EINPARALLEL_INLINE ring_shape shape_by_digits(const distribution& resting, const rank_groups& groups) {
    const int all = resting.replication();
    ring_shape made;
    made.count = 0;
    made.is_mixed = !groups.is_even();
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        const int size = groups.largest(level);
        int together = 1;
        for (const rank_digit& digit : resting.digits()) {
            const int whole = digit.stride * digit.radix;
            if (!digit.is_piece || !groups.is_in_order()) {
                continue;
            }
            const int inside =
                size >= resting.holders() ? digit.radix : std::clamp(size / digit.stride, 1, digit.radix);
            together *= inside;
            const bool ends_with_group = size % whole == 0 || (size % digit.stride == 0 && whole % size == 0);
            made.is_mixed =
                made.is_mixed || !(size >= resting.holders() || ends_with_group || digit.stride % size == 0);
        }
        const double met = std::ceil(double(all) / together);
        made.leaving[level] = together == all ? 0 : std::max(1.0, double(std::min(size, resting.holders())) / together);
        made.staged[level] = met - 1;
        made.plain[level] = together == all ? 0 : met * (all - 1) / all;
        made.add(together, level);
    }
    made.add(all, groups.levels());
    made.count = std::max<std::size_t>(made.count, 1);
    if (made.is_mixed) {
        made.stages[0] = {all, made.level()};
        made.count = 1;
        made.staged = made.plain;
    }
    return made;
}

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_INLINE ring_shape shape_of_rings(const distribution& resting, const rank_groups& groups, int most) {
    const int all = resting.replication();
    ring_shape made;
    if (all == 1 || groups.levels() == 0) {
        made.stages[0] = {all, 0};
        return made;
    }
    if (const ring_shape by_digits = detail::shape_by_digits(resting, groups);
        !by_digits.is_mixed || resting.holders() > most) {
        return by_digits;
    }
    int count = 0;
    std::vector<std::vector<double>> leaving(groups.levels());  // by level and group: rings that leave it
    detail::for_each_ring(resting, groups, [&](const std::vector<int>& ring) {
        const ring_shape one = shape_of_ring(ring, groups);
        if (count++ == 0) {
            made.stages = one.stages;
            made.count = one.count;
            made.is_mixed = one.is_mixed;
        } else if (!(one.count == made.count && one.stages == made.stages && one.is_mixed == made.is_mixed)) {
            made.stages[0] = {all, std::max(made.level(), one.level())};
            made.count = 1;
            made.is_mixed = true;
        }
        for (std::size_t level = 0; level < groups.levels(); ++level) {
            int met = 0;
            for (std::size_t at = 0; at < ring.size() && groups.between(ring.front(), ring.back()) > level; ++at) {
                const int number = groups.group(level, ring[at]);
                if (at == 0 || groups.group(level, ring[at - 1]) != number) {
                    leaving[level].resize(std::max(leaving[level].size(), std::size_t(number) + 1), 0);
                    made.leaving[level] = std::max(made.leaving[level], ++leaving[level][std::size_t(number)]);
                    ++met;
                }
            }
            const double plain = met * double(all - 1) / all;
            made.plain[level] += plain;
            made.staged[level] += one.is_mixed ? plain : std::max(met - 1, 0);
        }
    });
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        made.plain[level] /= count;
        made.staged[level] /= count;
    }
    return made;
}

}  // namespace einparallel
