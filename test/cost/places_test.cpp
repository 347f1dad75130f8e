// What moves between two places of a tensor, against a count over all pairs of boxes.

#include <cost/counted_traffic.hpp>

#include <einparallel/cost/places.hpp>
#include <einparallel/layout/distribution.hpp>

#include <support/random_levels.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace places_test {

namespace {

using namespace einparallel;
using detail::place_id;
using detail::traffic;

/// Places of tensors over meshes with random cuts.
class random_places {
public:
    explicit random_places(unsigned seed) : engine_(seed) {}

    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

    struct regular {
        mesh ranks;
        std::vector<label_id> labels;
        std::size_t cut = 0;
    };

    /// Some axes cut, some replicate; no dimension is cut finer than its extent. A label may stand twice.
    regular any(const std::vector<index>& bounds, int most_ranks, bool powers, bool diagonal) {
        regular made;
        const int dimensions = static_cast<int>(bounds.size());
        for (int dimension = 0; dimension < dimensions; ++dimension) {
            made.labels.push_back(static_cast<label_id>(diagonal && dimension == 1 ? 0 : dimension));
        }
        for (int label = 0; label < dimensions + 2; ++label) {
            const int parts = powers ? 1 << between(0, 3) : between(1, 5);
            const bool cuts = std::ranges::find(made.labels, label) != made.labels.end();
            if (parts > 1 && made.ranks.size() * parts <= most_ranks &&
                (!cuts || parts <= bounds[static_cast<std::size_t>(label)])) {
                made.ranks.axes.push_back({static_cast<label_id>(label), parts});
            }
        }
        std::shuffle(made.ranks.axes.begin(), made.ranks.axes.end(), engine_);
        made.cut = dimensions > 0 ? static_cast<std::size_t>(between(0, dimensions - 1)) : 0;
        return made;
    }

    std::vector<index> bounds(bool even, bool square) {
        std::vector<index> made(static_cast<std::size_t>(between(1, 3)));
        for (index& bound : made) {
            bound = even ? 4096 : between(5, 40);
        }
        if (square && made.size() > 1) {
            made[1] = made[0];
        }
        return made;
    }

private:
    std::mt19937 engine_;
};

struct two_places {
    distribution from;
    distribution to;
    place_id first = 0;
    place_id second = 0;
};

two_places any_two(random_places& random, detail::place_table& table, int most_ranks, bool powers, bool even,
                   bool diagonal) {
    const std::vector<index> bounds = random.bounds(even, diagonal);
    const auto a = random.any(bounds, most_ranks, powers, false);
    const auto b = random.any(bounds, most_ranks, powers, diagonal && bounds.size() > 1);
    return {distribution(bounds, a.ranks, a.labels, a.cut), distribution(bounds, b.ranks, b.labels, b.cut),
            table.exact(bounds, a.ranks, a.labels, a.cut), table.exact(bounds, b.ranks, b.labels, b.cut)};
}

void check_equal(const traffic& made, const traffic& expected) {
    CHECK(made.elements == expected.elements);
    CHECK(made.busiest == expected.busiest);
    CHECK(made.messages == expected.messages);
}

}  // namespace

TEST_CASE("what moves between any two places of few ranks is what all pairs of boxes say") {
    random_places random(1);
    detail::place_table table;
    for (int trial = 0; trial < 3000; ++trial) {
        const two_places pair = any_two(random, table, 24, trial % 3 == 0, trial % 5 == 0, trial % 4 == 0);
        const traffic expected = test::counted(pair.from, pair.to);
        INFO("trial " << trial);
        check_equal(table.between(pair.first, pair.second), expected);
        check_equal(table.counted(pair.first, pair.second), expected);
    }
}

TEST_CASE("what leaves nodes and switches is what all pairs of boxes say, on any levels") {
    random_places random(21);
    test::random_machines machines(22);
    int crossings = 0;
    int in_closed_form = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const bool powers = trial % 3 != 0;
        const int ranks = powers ? 32 : 24;
        const machine on = powers && trial % 2 == 0 ? machines.any(ranks, true) : machines.any(ranks, trial % 4 == 0);
        detail::place_table table(on);
        const rank_groups& groups = table.on().groups();
        const bool even = trial % 5 < 3;
        const two_places pair = any_two(random, table, ranks, powers, even, false);
        const traffic found = table.between(pair.first, pair.second);
        INFO("trial " << trial);
        for (std::size_t level = 0; level < groups.levels(); ++level) {
            const detail::crossing expected = test::counted_beyond(pair.from, pair.to, groups, level);
            const detail::crossing here = found.elements > 0 ? found.crossings.at(level) : detail::crossing{};
            CHECK(here.elements == expected.elements);
            CHECK(here.busiest == expected.busiest);
            CHECK(here.of_rank == expected.of_rank);
            crossings += expected.elements > 0 ? 1 : 0;
            in_closed_form += expected.elements > 0 && powers && even && detail::are_binary(groups) ? 1 : 0;
        }
    }
    CHECK(crossings > 2000);
    CHECK(in_closed_form > 300);
}

