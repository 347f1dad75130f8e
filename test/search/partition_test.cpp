// Counts and enumeration of partition vectors against brute force.

#include <plan/graphs.hpp>

#include <einparallel/plan/partitions.hpp>
#include <einparallel/search/partition.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace partition_test {

namespace {

using namespace einparallel;

static_assert(partition_count(6, 10) == 3003);
static_assert(partition_count(0, 0) == 1);
static_assert(partition_count(0, 3) == 0);
static_assert(partition_count(5, 0) == 1);
static_assert(partition_count(1, 7) == 1);
static_assert(partition_count(8, 10) == 19448);
static_assert(partitions<8, 10>.size() == 19448);
static_assert(partitions<3, 3>.front() == std::array<std::uint8_t, 3>{0, 0, 3});
static_assert(partitions<3, 3>.back() == std::array<std::uint8_t, 3>{3, 0, 0});
static_assert(partitions<0, 0>.size() == 1);
static_assert(partitions<0, 2>.empty());
static_assert(planned_processes(3, false) == 3);
static_assert(planned_processes(3, true) == 4);
static_assert(planned_processes(4, true) == 4);

template <std::size_t D, std::size_t N>
void compare_table() {
    INFO("D = " << D << ", N = " << N);
    REQUIRE(partitions<D, N>.size() == partition_count(D, N));
    std::vector<std::vector<int>> rows;
    for (const auto& exponents : partitions<D, N>) {
        rows.emplace_back();
        std::ranges::for_each(exponents, [&](std::uint8_t exponent) { rows.back().push_back(1 << exponent); });
    }
    CHECK(rows == test::vectors_by_trying(std::vector<index>(D, index{1} << N), 1 << N));
}

template <std::size_t D, std::size_t... N>
void compare_tables(std::index_sequence<N...>) {
    (compare_table<D, N>(), ...);
}

}  // namespace

TEST_CASE("the count is Pascal's triangle, and saturates instead of wrapping") {
    std::vector<std::vector<std::size_t>> pascal(60);
    for (std::size_t row = 0; row < pascal.size(); ++row) {
        pascal[row].assign(row + 1, 1);
        for (std::size_t column = 1; column < row; ++column) {
            pascal[row][column] = pascal[row - 1][column - 1] + pascal[row - 1][column];
        }
    }
    for (std::size_t labels = 1; labels < 30; ++labels) {
        for (std::size_t factors = 0; factors < 30; ++factors) {
            REQUIRE(partition_count(labels, factors) == pascal[labels + factors - 1][factors]);
        }
    }
    CHECK(partition_count(2, std::size_t{1} << 40) == (std::size_t{1} << 40) + 1);
    CHECK(partition_count(64, 200) == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("tables have every vector, in ascending order") {
    compare_tables<1>(std::make_index_sequence<8>());
    compare_tables<2>(std::make_index_sequence<8>());
    compare_tables<3>(std::make_index_sequence<6>());
    compare_tables<4>(std::make_index_sequence<5>());
}

TEST_CASE("the largest product is that of every vector that is tried, and of powers of two where they are asked for") {
    std::mt19937 engine(7);
    const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); };
    int smaller = 0;
    for (int trial = 0; trial < 400; ++trial) {
        std::vector<index> extents(static_cast<std::size_t>(between(0, 4)));
        for (index& extent : extents) {
            extent = between(0, 3) == 0 ? between(0, 3) : between(0, 20);
        }
        const int processes = between(1, 24);
        int product = processes;
        while (test::vectors_by_trying(extents, product).empty()) {
            --product;
        }
        REQUIRE(largest_product(extents, processes) == product);
        smaller += product < processes ? 1 : 0;
    }
    CHECK(smaller > 100);
    for (const auto& [processes, product] :
         std::vector<std::pair<int, int>>{{1, 1}, {3, 4}, {5, 8}, {8, 8}, {33, 64}}) {
        CHECK(largest_product(std::vector<index>{5, 3, 100}, processes, true) == product);
    }
    CHECK(largest_product(std::vector<index>{3, 3}, 16, true) == 4);
    CHECK(largest_product(std::vector<index>{3, 3}, 16, false) == 9);
}

TEST_CASE("extents that hardly can be cut") {
    CHECK(largest_product({}, 12) == 1);
    CHECK(largest_product(std::vector<index>{0, 1}, 12) == 1);
    CHECK(largest_product(std::vector<index>{7, 2, 0}, 12) == 12);
    CHECK(largest_product(std::vector<index>{5}, 7) == 5);
    CHECK(largest_product(std::vector<index>{5, 2}, 7) == 6);
}

}  // namespace partition_test
