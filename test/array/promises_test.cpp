// What examples/pages/arithmetic.md promises, statement by statement.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace promises_test {

namespace {

namespace ep = einparallel;
EINPARALLEL_LABELS(i, j, k);

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Of n elements: 0, 1, 2, … but for one.
ep::array<double, 1> with(ep::index n, ep::index at, double value) {
    ep::array<double, 1> x({n});
    for (ep::index each = 0; each < n; ++each) {
        x(each) = static_cast<double>(each);
    }
    x(at) = value;
    return x;
}

}  // namespace

TEST_CASE("a NaN arrives, wherever it stands") {
    for (const ep::index n : {1, 5, 64, 1000, 70000}) {
        for (const ep::index at : {ep::index{0}, n / 2, n - 1}) {
            CAPTURE(n);
            CAPTURE(at);
            const ep::array<double, 1> x = with(n, at, nan);
            const ep::array<double, 1> zeros({n});
            ep::array<double, 0> s;
            s() = ep::sum(x(i));
            CHECK(std::isnan(s.value()));
            s() = ep::sum(zeros(i) * x(i));
            CHECK(std::isnan(s.value()));
            s() = ep::max(x(i));
            CHECK(std::isnan(s.value()));
            s() = ep::min(x(i) + 1.0);
            CHECK(std::isnan(s.value()));
            ep::array<ep::index, 0> place;
            place() = ep::argmax(i, x(i));
            CHECK(place.value() == at);
            ep::array<double, 1> z;
            z(i) = ep::max(x(i), 3.0);
            CHECK(std::isnan(z(at)));
            z(i) = where(x(i) == x(i), x(i), -1.0);
            CHECK(z(at) == -1.0);
            z(i) = exp(-x(i)) * 2.0;
            CHECK(std::isnan(z(at)));
        }
    }
}

TEST_CASE("no factor is skipped because it is 0") {
    ep::array<double, 2> A({40, 30}), B({30, 20}), C;
    B(7, 3) = nan;
    B(8, 4) = inf;
    C(i, k) = A(i, j) * B(j, k);
    for (ep::index row = 0; row < 40; ++row) {
        CHECK(std::isnan(C(row, 3)));
        CHECK(std::isnan(C(row, 4)));
        CHECK(C(row, 5) == 0.0);
    }
}

TEST_CASE("signed zeros are kept where nothing is summed") {
    for (const ep::index n : {1, 17, 3000}) {
        ep::array<double, 1> x({n}), z;
        z(i) = -x(i);
        CHECK(std::signbit(z(n - 1)));
        z(i) = z(i) * 2.0;
        CHECK(std::signbit(z(n - 1)));
        z(i) = sqrt(z(i));
        CHECK(std::signbit(z(n - 1)));
        z(i) = sin(z(i));
        CHECK(std::signbit(z(n - 1)));
    }
}

TEST_CASE("a constant operand keeps the sign of its zero") {
    ep::array<double, 1> x({5}), y({80});
    ep::array<double, 2> z;
    x(i) = -0.0;
    y(j) = 1.0;
    z(i, j) = x(i) * y(j);
    CHECK(std::signbit(z(4, 79)));
    z(i, j) = y(j) * x(i);
    CHECK(std::signbit(z(0, 0)));
    z(i, j) = -0.0;
    z(i, j) += x(i) * y(j);
    CHECK(std::signbit(z(4, 79)));
}