TEST_CASE("of many ranks the count is exact, and the closed form where powers of two divide") {
    random_places random(2);
    detail::place_table table;
    for (int trial = 0; trial < 200; ++trial) {
        const bool even = trial % 2 == 0;
        const two_places pair = any_two(random, table, 256, trial % 4 != 3, even, false);
        const traffic expected = test::counted(pair.from, pair.to);
        INFO("trial " << trial);
        check_equal(table.counted(pair.first, pair.second), expected);
        if (even && trial % 4 != 3) {
            check_equal(table.between(pair.first, pair.second), expected);
        }
    }
}

TEST_CASE("diagonals over many ranks are counted box by box") {
    detail::place_table table;
    const distribution whole({64, 64}, {{{0, 64}}}, {0, 1}, 0);
    const distribution diagonal({64, 64}, {{{0, 64}}}, {0, 0}, 0);
    const place_id from = table.exact({64, 64}, {{{0, 64}}}, {0, 1}, 0);
    const place_id to = table.exact({64, 64}, {{{0, 64}}}, {0, 0}, 0);
    CHECK(table.between(from, to) == test::counted(whole, diagonal));
    CHECK(table.between(to, from) == test::counted(diagonal, whole));
}

TEST_CASE("a regular place knows its parts, whatever irregular one has the same boxes") {
    detail::place_table table;
    const place_id given = table.exact(held_by_one({4, 6}, 0));
    CHECK(table.exact(held_by_one({4, 6}, 0)) == given);
    CHECK(table.exact(held_by_one({4, 6}, 1)) != given);
    CHECK(table.parts(table.on_rank({4, 6}, 0)) == std::vector<int>{1, 1});
    CHECK(table.between(given, table.on_rank({4, 6}, 0)).elements == 0);
    CHECK(table.exact(held_by_one({}, 1)) != table.exact(held_by_one({}, 2)));  // no sides, other ranks
    // What ranks read at functions of labels may lie as a mesh cuts it.
    const distribution cut({4, 6}, {{{1, 3}}}, {0, 1}, 0);
    const std::vector<box> boxes{cut.held_by(0), cut.held_by(1), cut.held_by(2)};
    const place_id listed = table.exact(distribution({4, 6}, boxes), given);
    CHECK(table.exact({4, 6}, {{{1, 3}}}, {0, 1}, 0) == listed);
    CHECK(table.whole_of(listed) == listed);
}

TEST_CASE("irregular places are counted box by box") {
    random_places random(4);
    for (int trial = 0; trial < 300; ++trial) {
        detail::place_table table;
        const std::vector<index> bounds = random.bounds(false, false);
        const auto a = random.any(bounds, 24, false, false);
        const distribution regular(bounds, a.ranks, a.labels, a.cut);
        const place_id here = table.exact(bounds, a.ranks, a.labels, a.cut);
        const distribution root = held_by_one(bounds, random.between(0, 5));
        check_equal(table.between(table.exact(root), here), test::counted(root, regular));
        check_equal(table.counted(table.exact(root), here), test::counted(root, regular));
    }
}

TEST_CASE("places that put the same boxes on the same ranks are one") {
    detail::place_table table;
    const std::vector<index> bounds{8, 8};
    const place_id rows = table.exact(bounds, mesh{{{0, 4}}}, {0, 1}, 0);
    CHECK(rows == table.exact(bounds, mesh{{{7, 4}}}, {7, 1}, 1));
    CHECK(rows != table.exact(bounds, mesh{{{1, 4}}}, {0, 1}, 0));
    const place_id diagonal = table.exact(bounds, mesh{{{0, 4}}}, {0, 0}, 0);
    CHECK(table.whole_of(diagonal) == rows);
    CHECK(table.whole_of(rows) == rows);
    const place_id empty = table.exact({0, 0}, mesh{{{0, 2}}}, {0, 0}, 0);  // not on the diagonal is as much
    CHECK(table.whole_of(empty) == empty);
    CHECK(table.bounds(empty) == std::vector<index>{0, 0});
}

}  // namespace places_test
