// Products in the order whose plan is fastest: the numbers do not notice, and the handle is still the result's.

#include <doctest/doctest.h>

#include <einparallel/data/execute.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>

#include <array>
#include <cstddef>

namespace ep = einparallel;
using namespace ep::testing;

namespace order_test {

namespace {

EINPARALLEL_LABELS(i, j, k, l, m);

constexpr ep::index I = 13;
constexpr ep::index J = 10;
constexpr ep::index K = 11;
constexpr ep::index L = 15;
constexpr ep::index M = 24;

double a_at(ep::index row, ep::index column) {
    return static_cast<double>((3 * row + 5 * column) % 7 - 3);
}
double b_at(ep::index row, ep::index column) {
    return static_cast<double>((2 * row + 3 * column) % 5 - 2);
}

/// 2 · A · B · C · D, whole numbers all of them.
double product_at(ep::index row, ep::index column) {
    double sum = 0;
    for (ep::index j_at = 0; j_at < J; ++j_at) {
        for (ep::index k_at = 0; k_at < K; ++k_at) {
            for (ep::index l_at = 0; l_at < L; ++l_at) {
                sum += 2 * a_at(row, j_at) * b_at(j_at, k_at) * a_at(k_at, l_at) * b_at(l_at, column);
            }
        }
    }
    return sum;
}

}  // namespace

TEST_CASE("four factors in any order are one product") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 2> A = ep::generate<double>({I, J}, a_at);
    ep::tensor<double, 2> B = ep::generate<double>({J, K}, b_at);
    ep::tensor<double, 2> C = ep::generate<double>({K, L}, a_at);
    ep::tensor<double, 2> D = ep::generate<double>({L, M}, b_at);
    ep::tensor<double, 2> Z;
    ep::tensor<double, 2> less;
    Z(i, m) = 2.0 * A(i, j) * B(j, k) * C(k, l) * D(l, m);
    less(i, m) = Z(i, m) - 1.0;

    std::size_t unlike = 0;
    for (const double seconds_per_byte : {1e-13, 1e-11, 1e-9}) {
        if (world.size() > 4 && seconds_per_byte != 1e-11) {
            continue;  // of what many ranks plan a part
        }
        ep::options asked{.machine = {.seconds_per_message = 1e-11, .seconds_per_byte = seconds_per_byte},
                          .effort = ep::testing::short_search};
        const ep::plan usual = ep::decompose(world, asked, Z, less);
        asked.order = ep::order::best_plan;
        const ep::plan made = ep::decompose(world, asked, Z, less);
        CHECK(made.seconds() <= usual.seconds());
        CHECK(made.vertices().size() == usual.vertices().size());
        if (seconds_per_byte == 1e-11) {
            CHECK(made == ep::decompose(world, asked, Z, less));
        }
        for (std::size_t number = 0; number < made.vertices().size(); ++number) {
            unlike += made.vertices()[number].bounds != usual.vertices()[number].bounds ? 1 : 0;
        }
        for (int run = 0; run < 2; ++run) {
            const ep::results got = made.run(world);
            const ep::array<double, 2> z = got.get(Z).allgather();
            const ep::array<double, 2> y = got.get(less).allgather();
            for (ep::index row = 0; row < I; ++row) {
                for (ep::index column = 0; column < M; ++column) {
                    CHECK(z(row, column) == product_at(row, column));
                    CHECK(y(row, column) == product_at(row, column) - 1);
                }
            }
        }
    }
    // On one rank operations alone decide; on two and three another order leaves fewer of them without work.
    if (world.size() <= 3) {
        CHECK((unlike > 0) == (world.size() > 1));
    }
}

}  // namespace order_test
