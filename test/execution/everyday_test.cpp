// Everyday words on tensors: the same on any number of ranks, against loops written here.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>
#include <support/resident.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

namespace ep = einparallel;
using ep::testing::sentence_of;

namespace everyday_test {

namespace {

EINPARALLEL_LABELS(i, j);

constexpr ep::index rows = 7, columns = 5;

double value(ep::index row, ep::index column) {
    return std::round(4 * ep::uniform(3)(row, column));  // 0 to 4: many ties
}

}  // namespace

TEST_CASE("values are repeated along a new label: by += where the tensor has it, and as the error says") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 1> x = ep::generate<double>({columns}, [](auto column) { return double(column + 1); });
    const auto ones = ep::generate<double>({rows}, [](auto) { return 1.0; });
    ep::tensor<double, 2> Z = ep::generate<double>({rows, columns}, value), W;
    Z(i, j) += x(j);
    W(i, j) = x(j) * ones(i);
    const auto [z, w] = ep::evaluate(world, {.objective = ep::objective::bytes}, Z, W);
    const ep::array<double, 2> added = z.allgather(), repeated = w.allgather();
    int wrong = 0;
    for (ep::index row = 0; row < rows; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            wrong += repeated(row, column) == double(column + 1) ? 0 : 1;
            wrong += added(row, column) == value(row, column) + double(column + 1) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("where nothing is summed an element is rounded as it is written") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> X = ep::generate<double>({rows, columns}, ep::uniform(5));
    const ep::tensor<double, 2> Y = ep::generate<double>({rows, columns}, ep::uniform(6));
    ep::tensor<double, 2> Z, W;
    Z(i, j) = 0.3 * X(i, j) * (Y(i, j) * 0.7);
    W(i, j) = X(i, j) * (Y(i, j) * Z(i, j));
    const auto [z, w] = ep::evaluate(world, {.objective = ep::objective::bytes}, Z, W);
    const ep::array<double, 2> scaled = z.allgather(), product = w.allgather();
    int wrong = 0;
    for (ep::index row = 0; row < rows; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            const double x = ep::uniform(5)(row, column);
            const double y = ep::uniform(6)(row, column);
            wrong += scaled(row, column) == 0.3 * x * (y * 0.7) ? 0 : 1;
            wrong += product(row, column) == x * (y * (0.3 * x * (y * 0.7))) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a sum that is a term is taken in the type of the result, as on arrays") {
    ep::context world(MPI_COMM_WORLD);
    constexpr ep::index many = 300;
    const auto X = ep::generate<double>({rows}, [](auto row) { return double(row); });
    const auto U = ep::generate<std::uint8_t>({rows, many}, [](auto, auto) { return std::uint8_t(1); });
    const auto V = ep::generate<bool>({rows, many}, [](auto, auto column) { return column % 3 == 0; });
    ep::tensor<double, 1> Z, W, S;
    ep::tensor<double, 2> E;
    ep::tensor<int, 1> N;
    Z(i) = X(i) - U(i, j);
    W(i) = ep::sum(j, U(i, j)) - X(i);
    N(i) = ep::sum(j, V(i, j)) - ep::sum(j, U(i, j));
    S(i) = -U(i, j);
    E(i, j) = -U(i, j);
    const auto [z, w, n, s, e] = ep::evaluate(world, {.objective = ep::objective::bytes}, Z, W, N, S, E);
    const ep::array<double, 1> less = z.allgather(), more = w.allgather();
    const ep::array<int, 1> counted = n.allgather();
    const ep::array<double, 1> signs = s.allgather();
    const ep::array<double, 2> sign = e.allgather();
    int wrong = 0;
    for (ep::index row = 0; row < rows; ++row) {
        wrong += less(row) == double(row) - double(many) ? 0 : 1;
        wrong += more(row) == double(many) - double(row) ? 0 : 1;
        wrong += counted(row) == 100 - 300 ? 0 : 1;
        wrong += signs(row) == -double(many) && sign(row, 1) == -1.0 ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("positions take no memory for indices on ranks") {
    ep::context world(MPI_COMM_WORLD);
    constexpr ep::index length = ep::index{1} << 23;
    const auto X = ep::generate<std::int8_t>(
        {2, length}, [](auto row, auto column) { return std::int8_t(column == 1000 * (row + 1) ? 1 : 0); });
    ep::tensor<ep::index, 1> largest;
    largest(i) = ep::argmax(j, X(i, j));
    const std::size_t before = ep::testing::most_resident();
    const ep::array<ep::index, 1> found = ep::evaluate(world, largest).allgather();
    CHECK((found(0) == 1000 && found(1) == 2000));
    // X takes 16 MiB, and indices would take 64 MiB.
    CHECK(ep::testing::most_resident() - before < std::size_t{24} << 20);
}

TEST_CASE("mean, where, iota, places and random numbers on ranks") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 2> X = ep::generate<double>({rows, columns}, value), Z;
    ep::tensor<ep::index, 1> largest, smallest;
    ep::tensor<double, 1> top;
    CHECK(X.extent(1) == columns);
    Z(i, j) = ep::where(X(i, j) > 1, X(i, j) - ep::mean(i, X(i, j)), 0.5 * ep::iota(j));
    top(i) = ep::max(j, X(i, j));
    largest(i) = ep::argmax(j, X(i, j));
    smallest(i) = ep::argmin(j, X(i, j));
    for (const ep::objective wanted : {ep::objective::time, ep::objective::bytes}) {
        const auto [z, t, l, s] = ep::evaluate(world, {.objective = wanted}, Z, top, largest, smallest);
        const ep::array<double, 2> made = z.allgather();
        const ep::array<double, 1> tops = t.allgather();
        const ep::array<ep::index, 1> at_largest = l.allgather();
        const ep::array<ep::index, 1> at_smallest = s.allgather();
        int wrong = 0;
        for (ep::index row = 0; row < rows; ++row) {
            ep::index most = 0, least = 0;
            for (ep::index column = 0; column < columns; ++column) {
                double mean = 0;
                for (ep::index other = 0; other < rows; ++other) {
                    mean += value(other, column) / static_cast<double>(rows);
                }
                const double x = value(row, column);
                const double expected = x > 1 ? x - mean : 0.5 * static_cast<double>(column);
                wrong += std::abs(made(row, column) - expected) < 1e-14 ? 0 : 1;
                most = x > value(row, most) ? column : most;
                least = x < value(row, least) ? column : least;
            }
            wrong += at_largest(row) == most && at_smallest(row) == least && tops(row) == value(row, most) ? 0 : 1;
        }
        CHECK(wrong == 0);
    }
    ep::tensor<double, 1> y;
    y(i) = X(i, j) * ep::iota(j);
    const ep::array<double, 1> weighted = ep::evaluate(world, {.objective = ep::objective::bytes}, y).allgather();
    CHECK(weighted(0) == value(0, 1) + 2 * value(0, 2) + 3 * value(0, 3) + 4 * value(0, 4));
    ep::tensor<ep::index, 1> nowhere;
    nowhere(i) = 2 * ep::iota(i);
    CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, nowhere)); }) ==
          "decompose: einsum: the extent of label i is not known: give the left-hand side extents, or let an operand "
          "have the label as a dimension of its own");
}

