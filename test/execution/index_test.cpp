// Tensors read at functions of labels: the same as on arrays (test/array/index_test.cpp has these against loops), on
// any number of ranks; bytes as the plan says.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace index_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, r, s);

template <std::size_t Rank>
bool agrees(const ep::array<double, Rank>& got, const ep::array<double, Rank>& expected) {
    bool same = got.extents() == expected.extents();
    for (index at = 0; same && at < got.size(); ++at) {
        same = std::abs(got.data()[at] - expected.data()[at]) <= 1e-12 * (1 + std::abs(expected.data()[at]));
    }
    return same;
}

/// Of random elements: on one rank, on all, and made by an einsum.
struct given {
    ep::array<double, 2> elements;
    ep::tensor<double, 2> tensor;

    given(index rows, index columns, int seed, index kind) : elements({rows, columns}) {
        const ep::tensor<double, 2> all = ep::generate<double>({rows, columns}, ep::uniform(std::uint64_t(seed)));
        elements(i, j) = ep::join(ep::uniform(std::uint64_t(seed)), ep::iota(i), ep::iota(j));
        if (kind == 0) {
            tensor = all;
        } else if (kind == 1) {
            tensor = ep::from_root(elements, 0);
        } else if (kind == 3) {
            tensor = ep::placeholder<double>({rows, columns});
        } else {
            tensor(i, j) = all(i, j) * 1.0;
        }
    }
    given(const given&) = delete;
};

/// Ten of them, or two: many ranks share few cores, and each makes all plans.
void run_random_graphs(unsigned seed) {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 bits(seed);
    const auto random = [&](int from, int to) { return index(std::uniform_int_distribution<int>(from, to)(bits)); };
    int wrong = 0;
    int other_bytes = 0;
    int skipped = 0;
    for (int round = 0; round < (world.size() > 4 ? 2 : 10); ++round) {
        const index m = random(1, 9);
        const index n = random(1, 7);
        const index q = random(1, 4);
        const index a = random(-2, 2);
        const index b = random(0, 2);
        const index below = a < 0 ? -a * (m - 1) : 0;
        const index c = below + random(0, 2);
        const index kind = random(0, 3);
        const given A(c + (a > 0 ? a * (m - 1) : 0) + b * (q - 1) + 3, std::max<index>(4, b * (m - 1) + n + 2), round,
                      kind);
        const given W(q, n, 100 + round, random(0, 2));
        const index before = random(0, 2);
        const index after = random(0, 3);
        const auto graph = [&](auto& Z, auto& Y, auto& X, auto& V, auto& U, auto& P, const auto& x, const auto& w) {
            const auto padded = ep::padded(x, {before, 1}, {after, 0}, 0.5);
            Z(i, j) = x(a * i + b * r + c, b * i + j + 1) * w(r, j);
            Y(i, j) = x(i + 1, j + 1) + 0.5 * (x(i, j + 1) + x(i + 2, j + 1) + x(i + 1, j) + x(i + 1, j + 2));
            X(j) = ep::max(i, Y(i, j) - 0.5 * Y(i + 0, 0)) + x(c, j + 1);
            V(i) = exp(ep::sum(j, Z(i, n - 1 - j) * w(0, j))) + x(c, b * i);
            U(i, r) = ep::softmax(r, x(i + r, 2)) * x(i + 1, r + 0) * w(r, 0);
            P(i, j) = ep::max(r, padded(i + 2 * r, j) - w(r, 0)) + padded(i, j + 1) * exp(-x(i, j));
        };
        ep::array<double, 2> Z, Y, U, P;
        ep::array<double, 1> X, V;
        ep::tensor<double, 2> TZ, TY, TU, TP;
        ep::tensor<double, 1> TX, TV;
        const std::string failed = sentence_of([&] { graph(Z, Y, X, V, U, P, A.elements, W.elements); });
        skipped += failed.empty() ? 0 : 1;
        if (!failed.empty()) {
            continue;
        }
        graph(TZ, TY, TX, TV, TU, TP, A.tensor, W.tensor);
        ep::options asked{.objective = round % 3 == 0   ? ep::objective::time
                                       : round % 3 == 1 ? ep::objective::bytes
                                                        : ep::objective::paper,
                          .effort = ep::testing::short_search};
        asked.algorithm = round % 5 == 4   ? ep::algorithm::k
                          : round % 7 == 6 ? ep::algorithm::mn
                                           : ep::algorithm::automatic;
        const ep::plan plan = ep::decompose(world, asked, TZ, TY, TX, TV, TU, TP);
        const ep::results made = kind == 3 ? plan.run(world, ep::bind(A.tensor, A.elements)) : plan.run(world);
        wrong += agrees(made.get(TZ).allgather(), Z) ? 0 : 1;
        wrong += agrees(made.get(TY).allgather(), Y) ? 0 : 1;
        wrong += agrees(made.get(TX).allgather(), X) ? 0 : 1;
        wrong += agrees(made.get(TV).allgather(), V) ? 0 : 1;
        wrong += agrees(made.get(TU).allgather(), U) ? 0 : 1;
        wrong += agrees(made.get(TP).allgather(), P) ? 0 : 1;
        other_bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(other_bytes == 0);
    CHECK(skipped < 5);
}

}  // namespace

