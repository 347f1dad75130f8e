#pragma once
// Partition vectors: how many there are, tables of them at compile time, and all that are viable for given extents.

#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace einparallel {

/// Ways to place N factors of two on D unique labels: (N + D − 1)! / (N! (D − 1)!), EinDecomp §8.1. (0, 0) gives 1 and
/// (0, N) gives 0. The largest value of std::size_t stands for everything that does not fit into one.
constexpr std::size_t partition_count(std::size_t labels, std::size_t factors) {
    if (labels == 0) {
        return factors == 0 ? 1 : 0;
    }
    constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
    const std::size_t chosen = std::min(factors, labels - 1);
    const std::size_t rest = std::max(factors, labels - 1);
    std::size_t count = 1;  // invariant: binomial(rest + step - 1, step - 1)
    for (std::size_t step = 1; step <= chosen; ++step) {
        const std::size_t common = std::gcd(count, step);
        count /= common;
        const std::size_t factor = (rest + step) / (step / common);  // exact: what is left of step divides rest + step
        if (count > largest / factor) {
            return largest;
        }
        count *= factor;
    }
    return count;
}

namespace detail {

/// Rows that a table may have: clang 14 and nvcc 13 evaluate up to here with their default limits (8 labels and 1,024
/// ranks are 19,448 rows).
inline constexpr std::size_t partition_table_limit = 20'000;

template <std::size_t Labels, std::size_t Factors>
constexpr auto make_partitions() {
    constexpr std::size_t count = partition_count(Labels, Factors);
    static_assert(Factors <= 255, "partitions: the exponents are 8-bit numbers, at most 255 factors of two");
    static_assert(count <= partition_table_limit,
                  "partitions: more than 20,000 partition vectors are too many for a table that compilers build with "
                  "their default limits; enumerate them at run time with viable()");
    constexpr bool fits = Factors <= 255 && count <= partition_table_limit;
    std::array<std::array<std::uint8_t, Labels>, fits ? count : 0> rows{};
    if constexpr (fits && Labels > 0) {
        std::array<std::uint8_t, Labels> row{};
        row[Labels - 1] = static_cast<std::uint8_t>(Factors);
        std::size_t last = Labels - 1;  // the last label with a factor
        for (std::size_t number = 0;;) {
            rows[number] = row;
            if (++number == count) {
                break;
            }
            // The next row in lexicographic order: one factor goes to the label before, the rest of them to the end.
            const std::uint8_t moved = row[last];
            row[last] = 0;
            ++row[last - 1];
            row[Labels - 1] = static_cast<std::uint8_t>(moved - 1);
            last = moved > 1 ? Labels - 1 : last - 1;
        }
    }
    return rows;
}

/// Divisors of a number, ascending.
template <class Lazy = void>
std::vector<int> divisors_of(int number) {
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
template <class Lazy = void>
struct placement_counts {
    std::vector<int> divisors;
    std::vector<std::vector<std::size_t>> ways;

    placement_counts(std::span<const index> extents, int product) : divisors(divisors_of(product)) {
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

    [[nodiscard]] std::size_t position_of(int divisor) const {
        return static_cast<std::size_t>(std::lower_bound(divisors.begin(), divisors.end(), divisor) - divisors.begin());
    }
    [[nodiscard]] std::size_t total() const { return ways.front().back(); }
};

}  // namespace detail

/// All exponents of two with sum N over D labels, in ascending lexicographic order: the partition vectors for 2^N
/// ranks. A value, computed at compile time; a sentence of ours speaks before a compiler's limit does.
template <std::size_t D, std::size_t N>
inline constexpr auto partitions = detail::make_partitions<D, N>();

/// Partition vectors of one einsum, by unique label, in ascending lexicographic order.
struct partition_vectors {
    int product = 1;           ///< ∏d of every vector
    std::size_t labels = 0;    ///< entries of each vector
    std::size_t count = 0;     ///< number of vectors
    std::vector<int> entries;  ///< one vector after the other

    [[nodiscard]] std::size_t size() const { return count; }
    [[nodiscard]] std::span<const int> operator[](std::size_t number) const {
        return std::span<const int>(entries).subspan(number * labels, labels);
    }
};

/// Number of partition vectors with ∏d = product where no label is cut finer than its extent (an extent of 0 or 1 is
/// not cut). @pre product >= 1
template <class Lazy = void>
[[nodiscard]] std::size_t count_partitions(std::span<const index> extents, int product) {
    return detail::placement_counts<Lazy>(extents, product).total();
}

/// All partition vectors with ∏d = product where no label is cut finer than its extent. @pre product >= 1
template <class Lazy = void>
[[nodiscard]] partition_vectors all_partitions(std::span<const index> extents, int product) {
    const detail::placement_counts<Lazy> counts(extents, product);
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

/// Ranks that the planner counts with: `processes`, or the next power of two as in the paper.
/// @pre 1 <= processes <= 2^30
[[nodiscard]] constexpr int planned_processes(int processes, bool powers_of_two) {
    return powers_of_two ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(processes))) : processes;
}

/// The largest number of ranks, at most `processes`, that extents like these can be cut over: the largest q for which
/// a partition vector with ∏d = q exists. Ranks beyond it idle in the vertex. With `powers_of_two` the processes are
/// rounded up and every entry is a power of two. @pre processes >= 1
template <class Lazy = void>
[[nodiscard]] int largest_product(std::span<const index> extents, int processes, bool powers_of_two = false) {
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

/// viable(v, p): all partition vectors with ∏d = q, where q is the largest number ≤ p that has one for these extents
/// (by unique label). The factors of p are placed prime by prime, so 12 = 2·2·3 cuts 4 × 3 as well as 6 × 2.
/// @pre processes >= 1
template <class Lazy = void>
[[nodiscard]] partition_vectors viable(std::span<const index> extents, int processes, bool powers_of_two = false) {
    return all_partitions(extents, largest_product(extents, processes, powers_of_two));
}

}  // namespace einparallel