TEST_CASE("equal statements are computed once, and each handle finds its result") {
    ep::context world(MPI_COMM_WORLD);
    EINPARALLEL_LABELS(k, l);
    ep::tensor<double, 2> A = ep::generate<double>({rows, rows}, value), X, Y, Z;
    X(i, k) = A(i, j) * A(j, k);
    Y(i, l) = A(i, j) * A(j, k) * A(k, l);
    Z(j, l) = A(j, i) * A(i, l);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, X, Y, Z);
    CHECK(plan.vertices().size() == 3);
    const ep::results made = plan.run(world);
    const ep::array<double, 2> x = made.get(X).allgather(), y = made.get(Y).allgather(), z = made.get(Z).allgather();
    int wrong = 0;
    for (ep::index row = 0; row < rows; ++row) {
        for (ep::index column = 0; column < rows; ++column) {
            double square = 0, cube = 0;
            for (ep::index between = 0; between < rows; ++between) {
                square += value(row, between) * value(between, column);
                cube += x(row, between) * value(between, column);
            }
            wrong += x(row, column) == square && z(row, column) == square && y(row, column) == cube ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("random numbers are those of the index, whoever holds it") {
    ep::context world(MPI_COMM_WORLD);
    const ep::array<double, 2> all =
        ep::evaluate(world, {.objective = ep::objective::bytes}, ep::generate<double>({rows, columns}, ep::normal(11)))
            .allgather();
    int wrong = 0;
    for (ep::index row = 0; row < rows; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            wrong += all(row, column) == ep::normal(11)(row, column) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a distributed tensor prints this rank's part") {
    ep::context world(MPI_COMM_WORLD);
    ep::array<double, 1> mine({2});
    mine.data()[0] = world.rank();
    mine.data()[1] = 0.5;
    const ep::distributed<double, 1> spread(world, {2 * world.size()}, {2 * world.rank()}, mine);
    std::ostringstream written;
    written << spread;
    const std::string rank = std::to_string(world.rank());
    CHECK(written.str() == "[" + std::to_string(2 * world.rank()) + ":" + std::to_string(2 * world.rank() + 2) +
                               "] of " + std::to_string(2 * world.size()) + "\n[" + rank + ", 0.5]");
    std::ostringstream nothing;
    nothing << ep::distributed<double, 1>();
    CHECK(nothing.str() == "an empty handle");
    std::ostringstream element;
    const ep::distributed<double, 0> one = ep::evaluate(world, ep::generate<double>({}, [] { return 2.5; }));
    element << one;
    CHECK(element.str() == (one.held().empty() ? "nothing" : "2.5"));
}

}  // namespace everyday_test
