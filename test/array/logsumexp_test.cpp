// log Σ eˣ on arrays, and the elementary functions that stay exact near 0.

#include <doctest/doctest.h>

#include <einparallel/array/array.hpp>
#include <einparallel/array/assign.hpp>
#include <einparallel/notation/functions.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace logsumexp_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// By definition.
long double expected(const std::vector<double>& x) {
    long double largest = -std::numeric_limits<long double>::infinity();
    for (const double each : x) {
        largest = std::max<long double>(largest, each);
    }
    long double sum = 0;
    for (const double each : x) {
        sum += std::exp(static_cast<long double>(each) - largest);
    }
    return std::isinf(largest) ? largest : largest + std::log(sum);
}

}  // namespace

TEST_CASE_TEMPLATE("rows of infinities, NaN and nothing", T, float, double, ep::float16, ep::bfloat16) {
    const double rows[][3] = {{-inf, -inf, -inf}, {1, inf, -inf}, {nan, 1, inf}, {-inf, 3, -inf}, {40, 40, 39}};
    ep::array<T, 2> x({5, 3});
    for (ep::index at = 0; at < x.size(); ++at) {
        x.data()[at] = T(rows[at / 3][at % 3]);
    }
    ep::array<T, 1> z, across, nothing({4});
    z(i) = ep::logsumexp(j, x(i, j));
    CHECK(float(z(0)) == -std::numeric_limits<float>::infinity());
    CHECK(float(z(1)) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(float(z(2))));
    CHECK(float(z(3)) == 3);
    CHECK(std::abs(float(z(4)) - 40.8620F) < 0.2F);
    across(j) = ep::logsumexp(x(i, j));
    CHECK(std::isnan(float(across(0))));
    CHECK(float(across(1)) == std::numeric_limits<float>::infinity());
    nothing(i) = ep::logsumexp(j, ep::array<T, 2>({4, 0})(i, j));
    CHECK(float(nothing(3)) == -std::numeric_limits<float>::infinity());
}

TEST_CASE_TEMPLATE("long and short rows, along any dimension, of sums and of products", T, float, double) {
    for (const ep::index rows : {1, 3, 17}) {
        for (const ep::index columns : {1, 2, 7, 31, 64, 1000, 4097}) {
            CAPTURE(rows);
            CAPTURE(columns);
            ep::array<T, 2> x({rows, columns}), turned({columns, rows});
            for (ep::index at = 0; at < x.size(); ++at) {
                x.data()[at] = static_cast<T>(std::sin(static_cast<double>(at)) * 90);
            }
            turned(j, i) = x(i, j);
            ep::array<T, 1> by_row, by_column, half;
            by_row(i) = ep::logsumexp(j, x(i, j));
            by_column(i) = ep::logsumexp(turned(j, i));
            half(i) = ep::logsumexp(j, x(i, j) / T(2) + x(i, j) / T(2));
            for (ep::index row = 0; row < rows; ++row) {
                std::vector<double> all;
                for (ep::index column = 0; column < columns; ++column) {
                    all.push_back(static_cast<double>(x(row, column)));
                }
                const double bound = 200 * static_cast<double>(std::numeric_limits<T>::epsilon());
                const auto exact = static_cast<double>(expected(all));
                CHECK(std::abs(static_cast<double>(by_row(row)) - exact) <= bound);
                CHECK(std::abs(static_cast<double>(by_column(row)) - exact) <= bound);
                CHECK(std::abs(static_cast<double>(half(row)) - exact) <= bound);
            }
        }
    }
}

TEST_CASE("a product of the semiring, integers, and pairs") {
    ep::array<double, 2> a({5, 8}), b({8, 3}), z;
    for (ep::index at = 0; at < 40; ++at) {
        a.data()[at] = static_cast<double>(at * 37 % 23) * 30 - 300;
        b.data()[at % 24] = static_cast<double>(at * 11 % 17) * 20;
    }
    z(i, k) = ep::logsumexp(j, a(i, j) + b(j, k));
    for (ep::index row = 0; row < 5; ++row) {
        for (ep::index column = 0; column < 3; ++column) {
            std::vector<double> all;
            for (ep::index at = 0; at < 8; ++at) {
                all.push_back(a(row, at) + b(at, column));
            }
            CHECK(std::abs(z(row, column) - static_cast<double>(expected(all))) < 1e-12);
        }
    }
    const ep::array<int, 1> counts{1, 2, 3};
    ep::array<double, 1> one({1}), pairs;
    one(k) = ep::logsumexp(i, counts(i) + 0 * ep::iota(k, 1));
    CHECK(std::abs(one(0) - static_cast<double>(expected({1, 2, 3}))) < 1e-14);
    pairs(i) = ep::logaddexp(counts(i), 2);
    CHECK(std::abs(pairs(1) - static_cast<double>(expected({2, 2}))) < 1e-14);
    ep::array<double, 1> near{1e-20, -1e-20, -0.0}, small, back;
    small(i) = ep::expm1(near(i));
    back(i) = ep::log1p(small(i));
    CHECK(small(0) == 1e-20);
    CHECK(back(1) == -1e-20);
    CHECK(std::signbit(small(2)));
    CHECK(std::signbit(back(2)));
}

}  // namespace logsumexp_test