TEST_CASE("what is subtracted is subtracted in the type of the result") {
    const ep::array<std::uint8_t, 2> ones{{1, 1}, {1, 1}};
    ep::array<double, 1> z({2});
    z(i) = 10.0;
    z(i) = z(i) - ep::sum(j, ones(i, j));
    CHECK(z(1) == 8.0);
    z(i) -= ones(i, j);
    CHECK(z(1) == 6.0);
    z(i) = z(i) - ones(i, j) * ones(i, j);
    CHECK(z(1) == 4.0);
    ep::array<unsigned, 1> one({2});
    one(i) = 1U;
    z(i) -= one(i);
    CHECK(z(0) == 3.0);
    ep::array<std::int64_t, 1> n({2});
    n(i) -= one(i) * one(i);
    CHECK(n(0) == -1);
    z(i) = -one(i);
    CHECK(z(1) == -1.0);
    z(i) = -one(i) + z(i);
    CHECK(z(1) == -2.0);
    z(i) = -ones(i, j);
    CHECK(z(1) == -2.0);
    ep::array<std::int8_t, 1> lowest({2});
    lowest(i) = std::int8_t(-128);
    n(i) -= lowest(i);
    CHECK(n(1) == 127);
}

TEST_CASE("a mean of small integers is one of doubles") {
    ep::array<std::uint8_t, 1> x({4});
    ep::array<double, 0> mean;
    x(i) = std::uint8_t(200);
    mean() = ep::mean(x(i));
    CHECK(mean.value() == 200.0);
    mean() = 2.0 * ep::mean(i, x(i));
    CHECK(mean.value() == 400.0);
}

TEST_CASE("places of extremes are found in products that are computed twice") {
    constexpr ep::index n = 20;
    ep::array<double, 2> A({n, n}), B({n, n});
    for (ep::index each = 0; each < n * n; ++each) {
        A.data()[each] = std::sin(static_cast<double>(each) + 1.0);
        B.data()[each] = std::cos(3.0 * static_cast<double>(each));
    }
    ep::array<ep::index, 2> place;
    const auto count_outside = [&] {
        int wrong = 0;
        for (ep::index each = 0; each < n * n; ++each) {
            wrong += place.data()[each] < n ? 0 : 1;
        }
        return wrong;
    };
    place(i, k) = ep::argmax(j, A(i, j) * B(j, k) - 0.1);
    CHECK(count_outside() == 0);
    place(i, k) = ep::argmin(j, 2.0 - 2.0 * A(i, j) * B(j, k));
    CHECK(count_outside() == 0);
    place(i, k) = ep::argmax(j, ep::join([](double a, double b) { return a * b - 0.1; }, A(i, j), B(j, k)));
    CHECK(count_outside() == 0);
}

TEST_CASE("an element is rounded as its formula is written") {
    const double third = 1.0 / 3.0;
    ep::array<double, 1> x({999}), z;
    x(i) = third;
    z(i) = x(i) * x(i) - third * third;  // a fused multiply-add would leave the product's rounding error
    for (ep::index each = 0; each < 999; ++each) {
        CHECK(z(each) == 0.0);
    }
    for (const ep::index n : {5, 999}) {
        ep::array<double, 1> y({n}), w({n});
        for (ep::index each = 0; each < n; ++each) {
            y(each) = 1.0 / (static_cast<double>(each) + 3.1);
            w(each) = 1.0 / (static_cast<double>(each) + 1.7);
        }
        const auto is_rounded_as = [&](auto formula) {
            for (ep::index each = 0; each < n; ++each) {
                if (z(each) != formula(y(each), w(each))) {
                    return false;
                }
            }
            return true;
        };
        z = {};
        z(i) = 0.3 * y(i) * w(i);
        CHECK(is_rounded_as([](double a, double b) { return 0.3 * a * b; }));
        z(i) = 0.3 * (y(i) * w(i));
        CHECK(is_rounded_as([](double a, double b) { return 0.3 * (a * b); }));
        z(i) = y(i) * 0.3 * 0.7;
        CHECK(is_rounded_as([](double a, double /*b*/) { return a * 0.3 * 0.7; }));
        z(i) = w(i) * (y(i) * w(i));
        CHECK(is_rounded_as([](double a, double b) { return b * (a * b); }));
        z(i) = -(y(i) * 0.3) * (0.7 * w(i));
        CHECK(is_rounded_as([](double a, double b) { return -(a * 0.3) * (0.7 * b); }));
    }
}

