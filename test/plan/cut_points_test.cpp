// Uneven blocks: inputs are read where they lie, results lie where a pin cuts them, and what cannot be is refused.

#include <cost/counted_traffic.hpp>
#include "random_graph.hpp"

#include <einparallel/cost/places.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace cut_points_test {

namespace {

EINPARALLEL_LABELS(i, j, k);

/// Rows of a matrix, by rank.
std::vector<ep::box> rows(const std::vector<ep::index>& points, ep::index columns) {
    std::vector<ep::box> made;
    for (std::size_t rank = 0; rank + 1 < points.size(); ++rank) {
        made.push_back({{{points[rank], points[rank + 1]}, {0, columns}}, points[rank] == points[rank + 1]});
    }
    return made;
}

const std::vector<ep::index> application{0, 3, 3, 10, 12};

}  // namespace

TEST_CASE("uneven rows are read in place, and results lie in them") {
    const test::node X = test::resting_input({12, 6}, rows(application, 6));
    const test::node W = test::input({6, 5});
    const test::node Y = test::einsum("ij,jk->ik", {X, W});
    const test::node Z = test::einsum("ik,ik->ik", {Y, Y});
    const ep::plan made = ep::decompose_vertices({.processes = 4, .objective = ep::objective::bytes}, {Z});
    CHECK(made.bytes_sent() == 3 * 8 * 6 * 5);  // W to all, and nothing of X
    for (const std::size_t number : {made.outputs().front(), made.vertices()[made.outputs().front()].inputs.front()}) {
        const ep::planned_vertex& each = made.vertices()[number];
        REQUIRE(each.work.ranks.axes.size() == 1);
        CHECK(each.work.ranks.axes.front().points == application);
        CHECK(each.resting.held_by(1).empty());
        CHECK(each.resting.held_by(2).sides[0] == ep::interval{3, 10});
    }
    CHECK(made == ep::decompose_vertices({.processes = 4, .objective = ep::objective::bytes}, {Z}));
    CHECK(made.to_json().find("\"points\":[0,3,3,10,12]") != std::string::npos);
    std::ostringstream table;
    table << made;
    CHECK(table.str().find(" is cut along i at 0,3,3,10,12\n") != std::string::npos);
}

TEST_CASE("where even blocks are cheaper, uneven rows are moved to them, and that is counted") {
    const std::vector<ep::index> lopsided{0, 1, 2, 3, 64};
    const test::node X = test::resting_input({64, 64}, rows(lopsided, 64));
    const test::node Y = test::einsum("ij,jk->ik", {X, test::input({64, 6})});
    ep::options asked{.processes = 4};
    asked.machine.seconds_per_flop = 1e-6;  // arithmetic is dear
    const ep::plan made = ep::decompose_vertices(asked, {Y});
    const ep::planned_vertex& last = made.vertices().back();
    for (const ep::mesh_axis& axis : last.work.ranks.axes) {
        CHECK(axis.points.empty());
    }
    CHECK(last.work.ranks.size() == 4);
    const ep::distribution lies({64, 64}, rows(lopsided, 64));
    const double moved = test::counted(lies, last.work.operands[0]).elements;
    CHECK(moved > 0);
    CHECK(static_cast<double>(last.bytes) == 8 * (moved + 3 * 64 * 6));
    asked.objective = ep::objective::bytes;
    CHECK(ep::decompose_vertices(asked, {Y}).vertices().back().work.ranks.axes.front().points == lopsided);
}

TEST_CASE("several labels at once, and a ring between uneven blocks") {
    // Four ranks, two by two, rows 2 and 8, columns 5 and 1; the contracted label is cut as well where it helps.
    ep::tensor<double, 2> A = ep::placeholder<double>({10, 40}).named("A"), B = ep::placeholder<double>({40, 6});
    A.pinned({{0, ep::cut_points{0, 1, 3, 3, 10}}});
    ep::tensor<double, 2> Z;
    Z(i, k) = A(i, j) * B(j, k);
    Z.pinned({{"i", ep::cut_points{0, 2, 10}}, {"k", ep::cut_points({0, 5, 6})}});
    const ep::plan made = ep::decompose({.processes = 4, .objective = ep::objective::bytes}, Z);
    const ep::planned_vertex& last = made.vertices().back();
    CHECK(last.resting.held_by(0) == ep::box{{{0, 2}, {0, 5}}});
    CHECK(last.resting.held_by(1) == ep::box{{{0, 2}, {5, 6}}});
    CHECK(last.resting.held_by(2) == ep::box{{{2, 10}, {0, 5}}});
    CHECK(last.resting.held_by(3) == ep::box{{{2, 10}, {5, 6}}});
    std::size_t sent = 0;
    for (int rank = 0; rank < 4; ++rank) {
        sent += made.bytes_sent(rank);
    }
    std::size_t predicted = 0;
    for (const ep::planned_vertex& each : made.vertices()) {
        predicted += each.bytes;
    }
    CHECK(sent == predicted);
    Z.pinned({{"i", ep::cut_points{0, 2, 2, 3, 10}}});  // as many parts as there are ranks: B has to go round
    const ep::plan ring = ep::decompose({.processes = 4, .objective = ep::objective::bytes}, Z);
    CHECK(ring.vertices().back().work.travelling >= 0);
}

