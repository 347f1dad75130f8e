// Distributions against a definition element by element, and their own promises.

#include <einparallel/layout/distribution.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using namespace einparallel;

/// The part of `parts` that index `at` of `bound` falls into, counted off: 14 over 4 is 4,4,3,3.
int part_of(index at, index bound, int parts) {
    int part = 0;
    for (index end = 0;; ++part) {
        end += bound / parts + (part < bound % parts ? 1 : 0);
        if (at < end) {
            return part;
        }
    }
}

/// First index of the part that `at` falls into, and the part's length, counted off.
interval part_around(index at, index bound, int parts) {
    interval found{at, at + 1};
    while (found.begin > 0 && part_of(found.begin - 1, bound, parts) == part_of(at, bound, parts)) {
        --found.begin;
    }
    while (found.end < bound && part_of(found.end, bound, parts) == part_of(at, bound, parts)) {
        ++found.end;
    }
    return found;
}

struct layout_case {
    std::vector<index> bounds;
    mesh ranks;
    std::vector<label_id> labels;
    std::size_t cut = 0;

    [[nodiscard]] bool has(label_id label) const { return std::ranges::find(labels, label) != labels.end(); }

    /// Coordinate of `rank` along an axis: the axes behind it are run through first.
    [[nodiscard]] int coordinate(int rank, std::size_t axis) const {
        for (std::size_t inner = axis + 1; inner < ranks.axes.size(); ++inner) {
            rank /= ranks.axes[inner].parts;
        }
        return rank % ranks.axes[axis].parts;
    }

    /// True where `rank` computes with the element at `point`.
    [[nodiscard]] bool wants(int rank, const std::vector<index>& point) const {
        for (std::size_t axis = 0; axis < ranks.axes.size(); ++axis) {
            for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
                if (labels[dimension] == ranks.axes[axis].label &&
                    part_of(point[dimension], bounds[dimension], ranks.axes[axis].parts) != coordinate(rank, axis)) {
                    return false;
                }
            }
        }
        return true;
    }

    /// True where `rank` holds the element at `point` at rest.
    [[nodiscard]] bool holds(int rank, const std::vector<index>& point) const {
        int pieces = 1;
        int number = 0;
        for (std::size_t axis = 0; axis < ranks.axes.size(); ++axis) {
            if (!has(ranks.axes[axis].label)) {
                pieces *= ranks.axes[axis].parts;
                number = number * ranks.axes[axis].parts + coordinate(rank, axis);
            }
        }
        if (!wants(rank, point)) {
            return false;
        }
        if (labels.empty()) {
            return number == 0;
        }
        const interval block = part_around(point[cut], bounds[cut], ranks.parts(labels[cut]));
        return part_of(point[cut] - block.begin, block.size(), pieces) == number;
    }
};

bool holds(const box& region, const std::vector<index>& point) {
    bool inside = !region.nothing;
    for (std::size_t dimension = 0; dimension < point.size(); ++dimension) {
        inside = inside && region.sides[dimension].begin <= point[dimension] &&
                 point[dimension] < region.sides[dimension].end;
    }
    return inside;
}

template <class Visit>
void for_each_element(const std::vector<index>& bounds, Visit visit) {
    index count = 1;
    for (const index bound : bounds) {
        count *= bound;
    }
    std::vector<index> point(bounds.size());
    for (index number = 0; number < count; ++number) {
        index rest = number;
        for (std::size_t dimension = bounds.size(); dimension-- > 0;) {
            point[dimension] = rest % bounds[dimension];
            rest /= bounds[dimension];
        }
        visit(point);
    }
}

class random_layouts {
public:
    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

