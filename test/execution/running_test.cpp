// Running sums, and the largest elements of rows, on any number of ranks: the same as on arrays
// (test/array/running_test.cpp has these against loops), bytes as the plan says.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/counted_beyond.hpp>
#include <support/graphs.hpp>
#include <support/long_suite.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace running_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, t);

template <class T, std::size_t Rank>
bool agrees(const ep::array<T, Rank>& got, const ep::array<T, Rank>& expected) {
    bool same = got.extents() == expected.extents();
    for (index at = 0; same && at < got.size(); ++at) {
        const auto right = double(expected.data()[at]);
        same = std::abs(double(got.data()[at]) - right) <= 1e-12 * (1 + std::abs(right));
    }
    return same;
}

std::size_t bytes_of(const ep::plan& plan, int ranks) {
    std::size_t all = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        all += plan.bytes_sent(rank);
    }
    return all;
}

}  // namespace

TEST_CASE("running sums along a cut label hand on a row a round, wherever ranks lie on nodes") {
    ep::context world(MPI_COMM_WORLD);
    const int ranks = world.size();
    std::vector<ep::machine> machines(3);
    std::vector<int> turns;
    std::vector<int> backwards;
    for (int rank = 0; rank < ranks; ++rank) {
        turns.push_back(rank % ((ranks + 1) / 2));
        backwards.push_back(ranks - rank);
    }
    machines[1].levels = {{{1, 1e-6, 1e-10, 1, {}}, {0, 2e-6, 1e-10, 1, {}}}};
    machines[1].node_of_rank = backwards;
    machines[2].levels = machines[1].levels;
    std::size_t runs = 0;
    for (const ep::group_run& nodes : {ep::group_run{ranks / 2, 2}, ep::group_run{ranks % 2, 1}}) {
        if (nodes.count > 0) {
            machines[2].levels[0].uneven[runs++] = nodes;
        }
    }
    machines[2].node_of_rank = turns;
    for (const index length : {index(0), index(1), index(ranks - 1), index(3 * ranks + 1)}) {
        ep::array<double, 2> x({length, 5}), sums({length, 5}), products({length, 5});
        x(t, j) = ep::join(ep::uniform(5), ep::iota(t), ep::iota(j));
        sums(t, j) = ep::cumsum(t, 2.0 * x(t, j));
        products(t, j) = ep::cumprod(t, 2.0 * x(t, j));
        for (int number = 0; number < 3 * ranks; ++number) {
            const int across = number / 3 + 1;
            const int down = ranks / across;
            if (down * across != ranks || down > length || across > 5) {
                continue;
            }
            ep::options asked;
            asked.machine = machines[std::size_t(number % 3)];
            ep::tensor<double, 2> X = ep::from_root(x, 0), Y, S, P;
            Y(t, j) = 2.0 * X(t, j);
            S(t, j) = ep::cumsum(t, Y(t, j));
            P(t, j) = ep::cumprod(t, Y(t, j));
            for (ep::tensor<double, 2>* each : {&Y, &S, &P}) {
                each->pinned({{t, down}, {j, across}});
            }
            INFO("machine " << number % 3 << ", length " << length << ", across " << across);
            const ep::plan moves = ep::decompose(world, asked, Y);
            const ep::plan plan = ep::decompose(world, asked, S, P);
            const ep::results made = plan.run(world);
            CHECK(agrees(made.get(S).allgather(), sums));
            CHECK(agrees(made.get(P).allgather(), products));
            CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
            std::size_t rows = 0;  // of each of the two
            for (int reach = 1; reach < down; reach *= 2) {
                rows += std::size_t(down - reach);
            }
            CHECK(bytes_of(plan, ranks) - bytes_of(moves, ranks) == 2 * rows * 5 * sizeof(double));
            const ep::rank_groups groups(asked.machine.levels, asked.machine.node_of_rank);
            for (std::size_t level = 0; level < groups.levels(); ++level) {
                CHECK(plan.bytes_between(int(level)) == ep::testing::counted_beyond(plan, groups, level));
            }
        }
    }
}

