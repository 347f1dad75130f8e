// Running sums and products, and the largest elements of rows, against loops written here.

#include <einparallel.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace running_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, t);

/// Small whole numbers, whose sums are exact.
template <class T>
ep::array<T, 3> filled(std::mt19937& bits, index m, index n, index p) {
    ep::array<T, 3> made({m, n, p});
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = ep::detail::converted<T>(std::uniform_int_distribution<int>(0, 3)(bits));
    }
    return made;
}

/// Along each of the dimensions of a tensor, in any order of the output's, of views and of what is computed.
template <class T>
int wrong_sums(unsigned seed) {
    std::mt19937 bits(seed);
    const auto random = [&](int from, int to) { return index(std::uniform_int_distribution<int>(from, to)(bits)); };
    int wrong = 0;
    const auto check = [&](T got, T expected) { wrong += got == expected ? 0 : 1; };
    for (int round = 0; round < 60; ++round) {
        const index m = random(0, 9), n = random(1, 9), p = random(1, round % 10 == 0 ? 3000 : 9);
        ep::array<T, 3> X = filled<T>(bits, m, n, p), A({m, n, p}), B({p, m, n}), C({m, n, p}), D({m, n, p}),
                        F({m, n, p + 2});
        A(i, j, t) = ep::cumsum(t, X(i, j, t));
        B(t, i, j) = ep::cumsum(i, X(i, j, t) * X(i, j, t)) + X(i, j, t);
        C(i, j, t) = ep::cumprod(j, X(i, j, t));
        D(i, j, t) = ep::cumsum(j, X(i, j, p - 1 - t));
        F(i, j, t) = ep::cumsum(t, ep::padded(X, {0, 0, 1}, {0, 0, 1}, 2)(i, j, t));
        for (index a = 0; a < m; ++a) {
            for (index b = 0; b < n; ++b) {
                T along_t = T(0), padded = T(2);
                check(F(a, b, 0), padded);
                for (index c = 0; c < p; ++c) {
                    along_t = T(along_t + X(a, b, c));
                    padded = T(padded + X(a, b, c));
                    check(A(a, b, c), along_t);
                    check(F(a, b, c + 1), padded);
                    T along_i = T(0), product = T(1), turned = T(0);
                    for (index d = 0; d <= a; ++d) {
                        along_i = T(along_i + X(d, b, c) * X(d, b, c));
                    }
                    for (index d = 0; d <= b; ++d) {
                        product = T(product * X(a, d, c));
                        turned = T(turned + X(a, d, p - 1 - c));
                    }
                    check(B(c, a, b), T(along_i + X(a, b, c)));
                    check(C(a, b, c), product);
                    check(D(a, b, c), turned);
                }
                check(F(a, b, p + 1), T(padded + T(2)));
            }
        }
    }
    return wrong;
}

}  // namespace

TEST_CASE("running sums and products along any dimension") {
    CHECK(wrong_sums<double>(1) == 0);
    CHECK(wrong_sums<float>(2) == 0);
    CHECK(wrong_sums<int>(3) == 0);
    CHECK(wrong_sums<std::int8_t>(4) == 0);
    CHECK(wrong_sums<std::complex<double>>(5) == 0);
}

