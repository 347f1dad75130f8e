// Pinned tensors on a context: they lie where they are told to, the numbers are right, and ranks that pin differently
// hear one sentence.

#include <doctest/doctest.h>

#include <einparallel/data/execute.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace constraints_test {

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr ep::index rows = 13;
constexpr ep::index inner = 12;
constexpr ep::index columns = 14;

double c_at(ep::index row, ep::index column) {
    return static_cast<double>(row - 2 * column);
}
const auto product_at = product_over(inner);

template <class F>
ep::array<double, 2> table(ep::index height, ep::index width, F f) {
    ep::array<double, 2> made({height, width});
    for (ep::index row = 0; row < height; ++row) {
        for (ep::index column = 0; column < width; ++column) {
            made(row, column) = f(row, column);
        }
    }
    return made;
}

/// Z = A · B, S = Z + C; B has to be bound.
struct pinned_graph {
    ep::tensor<double, 2> A = ep::generate<double>({rows, inner}, left_at).named("A");
    ep::tensor<double, 2> B = ep::placeholder<double>({inner, columns}).named("B");
    ep::tensor<double, 2> C = ep::generate<double>({rows, columns}, c_at).named("C");
    ep::tensor<double, 2> Z, S;

    pinned_graph() {
        Z(i, k) = A(i, j) * B(j, k);
        S(i, k) = Z(i, k) + C(i, k);
        Z.named("Z");
        S.named("S");
    }
};

/// Checks a result element by element where it lies; how many elements are here.
template <class Expected>
ep::index check_elements(const ep::distributed<double, 2>& made, Expected expected) {
    ep::index count = 0;
    made.for_each_local([&](const std::array<ep::index, 2>& at, double element) {
        CHECK(element == expected(at[0], at[1]));
        ++count;
    });
    return count;
}

}  // namespace

TEST_CASE("pinned tensors lie where they are told to, and the numbers are right") {
    ep::context world(MPI_COMM_WORLD);
    const int ranks = world.size();
    const ep::array<double, 2> b = table(inner, columns, right_at);
    const int half = ranks % 2 == 0 ? 2 : 1;
    const int rest = ranks / half;
    for (const ep::objective wanted : {ep::objective::time, ep::objective::bytes, ep::objective::paper}) {
        for (int shape = 0; shape < 4; ++shape) {
            CAPTURE(shape);
            pinned_graph graph;
            // By columns outermost; contracted over all ranks; along one dimension each; without communication.
            if (shape == 0) {
                graph.S.pinned({{"k", half}, {"i", rest}});
                graph.B.pinned({{1, rest}, {0, half}});
            } else if (shape == 1) {
                graph.Z.pinned({});
                graph.S.pinned({{"k", ranks}});
            } else if (shape == 2) {
                graph.Z.pinned({{"i", ranks}});
                graph.S.pinned({{1, ranks}});
                graph.B.pinned({{0, ranks}});
            } else {
                graph.Z.pinned({{"i", rest}, {"k", half}});
                graph.S.without_communication();
            }
            const ep::plan plan = ep::decompose(world, {.objective = wanted}, graph.S, graph.Z);
            const ep::results made = plan.run(world, ep::bind(graph.B, b));
            const ep::distributed<double, 2> S = made.at<double, 2>(0);
            const ep::distributed<double, 2> Z = made.at<double, 2>(1);
            check_elements(Z, product_at);
            check_elements(S,
                           [](ep::index row, ep::index column) { return product_at(row, column) + c_at(row, column); });
            const int rank = world.rank();
            if (shape == 0) {
                CHECK(S.held().sides[0] == ep::block_of(rows, rest, rank % rest));
                CHECK(S.held().sides[1] == ep::block_of(columns, half, rank / rest));
            } else if (shape == 1 || shape == 2) {
                CHECK(S.held().sides[0] == ep::block_of(rows, 1, 0));
                CHECK(S.held().sides[1] == ep::block_of(columns, ranks, rank));
            } else {
                CHECK(plan.vertices()[plan.outputs()[0]].bytes == 0);
            }
            if (shape == 2) {
                CHECK(Z.held().sides[0] == ep::block_of(rows, ranks, rank));
            }
            CHECK(Z.allgather()(rows - 1, columns - 1) == product_at(rows - 1, columns - 1));
        }
    }
}

