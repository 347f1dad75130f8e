#pragma once
// Partition vectors: how many there are, and tables of them at compile time.

#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace einparallel {

/// The number of ways to distribute N = `factors` factors of two over D = `labels` labels (EinDecomp §8.1). It is (N +
/// D − 1)! / (N! (D − 1)!). Without labels it is 1 for no factors, otherwise 0. The largest value of std::size_t stands
/// for every number that does not fit into one.
constexpr std::size_t partition_count(std::size_t labels, std::size_t factors) {
    if (labels == 0) {
        return factors == 0 ? 1 : 0;
    }
    constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
    const std::size_t chosen = factors < labels ? factors : labels - 1;
    const std::size_t rest = factors + (labels - 1) - chosen;
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

namespace EINPARALLEL_DETAIL {

/// The most rows that a table may have. Up to this number clang 14 and nvcc 13 evaluate it with their default limits (8
/// labels and 1,024 ranks take 19,448 rows).
inline constexpr std::size_t partition_table_limit = 20'000;

template <std::size_t Labels, std::size_t Factors>
constexpr auto make_partitions() {
    constexpr std::size_t count = partition_count(Labels, Factors);
    static_assert(Factors <= 255, "partitions: the exponents are 8-bit numbers, at most 255 factors of two");
    static_assert(count <= partition_table_limit,
                  "partitions: more than 20,000 partition vectors are too many for a table that compilers build with "
                  "their default limits");
    constexpr bool fits = Factors <= 255 && count <= partition_table_limit;
    std::array<std::array<std::uint8_t, Labels>, fits ? count : 0> rows{};
    if constexpr (fits && Labels > 0) {
        rows.front().back() = std::uint8_t(Factors);
        std::size_t last = Labels - 1;  // the last label with a factor
        for (std::size_t number = 1; number < count; ++number) {
            // The next row in lexicographic order: one factor goes to the label before, the rest of them to the end.
            std::array<std::uint8_t, Labels>& row = rows[number] = rows[number - 1];
            const std::uint8_t moved = std::exchange(row[last], std::uint8_t{0});
            ++row[last - 1];
            row.back() = std::uint8_t(moved - 1);
            last = moved > 1 ? Labels - 1 : last - 1;
        }
    }
    return rows;
}

}  // namespace EINPARALLEL_DETAIL

/// The partition vectors for 2^N ranks, computed at compile time: one row for each way to choose D exponents of two
/// whose sum is N, in ascending lexicographic order. A static_assert explains tables that are too large, before a
/// compiler reaches its limit.
template <std::size_t D, std::size_t N>
inline constexpr auto partitions = detail::make_partitions<D, N>();

}  // namespace einparallel