    layout_case any() {
        layout_case made;
        const int dimensions = between(0, 4);
        for (int dimension = 0; dimension < dimensions; ++dimension) {
            made.labels.push_back(static_cast<label_id>(between(-1, 4)));
            made.bounds.push_back(made.labels.back() == no_label ? 1 : between(0, 7));
        }
        for (std::size_t a = 0; a < made.labels.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                made.bounds[a] = made.labels[a] == made.labels[b] ? made.bounds[b] : made.bounds[a];
            }
        }
        std::vector<label_id> axes{0, 1, 2, 3, 4, 5};
        std::shuffle(axes.begin(), axes.end(), engine_);
        for (int axis = between(0, 3); axis > 0; --axis) {
            made.ranks.axes.push_back({axes[static_cast<std::size_t>(axis)], between(2, 5)});
        }
        made.cut = dimensions == 0 ? 7 : static_cast<std::size_t>(between(0, dimensions - 1));
        return made;
    }

private:
    std::mt19937 engine_{11};
};

}  // namespace

TEST_CASE("regular distributions, element by element") {
    random_layouts random;
    int replicated = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const layout_case made = random.any();
        const distribution resting(made.bounds, made.ranks, made.labels, made.cut);
        REQUIRE(resting.holders() == made.ranks.size());
        replicated += resting.replication() > 1 ? 1 : 0;
        for (int rank = 0; rank < resting.holders(); ++rank) {
            const box held = resting.held_by(rank);
            const box block = resting.block_of_rank(rank);
            bool equal = true;
            for_each_element(made.bounds, [&](const std::vector<index>& point) {
                equal = equal && holds(held, point) == made.holds(rank, point) &&
                        holds(block, point) == made.wants(rank, point);
            });
            REQUIRE(equal);
            // Replicas: those with the same block, each at its own number, and their pieces make up the block.
            const std::vector<int> group = resting.replicas(rank);
            REQUIRE(static_cast<int>(group.size()) == resting.replication());
            index together = 0;
            for (std::size_t number = 0; number < group.size(); ++number) {
                REQUIRE(resting.replica_number(group[number]) == static_cast<int>(number));
                REQUIRE(resting.block_of_rank(group[number]) == block);
                REQUIRE(resting.replicas(group[number]) == group);
                REQUIRE(contains(block, resting.held_by(group[number])));
                together += resting.held_by(group[number]).size();
            }
            REQUIRE(std::ranges::find(group, rank) != group.end());
            REQUIRE(together == block.size());
            for (std::size_t dimension = 0; dimension < made.bounds.size(); ++dimension) {
                REQUIRE(block.sides[dimension].size() <= resting.largest_block_extent(dimension));
            }
        }
        REQUIRE(resting.held_by(resting.holders()).empty());
        REQUIRE(resting.block_of_rank(resting.holders() + 5).empty());
        REQUIRE(resting.cut().has_value() == (resting.replication() > 1 && !made.bounds.empty()));
    }
    CHECK(replicated > 200);
}

TEST_CASE("the ranks that meet a box are those whose own box does") {
    random_layouts random;
    for (int trial = 0; trial < 600; ++trial) {
        const layout_case made = random.any();
        const distribution regular(made.bounds, made.ranks, made.labels, made.cut);
        std::vector<box> boxes;
        for (int rank = 0; rank < regular.holders(); ++rank) {
            boxes.push_back(regular.held_by(rank));
        }
        const distribution irregular(made.bounds, boxes);
        box region = whole_box(made.bounds);
        for (interval& side : region.sides) {
            side.begin = random.between(0, static_cast<int>(side.end));
            side.end = random.between(static_cast<int>(side.begin), static_cast<int>(side.end));
        }
        region.nothing = random.between(0, 9) == 0;
        std::vector<int> met;
        for (int rank = 0; rank < regular.holders(); ++rank) {
            if (!intersect(boxes[static_cast<std::size_t>(rank)], region).empty()) {
                met.push_back(rank);
            }
        }
        REQUIRE(regular.ranks_meeting(region) == met);
        REQUIRE(irregular.ranks_meeting(region) == met);
    }
}

