// Counts and enumeration of partition vectors against brute force.

#include "graphs.hpp"

#include <einparallel/plan/partition.hpp>

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

std::vector<std::vector<int>> rows_of(const partition_vectors& vectors) {
    std::vector<std::vector<int>> rows;
    for (std::size_t row = 0; row < vectors.size(); ++row) {
        rows.emplace_back(vectors[row].begin(), vectors[row].end());
    }
    return rows;
}

bool is_power_of_two(int number) {
    return (number & (number - 1)) == 0;
}

template <std::size_t D, std::size_t N>
void compare_table() {
    INFO("D = " << D << ", N = " << N);
    REQUIRE(partitions<D, N>.size() == partition_count(D, N));
    const std::vector<index> unlimited(D, index{1} << 40);
    const partition_vectors rows = viable(unlimited, 1 << N);
    if (D == 0) {
        return;  // no label: one vector without entries, for one rank only
    }
    REQUIRE(rows.size() == partitions<D, N>.size());
    bool equal = true;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t label = 0; label < D; ++label) {
            equal = equal && rows[row][label] == 1 << partitions<D, N>[row][label];
        }
    }
    CHECK(equal);
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

TEST_CASE("tables and enumeration agree, in the same order") {
    compare_tables<0>(std::make_index_sequence<2>());
    compare_tables<1>(std::make_index_sequence<11>());
    compare_tables<2>(std::make_index_sequence<11>());
    compare_tables<3>(std::make_index_sequence<11>());
    compare_tables<4>(std::make_index_sequence<11>());
    compare_tables<5>(std::make_index_sequence<11>());
    compare_tables<6>(std::make_index_sequence<11>());
    compare_tables<7>(std::make_index_sequence<11>());
    compare_tables<8>(std::make_index_sequence<11>());
}

TEST_CASE("viable is every vector of the largest product that has one") {
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
        const partition_vectors found = viable(extents, processes);
        REQUIRE(found.product == product);
        REQUIRE(rows_of(found) == test::vectors_by_trying(extents, product));
        REQUIRE(count_partitions(extents, product) == found.size());
        smaller += product < processes ? 1 : 0;
    }
    CHECK(smaller > 100);
}

TEST_CASE("powers of two: p is rounded up, every entry is a power of two") {
    const std::vector<index> extents{5, 3, 100};
    for (const auto& [processes, product] :
         std::vector<std::pair<int, int>>{{1, 1}, {3, 4}, {5, 8}, {8, 8}, {33, 64}}) {
        const partition_vectors found = viable(extents, processes, true);
        CHECK(found.product == product);
        for (const std::vector<int>& row : rows_of(found)) {
            for (std::size_t label = 0; label < row.size(); ++label) {
                CHECK(is_power_of_two(row[label]));
                CHECK(row[label] <= extents[label]);
            }
        }
    }
    CHECK(viable(std::vector<index>{3, 3}, 16, true).product == 4);
    CHECK(viable(std::vector<index>{3, 3}, 16, false).product == 9);
}

TEST_CASE("twelve ranks are placed prime by prime") {
    const std::vector<std::vector<int>> rows = rows_of(viable(std::vector<index>{100, 100}, 12));
    CHECK(rows == std::vector<std::vector<int>>{{1, 12}, {2, 6}, {3, 4}, {4, 3}, {6, 2}, {12, 1}});
}

TEST_CASE("extents that hardly can be cut") {
    CHECK(rows_of(viable({}, 12)) == std::vector<std::vector<int>>{{}});
    CHECK(rows_of(viable(std::vector<index>{0, 1}, 12)) == std::vector<std::vector<int>>{{1, 1}});
    CHECK(viable(std::vector<index>{7, 2, 0}, 12).product == 12);
    CHECK(viable(std::vector<index>{5}, 7).product == 5);
    CHECK(viable(std::vector<index>{5, 2}, 7).product == 6);
}

}  // namespace partition_test
