// Redistribution between any two distributions, all ranks played in one process.

#include "random_task.hpp"

#include <einparallel/schedule/redistribute.hpp>

#include <support/check_programs.hpp>
#include <support/play.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace {

using namespace einparallel;
using namespace einparallel::testing;

/// Splits a box along random dimensions into boxes for `ranks` ranks, some of them empty, in random order of ranks.
distribution random_boxes(const std::vector<index>& bounds, int ranks, random_tasks& random) {
    std::vector<box> boxes(static_cast<std::size_t>(ranks), no_box(bounds.size()));
    std::vector<box> parts{whole_box(bounds)};
    while (!bounds.empty() && static_cast<int>(parts.size()) < ranks && !random.one_in(5)) {
        const auto chosen = static_cast<std::size_t>(random.between(0, static_cast<int>(parts.size()) - 1));
        const auto dimension = static_cast<std::size_t>(random.between(0, static_cast<int>(bounds.size()) - 1));
        box rest = parts[chosen];
        interval& side = parts[chosen].sides[dimension];
        const index at = random.between(static_cast<int>(side.begin), static_cast<int>(side.end));
        side.end = at;
        rest.sides[dimension].begin = at;
        parts.push_back(rest);
    }
    for (const box& part : parts) {
        std::size_t rank = static_cast<std::size_t>(random.between(0, ranks - 1));
        while (boxes[rank] != no_box(bounds.size())) {
            rank = (rank + 1) % boxes.size();
        }
        boxes[rank] = part;
    }
    return {bounds, boxes};
}

/// Any distribution of a tensor with these bounds on at most 12 ranks: boxes as they come, one holder, or a mesh.
distribution random_distribution(const std::vector<index>& bounds, random_tasks& random) {
    if (random.one_in(4)) {
        return random_boxes(bounds, random.between(1, 12), random);
    }
    if (random.one_in(6)) {
        return held_by_one(bounds, random.between(0, 5));
    }
    std::vector<label_id> labels;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        labels.push_back(static_cast<label_id>(dimension));
    }
    return {bounds, random.ranks(bounds.size() + 1), labels, random.any_cut(labels)};
}

double value_at(const std::vector<index>& bounds, const std::vector<index>& point) {
    double value = 1;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        value = value * 8 + static_cast<double>(point[dimension]);
    }
    return value;
}

/// The elements of a box in row-major order.
std::vector<double> values_in(const std::vector<index>& bounds, const box& region) {
    std::vector<double> values;
    for_each_point(region, [&](const std::vector<index>& point) { values.push_back(value_at(bounds, point)); });
    return values;
}

}  // namespace

TEST_CASE("from any distribution to any other: every element arrives, only what is wanted is sent, once") {
    random_tasks random(7);
    int moved = 0;
    int stayed = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        std::vector<index> bounds;
        for (int dimension = random.between(0, 4); dimension > 0; --dimension) {
            bounds.push_back(random.one_in(30) ? 0 : random.between(1, 7));
        }
        const distribution from = random_distribution(bounds, random);
        const distribution to = random.one_in(10) ? from : random_distribution(bounds, random);
        const int world = std::max(from.holders(), to.holders());

        std::vector<program> programs;
        std::size_t wanted_elsewhere = 0;
        for (int rank = 0; rank < world; ++rank) {
            program mine;
            const buffer_id resting = mine.add_buffer(from.held_by(rank), sizeof(double));
            if (!from.held_by(rank).empty()) {
                mine.steps.push_back({0, {}, {}, {read_source{0, resting}}});
            }
            mine.results = {schedule_redistribution(mine, from, to, rank, resting, 1)};
            if (from.held_by(rank) == to.held_by(rank)) {
                REQUIRE(mine.results[0] == resting);
            }
            REQUIRE((mine.steps.empty() || mine.steps.back().phase <= (from == to ? 0U : 1U)));
            wanted_elsewhere += static_cast<std::size_t>(to.held_by(rank).size() -
                                                         intersect(from.held_by(rank), to.held_by(rank)).size());
            programs.push_back(std::move(mine));
        }
        const std::vector<played_vertex> vertices{{{}, nullptr, [&](const box& region, double* destination) {
                                                       for (const double value : values_in(bounds, region)) {
                                                           *destination++ = value;
                                                       }
                                                   }}};
        const einsum_form none;
        REQUIRE(check_programs(programs, [&](std::size_t) -> const einsum_form& { return none; }) == "");
        std::vector<played_memory> memories = play(programs, vertices, random.one_in(2));
        std::size_t sent = 0;
        for (int rank = 0; rank < world; ++rank) {
            const auto position = static_cast<std::size_t>(rank);
            sent += bytes_sent(programs[position]);
            REQUIRE(memories[position].pack(programs[position].results[0], to.held_by(rank)) ==
                    values_in(bounds, to.held_by(rank)));
        }
        REQUIRE(sent == wanted_elsewhere * sizeof(double));
        moved += sent > 0 ? 1 : 0;
        stayed += from == to ? 1 : 0;
    }
    MESSAGE(moved << " pairs moved data, " << stayed << " were equal");
    CHECK(moved > 1500);
    CHECK(stayed > 300);
}

TEST_CASE("scatter from a root: one message for every other rank, nothing twice") {
    const std::vector<index> bounds{10, 6};
    const distribution to(bounds, mesh{{{0, 3}, {1, 2}}}, {0, 1}, 0);
    for (int rank = 0; rank < 6; ++rank) {
        program mine;
        const distribution from = held_by_one(bounds, 4);
        const buffer_id resting = mine.add_buffer(from.held_by(rank), 8);
        const buffer_id part = schedule_redistribution(mine, from, to, rank, resting, 0);
        REQUIRE(mine.steps.size() == 1);
        CHECK(mine.steps[0].sends.size() == (rank == 4 ? 5U : 0U));
        CHECK(mine.steps[0].receives.size() == (rank == 4 ? 0U : 1U));
        CHECK(mine.buffers[static_cast<std::size_t>(part)].region == to.held_by(rank));
    }
}
