// What moves between two distributions of any blocks, by their grids of cells, against a count over all pairs of boxes.

#include "counted_traffic.hpp"

#include <einparallel/layout/distribution.hpp>
#include <einparallel/plan/cell_grid.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace cell_grid_test {

namespace {

using namespace einparallel;

class random_distributions {
public:
    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

    /// Over a mesh: some axes cut, some replicate, a label may stand twice.
    distribution regular(const std::vector<index>& bounds, bool diagonal) {
        const int dimensions = static_cast<int>(bounds.size());
        mesh ranks;
        for (int label = 0; label < dimensions + 2; ++label) {
            const int parts = between(1, 4);
            if (parts > 1 && ranks.size() * parts <= 24) {
                ranks.axes.push_back({static_cast<label_id>(label), parts});
            }
        }
        std::shuffle(ranks.axes.begin(), ranks.axes.end(), engine_);
        std::vector<label_id> labels;
        for (int dimension = 0; dimension < dimensions; ++dimension) {
            labels.push_back(static_cast<label_id>(diagonal && dimension == 1 ? 0 : dimension));
        }
        return {bounds, ranks, labels, dimensions > 0 ? static_cast<std::size_t>(between(0, dimensions - 1)) : 0};
    }

    /// Slabs of any height in any order of the ranks, some of them empty.
    distribution slabs(const std::vector<index>& bounds) {
        std::vector<box> boxes(static_cast<std::size_t>(between(1, 7)), whole_box(bounds));
        index begin = 0;
        std::vector<std::size_t> order(boxes.size());
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            order[rank] = rank;
        }
        std::shuffle(order.begin(), order.end(), engine_);
        for (std::size_t place = 0; place < order.size(); ++place) {
            const index left = bounds.front() - begin;
            const index height = place + 1 == order.size() ? left : between(0, static_cast<int>(left));
            boxes[order[place]].sides.front() = {begin, begin + height};
            begin += height;
        }
        return {bounds, boxes};
    }

private:
    std::mt19937 engine_{17};
};

double missing(const distribution& from, const distribution& to) {
    double elements = 0;
    for (int rank = 0; rank < to.holders(); ++rank) {
        const box wanted = to.held_by(rank);
        elements += static_cast<double>(wanted.size());
        if (rank < from.holders()) {
            elements -= static_cast<double>(intersect(from.held_by(rank), wanted).size());
        }
    }
    return elements;
}

}  // namespace

TEST_CASE("uneven blocks, pieces, diagonals and an application's slabs") {
    random_distributions random;
    detail::cell_traffic counter;
    int invalid = 0;
    int diagonals = 0;
    int slabs = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        std::vector<index> bounds;
        for (int dimension = random.between(0, 3); dimension > 0; --dimension) {
            bounds.push_back(random.between(trial % 16 == 0 ? 0 : 1, 11));
        }
        const bool diagonal = bounds.size() > 1 && random.between(0, 4) == 0;
        if (diagonal) {
            bounds[1] = bounds[0];
        }
        const auto any = [&] {
            if (!bounds.empty() && random.between(0, 4) == 0) {
                ++slabs;
                return random.slabs(bounds);
            }
            return random.regular(bounds, diagonal);
        };
        const distribution before = any();
        const distribution after = any();
        const detail::cell_grid from = detail::cells_of(before);
        const detail::cell_grid to = detail::cells_of(after);
        if (!from.valid || !to.valid) {
            ++invalid;
            continue;
        }
        diagonals += diagonal ? 1 : 0;
        const detail::traffic wanted = test::counted(before, after);
        const detail::traffic found = counter.between(from, to);
        INFO("trial " << trial);
        REQUIRE(found.elements == wanted.elements);
        REQUIRE(found.busiest == wanted.busiest);
        REQUIRE(found.messages == wanted.messages);
        REQUIRE(detail::moved_between(from, to) == missing(before, after));
    }
    CHECK(invalid < 400);
    CHECK(diagonals > 100);
    CHECK(slabs > 500);
}

}  // namespace cell_grid_test