TEST_CASE("running sums and largest elements in graphs, cut as the planner likes") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 bits(23);
    const auto random = [&](int from, int to) { return index(std::uniform_int_distribution<int>(from, to)(bits)); };
    for (int round = 0; round < (world.size() > 4 ? 3 : 24); ++round) {
        const index m = random(1, 9), n = random(3, 11), count = random(1, 3);
        ep::array<double, 2> x({m, n}), z, v, shifted;
        ep::array<index, 2> p;
        ep::array<double, 1> weights;
        x(i, t) = ep::join(ep::uniform(std::uint64_t(round)), ep::iota(i), ep::iota(t));
        ep::tensor<double, 2> X = ep::from_root(x, round % world.size()), Z, V, Shifted;
        if (round % 3 == 1) {
            X(i, t) = 3.0 * X(i, t);
            x(i, t) = 3.0 * x(i, t);
        }
        ep::tensor<index, 2> P;
        ep::tensor<double, 1> Weights;
        const auto write = [&](auto& from, auto& sums, auto& values, auto& places, auto& part, auto& all) {
            const auto largest = ep::top_k(k, t, from(i, t), count);
            sums(t, i) = ep::cumsum(t, ep::exp(from(i, t))) + from(i, t);
            values(i, k) = 2.0 * largest.values;
            places(k, i) = largest.places;
            part(i, t) = ep::cumsum(i, from(i, t + 1) - from(i, t));
            all(t) = ep::sum(i, ep::cumsum(t, sums(t, i)) * from(i, t));
        };
        write(x, z, v, p, shifted, weights);
        write(X, Z, V, P, Shifted, Weights);
        const ep::objective asked[] = {ep::objective::time, ep::objective::bytes, ep::objective::paper};
        const ep::plan plan = ep::decompose(world, {.objective = asked[round % 3], .effort = ep::testing::short_search},
                                            Z, V, P, Shifted, Weights);
        const ep::results made = plan.run(world);
        CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
        CHECK(agrees(made.get(Z).allgather(), z));
        CHECK(agrees(made.get(V).allgather(), v));
        CHECK(agrees(made.get(P).allgather(), p));
        CHECK(agrees(made.get(Shifted).allgather(), shifted));
        CHECK(agrees(made.get(Weights).allgather(), weights));
    }
}

TEST_CASE("rows that ranks have parts of are brought together, of views as well") {
    ep::context world(MPI_COMM_WORLD);
    const index length = 2 * world.size() + 3;
    ep::array<double, 2> x({3, length}), values, sums;
    ep::array<index, 2> places;
    x(i, t) = ep::join(ep::uniform(9), ep::iota(i), ep::iota(t));
    ep::tensor<double, 2> X = ep::from_root(x, 0), Y, Values, Sums;
    ep::tensor<index, 2> Places;
    Y(i, t) = 2.0 * X(i, t);
    Y.pinned({{t, world.size()}});
    x(i, t) = 2.0 * x(i, t);
    const auto write = [&](const auto& from, auto& largest, auto& where, auto& running) {
        largest(i, k) = ep::top_k(k, t, from(i, t + 1), 4).values;
        where(i, k) = ep::top_k(k, t, from(i, t), 4).places;
        running(i, t) = ep::cumsum(t, from(i, length - 1 - t));
    };
    write(x, values, places, sums);
    write(Y, Values, Places, Sums);
    const ep::plan plan = ep::decompose(world, Y, Values, Places, Sums);
    const ep::results made = plan.run(world);
    CHECK(agrees(made.get(Values).allgather(), values));
    CHECK(agrees(made.get(Places).allgather(), places));
    CHECK(agrees(made.get(Sums).allgather(), sums));
    CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
}

TEST_CASE("uneven and empty blocks of running sums") {
    ep::context world(MPI_COMM_WORLD);
    const int ranks = world.size();
    std::vector<index> points{0};
    for (int rank = 1; rank < ranks; ++rank) {
        points.push_back(rank < 3 ? 0 : 4);  // of the first ranks nothing, then four indices, then nothing again
    }
    points.push_back(9);
    ep::array<double, 1> x({9}), sums({9});
    x(t) = 1.0 + ep::iota(t);
    sums(t) = ep::cumsum(t, x(t));
    ep::tensor<double, 1> X = ep::from_root(x, 0), S;
    S(t) = ep::cumsum(t, X(t));
    S.pinned({{"t", ep::cut_points(points)}});
    const ep::plan plan = ep::decompose(world, S);
    const ep::results made = plan.run(world);
    CHECK(agrees(made.get(S).allgather(), sums));
    CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
}

TEST_CASE("what is wrong with largest elements is one sentence at decompose") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 2> X = ep::generate<double>({2, 3}, ep::uniform(1)), V;
    V(i, k) = ep::top_k(k, j, X(i, j), 4).values;
    CHECK(sentence_of([&] {
              static_cast<void>(ep::decompose(world, V));
          }).find("ep::top_k: 4 elements are asked for, but rows have 3") != std::string::npos);
    ep::tensor<double, 2> Unsaid;
    CHECK(sentence_of([&] {
              Unsaid(i, k) = ep::top_k(k, j, X(i, j)).values;
              static_cast<void>(ep::decompose(world, Unsaid));
          }).find("the extent of label k is not known") != std::string::npos);
    ep::tensor<double, 2> S;
    S(i, j) = ep::cumsum(j, X(i, j));
    CHECK(sentence_of([&] {
              static_cast<void>(ep::plan_with({.processes = 2}, ep::hand_cuts().cut(S, {{"j'", 2}}), S));
          }).find("cannot cut label j'") != std::string::npos);
}

}  // namespace running_test