TEST_CASE("a result that is pinned goes on in the application's own distribution, and back") {
    ep::context world(MPI_COMM_WORLD);
    const ep::array<double, 2> b = table(inner, columns, right_at);
    pinned_graph graph;
    graph.S.pinned({{"i", world.size()}});
    const ep::distributed<double, 2> S =
        ep::decompose(world, graph.S).run(world, ep::bind(graph.B, b)).at<double, 2>(0);

    // What lies in slabs of rows is read in place by an einsum that may not communicate, and moved where it is pinned
    // along columns.
    const ep::tensor<double, 2> lies = ep::from_distributed(S);
    ep::tensor<double, 2> twice, turned;
    twice(i, k) = lies(i, k) + lies(i, k);
    twice.without_communication();
    turned(k, i) = twice(i, k);
    turned.pinned({{"k", world.size()}});
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, turned);
    CHECK(plan.partition(twice)[0].second == world.size());
    const ep::distributed<double, 2> made = plan.run(world).at<double, 2>(0);
    CHECK(made.held().sides[0] == ep::block_of(columns, world.size(), world.rank()));
    check_elements(made,
                   [](ep::index column, ep::index row) { return 2 * (product_at(row, column) + c_at(row, column)); });

    // Pinned along columns itself, it would have to be moved to be read.
    twice.pinned({{"k", world.size()}});
    const std::string got = sentence_of([&] { static_cast<void>(ep::decompose(world, turned)); });
    CHECK(got.empty() == (world.size() == 1));
    CHECK(same_everywhere(world, got));
}

TEST_CASE("a softmax whose rows lie on one rank each sends nothing in any of its steps") {
    ep::context world(MPI_COMM_WORLD);
    pinned_graph graph;
    ep::tensor<double, 2> weights;
    weights(i, k) = softmax(k, graph.S(i, k) / 100.0);
    graph.S.pinned({{"i", world.size()}});
    weights.named("weights").without_communication();
    const ep::array<double, 2> b = table(inner, columns, right_at);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, weights);
    for (const ep::planned_vertex& each : plan.vertices()) {
        CHECK((!each.name.starts_with("weights") || each.bytes == 0));
    }
    const ep::distributed<double, 2> made = plan.run(world, ep::bind(graph.B, b));
    made.for_each_local([&](const std::array<ep::index, 2>& at, double element) {
        double sum = 0;
        for (ep::index column = 0; column < columns; ++column) {
            sum += std::exp((product_at(at[0], column) + c_at(at[0], column)) / 100.0);
        }
        const double wanted = std::exp((product_at(at[0], at[1]) + c_at(at[0], at[1])) / 100.0) / sum;
        CHECK(std::abs(element - wanted) < 1e-14);
    });
}

TEST_CASE("ranks that pin or mark differently hear one sentence") {
    ep::context world(MPI_COMM_WORLD);
    const int last = world.size() - 1;
    const bool here = world.rank() == last && last > 0;
    const auto refused = [&](const std::string& got, const std::string& wanted) {
        CHECK(got == (last > 0 ? wanted + " on rank " + std::to_string(last) : ""));
        CHECK(same_everywhere(world, got));
    };
    pinned_graph pinned;
    if (here) {
        pinned.Z.pinned({{"i", 2}});
    }
    refused(sentence_of([&] { static_cast<void>(ep::decompose(world, pinned.S)); }),
            "decompose: vertex 'Z': pin none on rank 0 and i:2");
    pinned_graph marked;
    if (here) {
        marked.S.without_communication();
    }
    refused(sentence_of([&] { static_cast<void>(ep::decompose(world, marked.S)); }),
            "decompose: vertex 'S': without_communication not marked on rank 0 and marked");
    pinned_graph too_fine;
    too_fine.S.pinned({{"i", rows + 1}});
    const std::string got = sentence_of([&] { static_cast<void>(ep::decompose(world, too_fine.S)); });
    CHECK(got == "decompose: S (ik,ik->ik) is pinned to 14 parts along label i of extent 13");
}

}  // namespace constraints_test
