#pragma once

#include <einparallel/plan/partition.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

/// Divisors of a number, ascending.
EINPARALLEL_INLINE std::vector<int> divisors_of(int number) {
    std::vector<int> divisors;
    for (int divisor = 1; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) {
            divisors.insert(divisors.end(), {divisor, number / divisor});
        }
    }
    sort_unique(divisors);
    return divisors;
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
    found.entries.reserve(found.count * found.labels);
    std::vector<int> row(extents.size());
    const auto place = [&](const auto& place_rest, std::size_t label, int left) -> void {
        if (label == row.size()) {
            found.entries.insert(found.entries.end(), row.begin(), row.end());
            return;
        }
        for (const int part : counts.divisors) {
            if (left % part == 0 && (part == 1 || part <= extents[label]) &&
                counts.ways[label + 1][counts.position_of(left / part)] > 0) {
                row[label] = part;
                place_rest(place_rest, label + 1, left / part);
            }
        }
    };
    if (found.count > 0) {
        place(place, 0, product);
    }
    return found;
}

EINPARALLEL_INLINE int largest_product(std::span<const index> extents, int processes, bool powers_of_two) {
    index capacity = 1;
    for (const index extent : extents) {
        capacity = std::min<index>(capacity * std::clamp<index>(extent, 1, index{1} << 30), index{1} << 30);
    }
    int product = planned_processes(processes, powers_of_two);
    product = powers_of_two ? product : static_cast<int>(std::min<index>(product, capacity));
    while (product > 1 && count_partitions(extents, product) == 0) {
        product = powers_of_two ? product / 2 : product - 1;
    }
    return product;
}

EINPARALLEL_INLINE partition_vectors viable(std::span<const index> extents, int processes, bool powers_of_two) {
    return all_partitions(extents, largest_product(extents, processes, powers_of_two));
}

}  // namespace einparallel
