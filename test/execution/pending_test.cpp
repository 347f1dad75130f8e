// Statements whose plans leave sums pending: every number against scalar loops, every byte against the plan.

#include <doctest/doctest.h>

#include <einparallel/data/execute.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ep = einparallel;
using namespace ep::testing;

namespace pending_test {

namespace {

EINPARALLEL_LABELS(i, j, k, h);

// Uneven, and so long inside that summing up first sends least.
constexpr ep::index I = 5;
constexpr ep::index J = 67;
constexpr ep::index K = 7;

/// Small whole numbers: every order of adding them up gives the same in every element type.
template <class T>
T value_at(ep::index row, ep::index column, ep::index kind) {
    const ep::index value = (3 * row + 5 * column + 7 * kind + row * column) % 7 - 3;
    if constexpr (std::is_same_v<T, bool>) {
        return value > 2;
    } else {
        return static_cast<T>(static_cast<int>(value));
    }
}

template <class T>
ep::tensor<T, 2> matrix(ep::index rows, ep::index columns, ep::index kind) {
    return ep::generate<T>({rows, columns},
                           [kind](ep::index row, ep::index column) { return value_at<T>(row, column, kind); });
}

std::size_t left_pending(const ep::plan& made) {
    return static_cast<std::size_t>(std::count_if(
        made.vertices().begin(), made.vertices().end(),
        [](const ep::planned_vertex& each) { return !each.is_input() && each.work.pending != ep::no_label; }));
}

/// Runs twice and compares the bytes that were sent with the plan's.
ep::results run_counted(ep::context& world, const ep::plan& made) {
    static_cast<void>(made.run(world));
    ep::results got = made.run(world);
    CHECK(got.bytes_sent() == made.bytes_sent(world.rank()));
    return got;
}

/// Σ of products: row sums, a matrix-vector product, the trace and the sum of all elements of one product.
template <class T>
void check_readers(ep::context& world) {
    const ep::tensor<T, 2> A = matrix<T>(I, J, 0);
    const ep::tensor<T, 2> B = matrix<T>(J, I, 1);
    const ep::tensor<T, 1> v = ep::generate<T>({I}, [](ep::index row) { return value_at<T>(row, 2, 2); });
    ep::tensor<T, 2> Z;
    ep::tensor<T, 1> rows, times_v;
    ep::tensor<T, 0> trace, total;
    Z(i, k) = A(i, j) * B(j, k);
    rows(i) = ep::sum(k, Z(i, k));
    times_v(k) = Z(i, k) * v(i);
    trace() = ep::sum(Z(i, i));
    total() = ep::sum(rows(i));

    T z[I][I] = {};
    for (ep::index row = 0; row < I; ++row) {
        for (ep::index column = 0; column < I; ++column) {
            for (ep::index inner = 0; inner < J; ++inner) {
                z[row][column] = ep::op::sum(z[row][column],
                                             ep::op::prod(value_at<T>(row, inner, 0), value_at<T>(inner, column, 1)));
            }
        }
    }
    const ep::options least{.objective = ep::objective::bytes, .effort = ep::testing::short_search};
    for (const bool all : {true, false}) {
        const ep::plan made =
            all ? ep::decompose(world, least, rows, times_v, trace, total) : ep::decompose(world, least, total, trace);
        CHECK(left_pending(made) == (world.size() == 1 ? 0U : all ? 1U : 2U));
        const ep::results got = run_counted(world, made);
        T whole = T();
        T diagonal = T();
        for (ep::index row = 0; row < I; ++row) {
            T sum = T();
            T scaled = T();
            for (ep::index column = 0; column < I; ++column) {
                sum = ep::op::sum(sum, z[row][column]);
                scaled = ep::op::sum(scaled, ep::op::prod(z[column][row], value_at<T>(column, 2, 2)));
            }
            whole = ep::op::sum(whole, sum);
            diagonal = ep::op::sum(diagonal, z[row][row]);
            if (all) {
                CHECK(got.get(rows).allgather()(row) == sum);
                CHECK(got.get(times_v).allgather()(row) == scaled);
            }
        }
        const ep::array<T, 0> of_trace = got.get(trace).allgather();
        const ep::array<T, 0> of_total = got.get(total).allgather();
        CHECK(of_trace.data()[0] == diagonal);
        CHECK(of_total.data()[0] == whole);
    }
}

}  // namespace

TEST_CASE("readers that make less of a product take its summands, whatever the elements") {
    ep::context world(MPI_COMM_WORLD);
    check_readers<double>(world);
    check_readers<float>(world);
    check_readers<std::complex<double>>(world);
    check_readers<int>(world);
    check_readers<std::int8_t>(world);
    check_readers<std::uint16_t>(world);
    check_readers<bool>(world);
}

TEST_CASE("a sum of products is reduced once") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<long long, 2> dQ = matrix<long long>(I, J, 0);
    const ep::tensor<long long, 2> dK = matrix<long long>(I, J, 1);
    const ep::tensor<long long, 2> dV = matrix<long long>(I, J, 2);
    const ep::tensor<long long, 2> Wq = matrix<long long>(J, K, 3);
    const ep::tensor<long long, 2> Wk = matrix<long long>(J, K, 4);
    const ep::tensor<long long, 2> Wv = matrix<long long>(J, K, 5);
    ep::tensor<long long, 2> dX;
    dX(i, k) = dQ(i, h) * Wq(h, k) + dK(i, h) * Wk(h, k) - dV(i, h) * Wv(h, k);
    const ep::plan made = ep::decompose(world, {.objective = ep::objective::bytes}, dX);
    CHECK(left_pending(made) == (world.size() == 1 ? 0U : 3U));
    const int ranks = made.vertices()[made.outputs().front()].work.ranks.size();  // nine tenths of them may be enough
    CHECK(10 * ranks >= 9 * world.size());
    CHECK(made.bytes_sent() == static_cast<std::size_t>((ranks - 1) * I * K) * sizeof(long long));
    const ep::array<long long, 2> got = run_counted(world, made).get(dX).allgather();
    for (ep::index row = 0; row < I; ++row) {
        for (ep::index column = 0; column < K; ++column) {
            long long sum = 0;
            for (ep::index head = 0; head < J; ++head) {
                sum += value_at<long long>(row, head, 0) * value_at<long long>(head, column, 3) +
                       value_at<long long>(row, head, 1) * value_at<long long>(head, column, 4) -
                       value_at<long long>(row, head, 2) * value_at<long long>(head, column, 5);
            }
            CHECK(got(row, column) == sum);
        }
    }
}