TEST_CASE("a running sum is the sum up to an index, written out") {
    ep::array<double, 2> X({40, 7}), Z({40, 7}), written({40, 7});
    X(t, j) = ep::join(ep::uniform(3), ep::iota(t), ep::iota(j));
    EINPARALLEL_LABELS(s);
    Z(t, j) = ep::cumsum(t, X(t, j));
    written(t, j) = ep::sum(s, ep::where(ep::iota(s) <= ep::iota(t), X(s, j), 0.0));
    for (index at = 0; at < Z.size(); ++at) {
        CHECK(Z.data()[at] == doctest::Approx(written.data()[at]).epsilon(1e-13));
    }
    // Summed outside, behind a map, and over a label that it has twice.
    double sum = 0, diagonal = 0;
    for (index a = 0; a < 7; ++a) {
        diagonal += X(a + 1, a);
        for (index b = 0; b < 40; ++b) {
            sum += std::exp(-Z(b, a));
        }
    }
    ep::array<double, 0> total;
    total() = ep::sum(t, j, ep::exp(-ep::cumsum(t, X(t, j))));
    CHECK(total.data()[0] == doctest::Approx(sum).epsilon(1e-13));
    ep::array<double, 2> square({7, 7});
    square(i, j) = X(i + 1, j);
    ep::array<double, 1> sums({7});
    sums(t) = ep::cumsum(t, square(t, t));
    CHECK(sums(6) == doctest::Approx(diagonal).epsilon(1e-13));
    CHECK(sentence_of([&] { X(t, j) = ep::cumsum(t, X(t, j)); }).find("the output shares elements with an operand") !=
          std::string::npos);
}

TEST_CASE("the largest elements of rows: ties by index, NaN last") {
    std::mt19937 bits(7);
    const auto random = [&](int from, int to) { return index(std::uniform_int_distribution<int>(from, to)(bits)); };
    int wrong = 0;
    for (int round = 0; round < 200; ++round) {
        const index m = random(1, 6), n = random(1, 30), count = random(0, int(n));
        ep::array<double, 2> A({n, m}), V({m, count});
        for (index at = 0; at < A.size(); ++at) {
            const index value = random(-3, 4);
            A.data()[at] = value == 4 ? std::numeric_limits<double>::quiet_NaN() : double(value);
        }
        const auto [values, places] = ep::top_k(k, j, A(j, i));
        V(i, k) = values;
        ep::array<int, 2> P;
        const auto [same, counted] = ep::top_k(k, j, A(j, i), count);
        P(k, i) = counted;
        for (index row = 0; row < m; ++row) {
            std::vector<index> order(std::size_t(n), 0);
            for (index at = 0; at < n; ++at) {
                order[std::size_t(at)] = at;
            }
            std::stable_sort(order.begin(), order.end(), [&](index a, index b) {
                const double first = A(a, row), second = A(b, row);
                return std::isnan(second) ? !std::isnan(first) : first > second;
            });
            for (index at = 0; at < count; ++at) {
                const index place = order[std::size_t(at)];
                const double expected = A(place, row);
                wrong += P(at, row) == place ? 0 : 1;
                wrong += V(row, at) == expected || (std::isnan(expected) && std::isnan(V(row, at))) ? 0 : 1;
            }
        }
    }
    CHECK(wrong == 0);
    ep::array<float, 1> x({5}), best({2});
    x(j) = ep::where(ep::iota(j) == 3, 2.0F, 1.0F);
    best(k) = 10.0F * ep::top_k(k, j, x(j) * x(j)).values;
    CHECK((best(0) == 40.0F && best(1) == 10.0F));
    ep::array<float, 1> more({6});
    CHECK(sentence_of([&] { more(k) = ep::top_k(k, j, x(j)).values; }) ==
          "ep::top_k: 6 elements are asked for, but rows have 5");
    const std::string negative = "einsum: iota or top_k is given a negative number of elements";
    CHECK(sentence_of([&] { more(k) = ep::top_k(k, j, x(j), -1).values; }) == negative);
    CHECK(sentence_of([&] { more(k) = ep::iota(k, -1); }) == negative);
}

TEST_CASE("ep::iota says how far it goes") {
    ep::array<index, 1> x;
    x(i) = 2 * ep::iota(i, 4);
    CHECK((x.size() == 4 && x(3) == 6));
    ep::array<double, 1> y({5});
    CHECK(sentence_of([&] { y(i) = 1.0 * ep::iota(i, 4); }).find("label i has extent 5") != std::string::npos);
}

}  // namespace running_test
