// log Σ eˣ cut over ranks, and its gradient: the softmax, 0 for a row of −∞.

#include <einparallel.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>

namespace logsumexp_run_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr double inf = std::numeric_limits<double>::infinity();

ep::array<double, 2> some(ep::index rows, ep::index columns) {
    ep::array<double, 2> made({rows, columns});
    for (ep::index at = 0; at < made.size(); ++at) {
        made.data()[at] = std::sin(static_cast<double>(at)) * 50;
    }
    for (ep::index at = 0; at < columns; ++at) {
        made(1, at) = -inf;
        made(2, at) = at == 2 ? 5 : -inf;
    }
    return made;
}

}  // namespace

TEST_CASE("logsumexp is cut over ranks along both labels") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::index columns : {3, 13, 501}) {
        const ep::array<double, 2> x = some(7, columns);
        ep::array<double, 1> here;
        here(i) = ep::logsumexp(j, x(i, j));
        const ep::tensor<double, 2> X = ep::from_root(x, 0);
        const ep::tensor<ep::bfloat16, 2> H = ep::from_root(ep::array<ep::bfloat16, 2>({7, columns}), 0);
        ep::tensor<double, 1> Z;
        ep::tensor<ep::bfloat16, 1> L;
        Z(i) = ep::logsumexp(j, X(i, j));
        L(i) = ep::logsumexp(j, H(i, j));
        for (const bool cuts : {false, true}) {
            const ep::array<double, 1> there =
                cuts ? ep::plan_with(world, {}, ep::rivals::along("j"), Z).run(world).get(Z).allgather()
                     : ep::evaluate(world, Z).allgather();
            for (ep::index at = 0; at < 7; ++at) {
                CHECK((there(at) == here(at) || std::abs(there(at) - here(at)) < 1e-12));
            }
        }
        const ep::array<ep::bfloat16, 1> flat = ep::evaluate(world, L).allgather();
        CHECK(float(flat(0)) == float(ep::bfloat16(std::log(static_cast<float>(columns)))));
    }
}

TEST_CASE("the gradient of logsumexp is a softmax") {
    ep::context world(MPI_COMM_WORLD);
    const ep::array<double, 2> x = some(6, 9);
    const ep::tensor<double, 2> X = ep::from_root(x, 0);
    ep::tensor<double, 0> loss;
    ep::tensor<double, 1> Z;
    Z(i) = ep::logsumexp(j, X(i, j));
    loss() = ep::sum(ep::where(Z(i) > -1e300, Z(i), 0.0) * (1.0 + ep::iota(i)));
    const ep::array<double, 2> g = ep::evaluate(world, ep::gradient(loss, X)).allgather();
    for (ep::index row = 0; row < 6; ++row) {
        double sum = 0;
        for (ep::index column = 0; column < 9; ++column) {
            sum += std::exp(x(row, column));
        }
        for (ep::index column = 0; column < 9; ++column) {
            const double share = row == 1 ? 0 : std::exp(x(row, column)) / sum * static_cast<double>(1 + row);
            CHECK(std::abs(g(row, column) - share) < 1e-12);
        }
    }
    const ep::tensor<double, 1> V = ep::from_root(ep::array<double, 1>{0.5, -1.0, 3.0}, 0);
    ep::tensor<double, 0> other;
    other() = ep::sum(ep::log1p(ep::expm1(V(i)) + 2.0) + ep::logaddexp(V(i), 1.0));
    const ep::array<double, 1> by_v = ep::evaluate(world, ep::gradient(other, V)).allgather();
    const double values[] = {0.5, -1.0, 3.0};
    for (ep::index at = 0; at < 3; ++at) {
        const double e = std::exp(values[at]);
        CHECK(std::abs(by_v(at) - (e / (e + 2) + e / (e + std::exp(1.0)))) < 1e-14);
    }
}

TEST_CASE("second derivatives of logsumexp and logaddexp") {
    ep::context world(MPI_COMM_WORLD);
    const ep::array<double, 1> x{-0.5, 0, 0.7, 2};
    const auto X = ep::placeholder<double>({4});
    ep::tensor<double, 0> loss, directed;
    loss() = ep::logsumexp(i, X(i));
    const ep::tensor<double, 1> shares = ep::gradient(loss, X);
    directed() = ep::sum(shares(i) * X(i) * X(i));
    const auto second = ep::evaluate(world, ep::gradient(directed, X), ep::bind(X, x)).allgather();
    double all = 0;
    double mean = 0;
    for (ep::index at = 0; at < 4; ++at) {
        all += std::exp(x(at));
        mean += std::exp(x(at)) * x(at) * x(at);
    }
    mean /= all;
    for (ep::index at = 0; at < 4; ++at) {  // of Σ p x²
        const double expected = std::exp(x(at)) / all * (2 * x(at) + x(at) * x(at) - mean);
        CHECK(second(at) == doctest::Approx(expected).epsilon(1e-13));
    }
    const auto Y = ep::placeholder<double>({4});
    ep::tensor<double, 0> pairs, twice;
    pairs() = ep::sum(logaddexp(X(i), Y(i)));
    const ep::tensor<double, 1> first = ep::gradient(pairs, X);
    twice() = ep::sum(first(i));
    const auto [xx, xy] = ep::gradient(twice, X, Y);
    const ep::array<double, 1> y{0.3, -inf, 1, inf};
    const auto [f, a, b] = ep::evaluate(world, first, xx, xy, ep::bind(X, x), ep::bind(Y, y));
    const auto by_x = f.allgather();
    const auto by_xx = a.allgather();
    const auto by_xy = b.allgather();
    for (ep::index at = 0; at < 4; ++at) {
        const double p = y(at) == -inf ? 1 : 1 / (1 + std::exp(y(at) - x(at)));
        CHECK(by_x(at) == doctest::Approx(p).epsilon(1e-14));
        CHECK(by_xx(at) == doctest::Approx(p * (1 - p)).epsilon(1e-13));
        CHECK(by_xy(at) == doctest::Approx(-p * (1 - p)).epsilon(1e-13));
    }
}

}  // namespace logsumexp_run_test