TEST_CASE("no multiplication is fused with an addition inside a term that is reduced") {
    const double third = 1.0 / 3.0;
    ep::array<double, 2> A({20, 20}), C;
    A(i, j) = third;
    C(i, k) = ep::max(A(i, j) * A(j, k) - third * third);
    CHECK(C(19, 19) == 0.0);
    C(i, k) = ep::max(ep::join([third](double a, double b) { return a * b - third * third; }, A(i, j), A(j, k)));
    CHECK(C(0, 0) == 0.0);
}

TEST_CASE("identities where there is nothing to aggregate") {
    const ep::array<double, 2> x({3, 0});
    const ep::array<std::int8_t, 2> n({3, 0});
    ep::array<double, 1> z({3});
    ep::array<std::int8_t, 1> m({3});
    z(i) = ep::sum(x(i, j));
    CHECK(z(2) == 0.0);
    z(i) = ep::prod(x(i, j));
    CHECK(z(2) == 1.0);
    z(i) = ep::max(x(i, j));
    CHECK(z(2) == -inf);
    z(i) = ep::min(exp(x(i, j)));
    CHECK(z(2) == inf);
    m(i) = ep::max(n(i, j));
    CHECK(m(2) == -128);
    m(i) = ep::min(n(i, j));
    CHECK(m(2) == 127);
}

TEST_CASE_TEMPLATE("integers wrap", T, std::int8_t, std::int32_t, std::int64_t, std::uint16_t) {
    constexpr T highest = std::numeric_limits<T>::max();
    constexpr T lowest = std::numeric_limits<T>::min();
    for (const ep::index n : {1, 40}) {
        ep::array<T, 1> x({n}), z;
        x(i) = highest;
        z(i) = x(i) + T(1);
        CHECK(z(n - 1) == lowest);
        z(i) = x(i) * x(i);
        CHECK(z(n - 1) == T(1));
        z(i) = -(x(i) + T(1));
        CHECK(z(n - 1) == lowest);
        z(i) = abs(x(i) + T(1));
        CHECK(z(n - 1) == lowest);
        ep::array<T, 0> s;
        s() = ep::sum(x(i) + x(i));
        CHECK(s.value() == static_cast<T>(-2 * n));
    }
}

TEST_CASE("complex products are BLAS's") {
    ep::array<std::complex<double>, 1> x({5}), z;
    x(i) = std::complex<double>(inf, nan);
    z(i) = x(i) * x(i) + 0.0;
    CHECK(std::isnan(z(4).real()));
    CHECK(std::isnan(z(4).imag()));
    x(i) = std::complex<double>(1.0 / 3.0, 1.0 / 7.0);
    z(i) = x(i) * conj(x(i));
    CHECK(z(4).imag() == 0.0);
}

TEST_CASE("a sign of a complex number is no product") {
    ep::array<std::complex<double>, 1> x({5}), z;
    x(i) = std::complex<double>(inf, 1.0);
    z(i) = -x(i);
    CHECK(z(4) == std::complex<double>(-inf, -1.0));
    z(i) = 1.0;
    z(i) -= x(i);
    CHECK(z(4) == std::complex<double>(-inf, -1.0));
}

TEST_CASE("elementary functions are the same on one element as on many") {
    for (const ep::index n : {1, 3, 4, 63, 257}) {
        const ep::array<double, 1> x = with(n, 0, 0.3);
        ep::array<double, 1> z, one, y({1});
        z(i) = tanh(x(i)) + erf(x(i)) * exp(-x(i)) + pow(x(i), 1.5);
        for (ep::index each = 0; each < n; ++each) {
            y(0) = x(each);
            one(i) = tanh(y(i)) + erf(y(i)) * exp(-y(i)) + pow(y(i), 1.5);
            CHECK(one(0) == z(each));
        }
    }
}

}  // namespace promises_test
