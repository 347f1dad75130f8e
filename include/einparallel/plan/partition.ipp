#pragma once

#include <einparallel/plan/partition.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

/// Divisors of a number, ascending.
EINPARALLEL_INLINE std::vector<int> divisors_of(int number) {
    std::vector<int> small;
    std::vector<int> large;
    for (int divisor = 1; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) {
            small.push_back(divisor);
            if (divisor != number / divisor) {
                large.push_back(number / divisor);
            }
        }
    }
    while (!large.empty()) {
        small.push_back(large.back());
        large.pop_back();
    }
    return small;
}

/// For every label the number of ways to place each divisor of `product` on that label and the ones after it, no label
/// cut finer than its extent: `ways[label][divisor]`. Counts stop at the largest std::size_t.
struct placement_counts {
    std::vector<int> divisors;
    std::vector<std::vector<std::size_t>> ways;

    EINPARALLEL_INLINE placement_counts(std::span<const index> extents, int product) : divisors(divisors_of(product)) {
        constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
        ways.assign(extents.size() + 1, std::vector<std::size_t>(divisors.size(), 0));
        ways[extents.size()][0] = 1;
        for (std::size_t label = extents.size(); label-- > 0;) {
            for (std::size_t whole = 0; whole < divisors.size(); ++whole) {
                std::size_t count = 0;
                for (const int part : divisors) {
                    if (part > 1 && part > extents[label]) {
                        break;
                    }
                    if (divisors[whole] % part == 0) {
                        const std::size_t more = ways[label + 1][position_of(divisors[whole] / part)];
                        count = more > largest - count ? largest : count + more;
                    }
                }
                ways[label][whole] = count;
            }
        }
    }

    EINPARALLEL_INLINE [[nodiscard]] std::size_t position_of(int divisor) const {
        return static_cast<std::size_t>(std::lower_bound(divisors.begin(), divisors.end(), divisor) - divisors.begin());
    }
    [[nodiscard]] std::size_t total() const { return ways.front().back(); }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::span<const int> partition_vectors::operator[](std::size_t number) const {
    return std::span<const int>(entries).subspan(number * labels, labels);
}

EINPARALLEL_INLINE std::size_t count_partitions(std::span<const index> extents, int product) {
    return detail::placement_counts(extents, product).total();
}

EINPARALLEL_INLINE partition_vectors all_partitions(std::span<const index> extents, int product) {
    const detail::placement_counts counts(extents, product);
    partition_vectors found{product, extents.size(), counts.total(), {}};
    if (found.count == 0 || extents.empty()) {
        return found;
    }
    found.entries.reserve(found.count * found.labels);
    const std::vector<int>& divisors = counts.divisors;
    std::vector<std::size_t> choice(extents.size(), 0);  // position of the divisor to try next, by label
    std::vector<int> row(extents.size(), 1);
    std::vector<int> left(extents.size() + 1, product);  // what labels from here on have to share
    std::size_t label = 0;
    while (true) {
        const auto admissible = [&](int part) {
            return left[label] % part == 0 && (part == 1 || part <= extents[label]) &&
                   counts.ways[label + 1][counts.position_of(left[label] / part)] > 0;
        };
        while (choice[label] < divisors.size() && !admissible(divisors[choice[label]])) {
            ++choice[label];
        }
        if (choice[label] == divisors.size()) {
            choice[label] = 0;
            if (label == 0) {
                return found;
            }
            --label;
            continue;
        }
        row[label] = divisors[choice[label]++];
        left[label + 1] = left[label] / row[label];
        if (label + 1 == extents.size()) {
            found.entries.insert(found.entries.end(), row.begin(), row.end());
        } else {
            ++label;
        }
    }
}

EINPARALLEL_INLINE int largest_product(std::span<const index> extents, int processes, bool powers_of_two) {
    index capacity = 1;
    for (const index extent : extents) {
        capacity = std::min<index>(capacity * std::clamp<index>(extent, 1, index{1} << 30), index{1} << 30);
    }
    int product = planned_processes(processes, powers_of_two);
    if (powers_of_two) {
        while (product > 1 && count_partitions(extents, product) == 0) {
            product /= 2;
        }
        return product;
    }
    product = static_cast<int>(std::min<index>(product, capacity));
    while (product > 1 && count_partitions(extents, product) == 0) {
        --product;
    }
    return product;
}

EINPARALLEL_INLINE partition_vectors viable(std::span<const index> extents, int processes, bool powers_of_two) {
    return all_partitions(extents, largest_product(extents, processes, powers_of_two));
}

}  // namespace einparallel
