// Plans that run over MPI from headers alone, against loops written here.

#include "matrices.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>

using namespace header_only;

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr ep::index rows = 6, inner = 9, columns = 5;

/// Z = A · B + C, with an input of every kind.
struct recorded {
    ep::array<double, 2> a = matrix<double>(rows, inner, 1), b = matrix<double>(inner, columns, 2);
    ep::tensor<double, 2> A = ep::from_root(a, 0);
    ep::tensor<double, 2> B =
        ep::generate<double>({inner, columns}, [](ep::index row, ep::index column) { return element(row, column, 2); });
    ep::tensor<double, 2> C = ep::placeholder<double>({rows, columns}), Y, Z;

    recorded() {
        Y(i, k) = A(i, j) * B(j, k);
        Z(i, k) = Y(i, k) + C(i, k);
    }
    [[nodiscard]] int wrong_sums(const ep::array<double, 2>& made, const ep::array<double, 2>& c) const {
        return wrong(made, rows, columns,
                     [&](ep::index row, ep::index column) { return product_at(a, b, row, column) + c(row, column); });
    }
};

}  // namespace

TEST_CASE("the configuration is lines of words, of a unit with MPI") {
    const std::string text = ep::configuration();
    CHECK(text.starts_with("einparallel " + std::string(ep::version()) + ", commit "));
    CHECK(text.find("header-only") != std::string::npos);
    CHECK(text.find("\nMPI: ") != std::string::npos);
    CHECK(text.find("none in this unit; ") == std::string::npos);
    bool is_printable = true;
    for (const char letter : text) {
        is_printable = is_printable && (letter == '\n' || (letter >= ' ' && letter <= '~'));
    }
    CHECK(is_printable);
}

TEST_CASE("a plan runs with one value after another, and its results are gathered and fetched") {
    ep::context world(MPI_COMM_WORLD);
    const recorded graph;
    for (const ep::algorithm kind : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = kind}, graph.Z);
        for (int seed = 3; seed < 5; ++seed) {
            const ep::array<double, 2> c = matrix<double>(rows, columns, seed);
            const ep::results made = plan.run(world, ep::bind(graph.C, c));
            const ep::distributed<double, 2> z = made.get(graph.Z);
            CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
            const ep::array<double, 2> gathered = z.gather(world.size() - 1);
            if (world.rank() == world.size() - 1) {
                CHECK(graph.wrong_sums(gathered, c) == 0);
            }
            const ep::array<double, 2> part = z.fetch({world.rank(), 1}, {3, 2});
            CHECK(wrong(part, 3, 2, [&](ep::index row, ep::index column) {
                      const ep::index below = row + world.rank();
                      return product_at(graph.a, graph.b, below, column + 1) + c(below, column + 1);
                  }) == 0);
        }
    }
}

TEST_CASE("plans by hand and a rival's run too") {
    ep::context world(MPI_COMM_WORLD);
    const recorded graph;
    const ep::array<double, 2> c = matrix<double>(rows, columns, 3);
    const ep::plan by_hand = ep::plan_with(world, {}, ep::hand_cuts().cut(graph.Y, {{"j", world.size()}}), graph.Z);
    const ep::plan rival = ep::plan_with(world, {}, ep::rivals::sqrt(), graph.Z);
    for (const ep::plan* each : {&by_hand, &rival}) {
        const ep::distributed<double, 2> z = each->run(world, ep::bind(graph.C, c));
        CHECK(graph.wrong_sums(z.allgather(), c) == 0);
    }
}

TEST_CASE("calibrated constants are finite and positive") {
    ep::context world(MPI_COMM_WORLD);
    const ep::machine measured = world.calibrate(0.01);
    for (const double figure : {measured.seconds_per_message, measured.seconds_per_byte, measured.seconds_per_flop}) {
        CHECK(std::isfinite(figure));
        CHECK(figure > 0);
    }
    const ep::plan plan = ep::decompose(world, {.machine = measured}, recorded().Z);
    CHECK(plan.processes() == world.size());
}

TEST_CASE("plans without MPI: the planner's, by hand, and a rival's") {
    ep::tensor<double, 2> X = ep::placeholder<double>({8, 16}), Y = ep::placeholder<double>({16, 8}), Z;
    Z(i, k) = X(i, j) * Y(j, k);
    Z.named("Z");
    const ep::plan plan = ep::decompose({.processes = 4, .objective = ep::objective::bytes}, Z);
    const ep::plan by_hand = ep::plan_with({.processes = 4}, ep::hand_cuts().cut(Z, {{"j", 4}}), Z);
    const ep::plan rival = ep::plan_with({.processes = 4}, ep::rivals::sqrt(), Z);
    for (const ep::plan* each : {&plan, &by_hand, &rival}) {
        std::size_t sent = 0;
        for (int rank = 0; rank < 4; ++rank) {
            sent += each->bytes_sent(rank);
        }
        CHECK(sent == each->bytes_sent());
        CHECK(sent >= plan.bytes_sent());
    }
    // Each of four ranks has a partial Z of 8 × 8 and sends three quarters of it.
    CHECK(by_hand.bytes_sent() == 4 * 3 * 8 * 8 / 4 * sizeof(double));
    std::ostringstream table;
    table << by_hand;
    CHECK(table.str().find("ij,jk->ik") != std::string::npos);
    CHECK(by_hand.to_json().find("\"ij,jk->ik\"") != std::string::npos);
}
