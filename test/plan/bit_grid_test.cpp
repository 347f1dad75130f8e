// What moves between two evenly cut distributions, in closed form, against a count over all ranks' boxes.

#include "counted_traffic.hpp"

#include <einparallel/layout/distribution.hpp>
#include <einparallel/plan/bit_grid.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace bit_grid_test {

namespace {

using namespace einparallel;

struct cut_tensor {
    mesh ranks;
    std::vector<label_id> labels;
    std::size_t cut = 0;
};

}  // namespace

TEST_CASE("evenly cut powers of two") {
    std::mt19937 engine(5);
    const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); };
    int uneven = 0;
    int resting = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const int dimensions = between(0, 3);
        std::vector<index> bounds;
        for (int dimension = 0; dimension < dimensions; ++dimension) {
            bounds.push_back(index{1} << static_cast<unsigned>(between(0, 4)));
            bounds.back() *= between(1, 8) == 1 ? 3 : 1;
        }
        const auto any_cut = [&] {
            cut_tensor made;
            std::vector<int> axes;
            for (int label = 0; label < dimensions + 2; ++label) {
                axes.push_back(label);
            }
            std::shuffle(axes.begin(), axes.end(), engine);
            for (const int label : axes) {
                const int parts = 1 << between(0, 2);
                const bool fits = label >= dimensions || parts <= bounds[static_cast<std::size_t>(label)];
                if (parts > 1 && fits && made.ranks.size() * parts <= 16) {
                    made.ranks.axes.push_back({static_cast<label_id>(label), parts});
                }
            }
            for (int dimension = 0; dimension < dimensions; ++dimension) {
                made.labels.push_back(static_cast<label_id>(dimension));
            }
            made.cut = dimensions > 0 ? static_cast<std::size_t>(between(0, dimensions - 1)) : 0;
            return made;
        };
        const cut_tensor before = any_cut();
        const cut_tensor after = any_cut();
        const detail::bit_grid from(bounds, before.ranks, before.labels, before.cut);
        const detail::bit_grid to(bounds, after.ranks, after.labels, after.cut);
        if (!from.valid || !to.valid) {
            ++uneven;
            continue;
        }
        const detail::traffic wanted = test::counted({bounds, before.ranks, before.labels, before.cut},
                                                     {bounds, after.ranks, after.labels, after.cut});
        const detail::traffic found = detail::traffic_between(from, to);
        INFO("trial " << trial);
        REQUIRE(found.elements == wanted.elements);
        REQUIRE(found.busiest == wanted.busiest);
        REQUIRE(found.messages == wanted.messages);
        resting += wanted.elements == 0 ? 1 : 0;
    }
    CHECK(uneven > 100);
    CHECK(uneven < 2500);
    CHECK(resting > 50);
}

}  // namespace bit_grid_test