TEST_CASE("equal means the same boxes, however described") {
    random_layouts random;
    int equal_by_boxes = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const layout_case made = random.any();
        const distribution regular(made.bounds, made.ranks, made.labels, made.cut);
        std::vector<box> boxes;
        for (int rank = 0; rank < regular.holders(); ++rank) {
            boxes.push_back(regular.held_by(rank));
        }
        REQUIRE(regular == regular);
        REQUIRE(regular == distribution(made.bounds, boxes));
        boxes.push_back(no_box(made.bounds.size()));
        REQUIRE(regular == distribution(made.bounds, boxes));
        boxes.back() = whole_box(made.bounds);
        REQUIRE((regular == distribution(made.bounds, boxes)) == boxes.back().empty());
        if (!made.bounds.empty()) {
            const std::size_t other_cut = (made.cut + 1) % made.bounds.size();
            const distribution other(made.bounds, made.ranks, made.labels, other_cut);
            bool same = true;
            for (int rank = 0; rank < regular.holders(); ++rank) {
                same = same && (regular.held_by(rank) == other.held_by(rank) ||
                                (regular.held_by(rank).empty() && other.held_by(rank).empty()));
            }
            REQUIRE((regular == other) == same);
            equal_by_boxes += same ? 1 : 0;
        }
    }
    CHECK(equal_by_boxes > 50);
    CHECK(equal_by_boxes < 500);
}

TEST_CASE("a mesh numbers its ranks row by row") {
    const mesh grid{{{2, 3}, {0, 2}, {5, 4}}};
    CHECK(grid.size() == 24);
    CHECK(grid.parts(5) == 4);
    CHECK(grid.parts(1) == 1);
    CHECK(grid.coordinates(0) == std::vector<int>{0, 0, 0});
    CHECK(grid.coordinates(23) == std::vector<int>{2, 1, 3});
    CHECK(grid.coordinates(9) == std::vector<int>{1, 0, 1});
    CHECK(mesh{}.size() == 1);
}

TEST_CASE("worked examples") {
    // 14 over 4 is 4,4,3,3; a label without an axis stays whole.
    const distribution rows({14, 3}, mesh{{{0, 4}}}, {0, 1}, 0);
    CHECK(rows.held_by(0) == box{{{0, 4}, {0, 3}}, false});
    CHECK(rows.held_by(3) == box{{{11, 14}, {0, 3}}, false});
    CHECK_FALSE(rows.cut());
    // ii: both dimensions of a label are cut, only diagonal blocks rest anywhere.
    const distribution diagonal({6, 6}, mesh{{{0, 3}}}, {0, 0}, 0);
    CHECK(diagonal.held_by(1) == box{{{2, 4}, {2, 4}}, false});
    // A block that six ranks want (2 outside, 3 inside), in six pieces of its columns.
    const distribution pieces({4, 12}, mesh{{{5, 2}, {0, 2}, {6, 3}}}, {0, 1}, 1);
    CHECK(pieces.replication() == 6);
    CHECK(pieces.cut() == 1);
    CHECK(pieces.replicas(4) == std::vector<int>{3, 4, 5, 9, 10, 11});
    CHECK(pieces.block_of_rank(10) == box{{{2, 4}, {0, 12}}, false});
    CHECK(pieces.held_by(10) == box{{{2, 4}, {8, 10}}, false});
    // A scalar rests on replica 0.
    const distribution scalar({}, mesh{{{0, 3}}}, {}, 0);
    CHECK(scalar.held_by(0).size() == 1);
    CHECK(scalar.held_by(1).empty());
    CHECK(scalar.block_of_rank(2).size() == 1);
    // One rank has all.
    const distribution root = held_by_one({3, 3}, 2);
    CHECK(root.holders() == 3);
    CHECK(root.held_by(2).size() == 9);
    CHECK(root.held_by(0).empty());
    CHECK(root.held_by(5).empty());
}