TEST_CASE("largest sums stay pending under max") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A = matrix<double>(I, J, 0);
    const ep::tensor<double, 2> B = matrix<double>(J, K, 1);
    const ep::tensor<double, 1> c =
        ep::generate<double>({K}, [](ep::index column) { return value_at<double>(column, 4, 2); });
    ep::tensor<double, 2> longest;
    ep::tensor<double, 1> of_rows, shifted;
    longest(i, k) = ep::max(j, A(i, j) + B(j, k));
    of_rows(i) = ep::max(k, longest(i, k));
    shifted(i) = ep::max(k, longest(i, k) + c(k));
    const ep::plan made = ep::decompose(world, {.objective = ep::objective::bytes}, of_rows, shifted);
    CHECK(left_pending(made) == (world.size() == 1 ? 0U : 1U));
    const ep::results got = run_counted(world, made);
    const ep::array<double, 1> rows = got.get(of_rows).allgather();
    const ep::array<double, 1> moved = got.get(shifted).allgather();
    for (ep::index row = 0; row < I; ++row) {
        double largest = -std::numeric_limits<double>::infinity();
        double largest_moved = largest;
        for (ep::index column = 0; column < K; ++column) {
            for (ep::index inner = 0; inner < J; ++inner) {
                const double sum = value_at<double>(row, inner, 0) + value_at<double>(inner, column, 1);
                largest = std::max(largest, sum);
                largest_moved = std::max(largest_moved, sum + value_at<double>(column, 4, 2));
            }
        }
        CHECK(rows(row) == largest);
        CHECK(moved(row) == largest_moved);
    }
}

}  // namespace pending_test
