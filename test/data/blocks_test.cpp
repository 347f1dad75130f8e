// The application's own uneven blocks: read where they lie, and results put into them.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/plan.hpp>

#include <support/blocks.hpp>
#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace blocks_test {

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr ep::index columns = 6;
const auto product_at = product_over(columns);

double gram_at(ep::index row, ep::index column) {
    double sum = 0;
    for (ep::index at = 0; at < columns; ++at) {
        sum += left_at(row, at) * left_at(column, at);
    }
    return sum;
}

}  // namespace

TEST_CASE("uneven rows are read where they lie, and a result lies in them") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::index gap : {0, 3}) {
        uneven_rows own(world, columns, gap);
        own.fill(left_at);
        const ep::tensor<double, 2> X = ep::from_distributed(own.on(world));
        const ep::tensor<double, 2> W = ep::generate<double>({columns, 4}, right_at);
        ep::tensor<double, 2> Y;
        Y(i, k) = X(i, j) * W(j, k);
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Y);
        CHECK(plan.bytes_sent() ==
              static_cast<std::size_t>(world.size() - 1) * 8 * columns * 4);  // W, and nothing of X
        const ep::results run = plan.run(world);
        CHECK(run.bytes_sent() == plan.bytes_sent(world.rank()));
        const ep::distributed<double, 2> y = run;
        CHECK(
            (y.held().empty() ? own.count == 0 : y.held().sides[0] == ep::interval{own.first, own.first + own.count}));
        y.for_each_local([](const auto& at, double value) { CHECK(value == product_at(at[0], at[1])); });
        CHECK(y.allgather()(own.all - 1, 3) == product_at(own.all - 1, 3));
    }
}

TEST_CASE("rings between uneven blocks send what the plan says") {
    ep::context world(MPI_COMM_WORLD);
    uneven_rows own(world, columns, 1);
    own.fill(left_at);
    const ep::distributed<double, 2> x = own.on(world);
    for (const ep::objective wanted : {ep::objective::time, ep::objective::bytes, ep::objective::paper}) {
        const ep::tensor<double, 2> X = ep::from_distributed(x);
        ep::tensor<double, 2> G, Y;
        G(i, j) = X(i, k) * X(j, k);
        Y(j, k) = G(i, j) * X(i, k);
        G.pinned({{"i", ep::cut_points(own.points)}});
        Y.pinned(x.pin());
        const ep::plan plan = ep::decompose(world, {.objective = wanted}, G, Y);
        const ep::results run = plan.run(world);
        CHECK(run.bytes_sent() == plan.bytes_sent(world.rank()));
        const ep::distributed<double, 2> g = run.get(G);
        g.for_each_local([](const auto& at, double value) { CHECK(value == gram_at(at[0], at[1])); });
        run.get(Y).for_each_local([&](const auto& at, double value) {
            double sum = 0;
            for (ep::index row = 0; row < own.all; ++row) {
                sum += gram_at(row, at[0]) * left_at(row, at[1]);
            }
            CHECK(value == sum);
        });
        CHECK(g.held().size() == own.count * own.all);
    }
}

TEST_CASE("results are put into the application's blocks, and nothing else is written") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::index gap : {0, 2}) {
        uneven_rows source(world, columns, 1), target(world, 4, gap);
        source.fill(left_at);
        const ep::tensor<double, 2> X = ep::from_distributed(source.on(world));
        const ep::tensor<double, 2> W = ep::generate<double>({columns, 4}, right_at);
        ep::tensor<double, 2> Y;
        Y(i, k) = X(i, j) * W(j, k);
        const ep::distributed<double, 2> y = target.on(world);
        ep::evaluate_into(world, {.objective = ep::objective::bytes}, ep::into(Y, y));
        CHECK(target.holds(product_at));
        CHECK(!Y.node()->constraints.pin);

        // Again and again by one plan, in place or from elsewhere; results are handles on the same elements.
        for (const bool in_place : {true, false}) {
            in_place ? Y.pinned(y.pin()) : Y.pinned({{"k", std::min(world.size(), 4)}});
            const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Y);
            for (int step = 0; step < 2; ++step) {
                target.memory.assign(target.memory.size(), unused);
                const ep::results run = plan.run(world, ep::into(Y, y));
                CHECK(target.holds(product_at));
                CHECK(run.get(Y).local().data() == y.local().data());
                CHECK(run.bytes_sent() == plan.bytes_sent(world.rank()));
                CHECK((!in_place || run.extra_bytes_sent() == 0));
            }
        }
    }
}

TEST_CASE("what is read and written in the same memory is right") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::index gap : {0, 2}) {
        uneven_rows own(world, columns, gap);
        own.fill(left_at);
        const ep::distributed<double, 2> x = own.on(world);
        const ep::tensor<double, 2> X = ep::from_distributed(x);
        ep::tensor<double, 2> G, Y;
        G(i, j) = X(i, k) * X(j, k);
        Y(i, k) = 2.0 * X(i, k) - G(i, j) * X(j, k);
        ep::evaluate_into(world, ep::into(Y, x));
        CHECK(own.holds([&](ep::index row, ep::index column) {
            double sum = 2 * left_at(row, column);
            for (ep::index at = 0; at < own.all; ++at) {
                sum -= gram_at(row, at) * left_at(at, column);
            }
            return sum;
        }));
    }
}