TEST_CASE("random graphs that read at functions of labels, one") {
    run_random_graphs(11);
}
TEST_CASE("random graphs that read at functions of labels, two") {
    run_random_graphs(12);
}
TEST_CASE("random graphs that read at functions of labels, three") {
    run_random_graphs(13);
}
TEST_CASE("random graphs that read at functions of labels, four") {
    run_random_graphs(14);
}

TEST_CASE("the halo of a stencil is a row for each neighbour, once for all terms") {
    ep::context world(MPI_COMM_WORLD);
    const index rows = 8 * world.size() + 2, columns = 6;
    ep::tensor<double, 2> X = ep::generate<double>({rows, columns}, ep::uniform(1)), Y, Z;
    Y(i, j) = 2.0 * X(i, j);
    Y.pinned({{i, world.size()}});
    Z(i, j) = Y(i + 1, j) + 0.25 * (Y(i, j) + Y(i + 2, j) - 2.0 * Y(i + 1, j));
    Z.pinned({{i, world.size()}});
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Z);
    const ep::results made = plan.run(world);
    CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
    std::size_t all = 0;
    for (int rank = 0; rank < world.size(); ++rank) {
        all += plan.bytes_sent(rank);
    }
    // Blocks of Y and Z differ by a row or two at most: two rows over every boundary.
    CHECK(all <= std::size_t(world.size() - 1) * 2 * columns * sizeof(double));
}

TEST_CASE("a step of the heat equation moves the edges of blocks, and nothing twice") {
    ep::context world(MPI_COMM_WORLD);
    const index rows = 3 * world.size() + 5, columns = 2 * world.size() + 3;
    ep::array<double, 2> expected({rows, columns}), start({rows, columns});
    start(i, j) = ep::join(ep::uniform(7), ep::iota(i), ep::iota(j));
    const auto step = [](auto& to, const auto& from) {
        const auto padded = ep::padded(from, {1, 1}, {1, 1}, 2.0);
        to(i, j) = from(i, j) + 0.1 * (padded(i, j + 1) + padded(i + 2, j + 1) + padded(i + 1, j) +
                                       padded(i + 1, j + 2) - 4.0 * padded(i + 1, j + 1));
    };
    step(expected, start);
    for (int across = 1; across <= world.size(); ++across) {
        const int down = world.size() / across;
        if (down * across != world.size()) {
            continue;
        }
        ep::tensor<double, 2> X = ep::from_root(start, 0), Y, Z;
        Y(i, j) = 1.0 * X(i, j);
        Y.pinned({{i, down}, {j, across}});
        step(Z, Y);
        Z.pinned({{i, down}, {j, across}});
        const ep::plan moves = ep::decompose(world, Y);
        const ep::plan plan = ep::decompose(world, Z);
        const ep::results made = plan.run(world);
        CHECK(agrees(made.get(Z).allgather(), expected));
        CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
        std::size_t all = 0;
        for (int rank = 0; rank < world.size(); ++rank) {
            all += plan.bytes_sent(rank) - moves.bytes_sent(rank);
        }
        CHECK(all == std::size_t(2 * ((down - 1) * columns + (across - 1) * rows)) * sizeof(double));
    }
}