TEST_CASE("cut points that are none are refused") {
    ep::tensor<double, 2> X = ep::placeholder<double>({12, 6}).named("X"), Z;
    Z(i, k) = 2.0 * X(i, k);
    Z.named("Z");
    const auto refusal = [&](std::vector<ep::pinned_part> parts) {
        Z.pinned(std::move(parts));
        try {
            static_cast<void>(ep::decompose({.processes = 4}, Z));
        } catch (const ep::error& failure) {
            return std::string(failure.what());
        }
        return std::string();
    };
    const std::string who = "decompose: Z (ik->ik) is pinned along label i at cut points ";
    CHECK(refusal({{"i", ep::cut_points{1, 3, 12}}}) == who + "that begin at 1 and must begin at 0");
    CHECK(refusal({{"i", ep::cut_points{0, 3, 11}}}) == who + "that end at 11 and must end at the extent 12");
    CHECK(refusal({{"i", ep::cut_points{0, 7, 3, 12}}}) == who + "that do not ascend: 7 stands before 3");
    CHECK(refusal({{"i", ep::cut_points{0}}}) == who + "that are fewer than two: there must be 0 and the extent 12");
    CHECK(refusal({{"i", ep::cut_points{0, 3, 6, 8, 10, 12}}}) ==
          "decompose: Z (ik->ik) is pinned over 5 ranks or more, the plan is for 4");
    CHECK(refusal({{"i", ep::cut_points(std::vector<int>{0, 3, 3, 12})}}).empty());
    X.pinned({{0, ep::cut_points{0, 5, 11}}});
    CHECK(refusal({{"i", 4}}) ==
          "decompose: X is pinned along dimension 0 at cut points that end at 11 and must end at the extent 12");
}

TEST_CASE("even cut points are even blocks") {
    ep::tensor<double, 2> X = ep::generate<double>({11, 6}, [](auto, auto) { return 1.0; }), Z;
    Z(i, k) = 2.0 * X(i, k);
    Z.pinned({{"i", 4}});
    const ep::plan even = ep::decompose({.processes = 4}, Z);
    Z.pinned({{"i", ep::cut_points{0, 3, 6, 9, 11}}});
    const ep::plan same = ep::decompose({.processes = 4}, Z);
    CHECK(even.vertices().back().work == same.vertices().back().work);
    Z.pinned({{"i", ep::cut_points{0, 3, 6, 8, 11}}});
    CHECK(!(even.vertices().back().work == ep::decompose({.processes = 4}, Z).vertices().back().work));
}

TEST_CASE("grids of boxes are found, and nothing else") {
    test::random_graphs random(5);
    int found = 0;
    for (int trial = 0; trial < 400; ++trial) {
        std::vector<ep::index> bounds;
        std::vector<ep::label_id> labels;
        ep::mesh grid;
        for (int dimension = 0; dimension < random.between(1, 3); ++dimension) {
            bounds.push_back(random.between(1, 9));
            labels.push_back(static_cast<ep::label_id>(dimension));
            const int parts = random.between(1, 3);
            if (parts > 1) {
                grid.axes.insert(grid.axes.begin() + random.between(0, static_cast<int>(grid.axes.size())),
                                 {labels.back(), parts, random.cut_points(bounds.back(), parts)});
            }
        }
        const ep::distribution where(bounds, grid, labels, 0);
        std::vector<ep::box> boxes;
        for (int rank = 0; rank < where.holders(); ++rank) {
            boxes.push_back(where.held_by(rank));
        }
        if (random.one_in(4)) {
            std::swap(boxes.front(), boxes.back());
        }
        const ep::distribution listed(bounds, boxes);
        const std::optional<ep::mesh> known = ep::detail::mesh_of(listed);
        if (known) {
            ++found;
            CHECK(ep::distribution(bounds, *known, labels, 0) == listed);
        } else {  // out of order, all on one rank, or a rank without elements in a grid of several dimensions
            const auto holding = std::ranges::count_if(boxes, [](const ep::box& each) { return !each.empty(); });
            CHECK((!(listed == where) || grid.axes.size() > 1 || holding <= 1));
        }
    }
    CHECK(found > 200);
}

TEST_CASE("traffic between uneven places is what their boxes say") {
    test::random_graphs random(6);
    for (int trial = 0; trial < 500; ++trial) {
        const std::vector<ep::index> bounds{random.between(1, 20), random.between(1, 20)};
        ep::detail::place_table table;
        std::vector<ep::detail::place_id> places;
        for (int side = 0; side < 2; ++side) {
            ep::mesh grid;
            for (ep::label_id label = 0; label < 3; ++label) {  // label 2 makes pieces
                const int parts = random.between(1, 3);
                if (parts > 1) {
                    grid.axes.push_back({label, parts, {}});
                    if (label < 2 && random.one_in(2)) {
                        grid.axes.back().points = random.cut_points(bounds[static_cast<std::size_t>(label)], parts);
                    }
                }
            }
            places.push_back(table.exact(bounds, grid, {0, 1}, static_cast<std::size_t>(random.between(0, 1))));
        }
        const ep::detail::traffic all = test::counted(table.resting(places[0]), table.resting(places[1]));
        CHECK(table.counted(places[0], places[1]) == all);
        CHECK(table.between(places[0], places[1]) == all);
    }
}

}  // namespace cut_points_test