TEST_CASE("a tensor that one rank has whole is pinned there, whichever rank it is") {
    ep::context world(MPI_COMM_WORLD);
    for (int holder = 0; holder < world.size(); ++holder) {
        const bool here = world.rank() == holder;
        for (const auto& [m, n] : {std::pair<ep::index, ep::index>(3, 4), {1, 5}, {1, 1}, {0, 3}}) {
            std::vector<double> memory(std::size_t(m * n), -1.0);
            const ep::view<double, 2> mine(memory.data(), {here ? m : 0, n});
            const ep::distributed<double, 2> y(world, {m, n}, {0, 0}, mine);
            const ep::tensor<double, 2> A = ep::generate<double>({m, columns}, left_at);
            const ep::tensor<double, 2> B = ep::generate<double>({columns, n}, right_at);
            ep::tensor<double, 2> Y;
            Y(i, k) = A(i, j) * B(j, k);
            Y.pinned(y.pin());
            const ep::results run = ep::decompose(world, Y).run(world, ep::into(Y, y));
            CHECK(run.extra_bytes_sent() == 0);
            for (std::size_t at = 0; here && at < memory.size(); ++at) {
                CHECK(memory[at] == product_at(ep::index(at) / n, ep::index(at) % n));
            }
        }
    }
    // A number has no dimension to cut.
    const int last = world.size() - 1;
    double number = 1;
    const ep::view<double, 0> mine(world.rank() == last ? &number : nullptr, {});
    const ep::distributed<double, 0> y(world, {}, {}, mine);
    const std::string said = sentence_of([&] { static_cast<void>(y.pin()); });
    CHECK(said ==
          (last == 0
               ? ""
               : "distributed: these blocks do not form a grid of ranks, so that no tensor can be pinned to them"));
}

TEST_CASE("blocks in no order, several outputs, and one of them twice") {
    ep::context world(MPI_COMM_WORLD);
    const ep::index n = 3 * world.size();
    // Columns, the last rank's first.
    const ep::index begin = 3 * (world.size() - 1 - world.rank());
    std::vector<double> memory(static_cast<std::size_t>(3 * n)), diagonal(3, unused);
    const ep::distributed<double, 2> z(world, {n, n}, {0, begin}, ep::view<double, 2>(memory.data(), {n, 3}));
    const ep::distributed<double, 1> d(world, {n}, {3 * world.rank()}, ep::view<double, 1>(diagonal.data(), {3}));
    const ep::tensor<double, 2> X = ep::generate<double>({n, n}, left_at);
    ep::tensor<double, 2> Z;
    ep::tensor<double, 1> D;
    Z(i, k) = X(i, k) + X(k, i);
    D(i) = Z(i, k);
    ep::evaluate_into(world, ep::into(Z, z), ep::into(D, d));
    for (ep::index row = 0; row < n; ++row) {
        for (ep::index column = begin; column < begin + 3; ++column) {
            CHECK(memory[static_cast<std::size_t>(row * 3 + column - begin)] ==
                  left_at(row, column) + left_at(column, row));
        }
    }
    for (ep::index row = 0; row < 3; ++row) {
        double sum = 0;
        for (ep::index column = 0; column < n; ++column) {
            sum += left_at(3 * world.rank() + row, column) + left_at(column, 3 * world.rank() + row);
        }
        CHECK(diagonal[static_cast<std::size_t>(row)] == sum);
    }
    diagonal.assign(3, unused);
    const ep::plan plan = ep::decompose(world, D, D);
    const ep::results run = plan.run(world, ep::into(D, d));
    CHECK(run.at<double, 1>(1).local().data() == diagonal.data());
    CHECK(diagonal[0] != unused);
}

TEST_CASE("memory that a result cannot go to is refused on every rank, and stays as it is") {
    ep::context world(MPI_COMM_WORLD);
    uneven_rows target(world, 4, 0), other(world, 5, 0);
    const ep::distributed<double, 2> y = target.on(world);
    const ep::tensor<double, 2> X = ep::placeholder<double>({target.all, 4});
    ep::tensor<double, 2> Y, Z;
    Y(i, k) = 2.0 * X(i, k);
    Z(i, k) = 3.0 * X(i, k);
    X.node()->name = "X";
    Y.named("Y");
    Z.named("Z");
    const ep::plan plan = ep::decompose(world, Y, Z);
    ep::array<double, 2> x({target.all, 4});
    const auto refused = [&](const std::string& wanted, const auto&... bindings) {
        const std::string got = sentence_of([&] { static_cast<void>(plan.run(world, bindings...)); });
        CHECK(got.find(wanted) == 0);
        CHECK(same_everywhere(world, got));
        CHECK(target.holds([](ep::index, ep::index) { return unused; }));
    };
    refused("run: no value is bound to placeholder 'X'", ep::into(Y, y));
    const ep::binding bound = ep::bind(X, x);
    refused("run: the memory for output 'Y' does not fit: it is ", bound, ep::into(Y, other.on(world)));
    refused("run: the memory for output 'Y' is given twice, or to equal outputs", bound, ep::into(Y, y),
            ep::into(Y, y));
    refused("run: the memory for output 'Z' is also that of 'Y'", bound, ep::into(Y, y), ep::into(Z, y));
    refused("run: the memory for output 'X' is for no output of this plan", bound, ep::into(X, y));
    refused("run: the memory for output 'Y' is an empty handle", bound, ep::into(Y, ep::distributed<double, 2>()));
    const bool one = world.size() > 1 && world.rank() == 0;
    if (world.size() > 1) {
        refused("run: the memory for output 'Y', or where it rests, is not the same on all ranks", bound,
                ep::into(one ? Y : Z, y));
    }
}

}  // namespace blocks_test