TEST_CASE("parts of tensors are assigned to, and the rest is kept") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 bits(5);
    const auto random = [&](int from, int to) { return index(std::uniform_int_distribution<int>(from, to)(bits)); };
    const auto filled = [](ep::array<double, 2>& made, int seed) {
        made(i, j) = ep::join(ep::uniform(std::uint64_t(seed)), ep::iota(i), ep::iota(j));
    };
    int wrong = 0;
    int other_bytes = 0;
    for (int round = 0; round < 12; ++round) {
        const index m = random(1, 6), n = random(1, 5), a = random(0, 2), b = random(0, 2);
        const std::array<ep::array<double, 2>, 3> elements{ep::array<double, 2>({m, n}),
                                                           ep::array<double, 2>({m + a + 2, n + b + m}),
                                                           ep::array<double, 2>({2 * m + n - 1, 1})};
        std::array<ep::tensor<double, 2>, 3> tensors;
        for (std::size_t each = 0; each < 3; ++each) {
            filled(const_cast<ep::array<double, 2>&>(elements[each]), 3 * round + int(each));
            tensors[each] = ep::from_root(elements[each], 0);
        }
        const auto graph = [&](auto& Z, auto& p, const auto& A) {
            Z(i + a, j + b) = A(i, j);
            Z(m - i, 1 + b) = A(i, 0) * 2.0;
            Z(i + a, i + b + 1) += A(i, j) * A(i, j);
            Z(0, a + j) -= A(m - 1, j);
            p(2 * m - 2 - i - j + n, 0) += A(i, j);
            p(i + j, 0) -= A(i, r) * A(j, r);
            Z(1, i + 0) = exp(A(i, 0));
        };
        ep::array<double, 2> Z = elements[1], p = elements[2];
        ep::tensor<double, 2> TZ, Tp;
        TZ(i, j) = 1.0 * tensors[1](i, j);
        Tp(i, j) = 1.0 * tensors[2](i, j);
        graph(Z, p, elements[0]);
        graph(TZ, Tp, tensors[0]);
        const ep::options asked{.objective = round % 2 == 0 ? ep::objective::bytes : ep::objective::paper,
                                .effort = ep::testing::short_search};
        const ep::plan plan = ep::decompose(world, asked, TZ, Tp);
        const ep::results made = plan.run(world);
        wrong += agrees(made.get(TZ).allgather(), Z) ? 0 : 1;
        wrong += agrees(made.get(Tp).allgather(), p) ? 0 : 1;
        other_bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(other_bytes == 0);
}

TEST_CASE("what cannot be read is one sentence at decompose") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 1> X = ep::generate<double>({4}, [](auto at) { return double(at); });
    ep::tensor<double, 1> Z;
    const auto said = [&] { return sentence_of([&] { static_cast<void>(ep::decompose(world, Z)); }); };
    Z(i) = X(i + r);
    CHECK(said() ==
          "decompose: einsum: the extent of label i is not known: give the left-hand side extents, or let an operand "
          "have the label as a dimension of its own");
    Z(i) = X(i + 1) * X(i) + ep::generate<double>({4}, ep::uniform(1))(i);
    CHECK(said() ==
          "decompose: einsum: index i + 1 of dimension 0 of operand 1 runs from 1 to 4, outside the extent 4");
    Z(i) = X(i + 4);
    CHECK(said() ==
          "decompose: einsum: index i + 4 of dimension 0 of operand 1 leaves no value for label i: the dimension has "
          "extent 4");
    Z(i) = X(i);
    Z(i + j) = X(1 - i) * X(1 - j);
    CHECK(said() ==
          "decompose: einsum: several indices on the left name one element: say += to add up what is assigned to it");
    Z(i) = X(i);
    Z(2 * i) += ep::generate<double>({2}, ep::uniform(1))(i);
    CHECK(said() ==
          "decompose: einsum: on the left of a recorded tensor each label must stand with the factor 1 or -1 in some "
          "dimension; to write every second row, Z(2 * i, j), use an integer tensor of indices: Z(row(i), j)");
    Z = {};
    Z(i + 1) = X(i);
    CHECK(said() == "decompose: a tensor was used before anything was assigned to it");
}

}  // namespace index_test
