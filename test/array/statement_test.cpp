// Statements on arrays and views, against loops written here. The random forms are in test/differential.

#include <einparallel.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace statement_test {

namespace ep = einparallel;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, l);

template <class Array>
void fill(Array& tensor, int seed) {
    for (ep::index at = 0; at < tensor.size(); ++at) {
        tensor.data()[at] = static_cast<typename Array::value_type>(static_cast<float>((at * 7 + seed * 13) % 19 - 9));
    }
}

struct matrices {
    ep::array<double, 2> A{{3, 4}}, B{{4, 5}}, C{{3, 5}}, D{{3, 5}}, G{{3, 4}};
    ep::array<double, 1> c{{3}};

    matrices() {
        fill(A, 1);
        fill(B, 2);
        fill(C, 3);
        fill(D, 4);
        fill(G, 5);
        fill(c, 6);
    }
    [[nodiscard]] double ab(int x, int y) const {
        double sum = 0;
        for (int z = 0; z < 4; ++z) {
            sum += A(x, z) * B(z, y);
        }
        return sum;
    }
    template <class Expected>
    void check(Expected expected) const {
        for (int x = 0; x < 3; ++x) {
            for (int y = 0; y < 5; ++y) {
                CHECK(C(x, y) == doctest::Approx(expected(x, y)).epsilon(1e-13));
            }
        }
    }
};

}  // namespace

TEST_CASE_FIXTURE(matrices, "a product is summed over what is missing on the left") {
    C(i, k) = A(i, j) * B(j, k);
    check([&](int x, int y) { return ab(x, y); });
    C(i, k) += 2.0 * A(i, j) * B(j, k);
    check([&](int x, int y) { return 3 * ab(x, y); });
    C(i, k) -= A(i, j) * B(j, k) / 2.0;
    check([&](int x, int y) { return 2.5 * ab(x, y); });
    C(i, k) = -(A(i, j) * B(j, k));
    check([&](int x, int y) { return -ab(x, y); });
}

TEST_CASE_FIXTURE(matrices, "each term is summed by itself; one that sums nothing by itself is repeated") {
    C(i, k) = A(i, j) * B(j, k) - D(i, k) + G(i, l) * B(l, k) + c(i);
    check([&](int x, int y) {
        double sum = ab(x, y) - D(x, y) + c(x);
        for (int z = 0; z < 4; ++z) {
            sum += G(x, z) * B(z, y);
        }
        return sum;
    });
    const ep::array<double, 2> before = C;
    C(i, k) -= D(i, k) - A(i, j) * B(j, k) + ep::sum(A(i, j));
    check([&](int x, int y) {
        double row = 0;
        for (int z = 0; z < 4; ++z) {
            row += A(x, z);
        }
        return before(x, y) - (D(x, y) - ab(x, y) + row);
    });
}

TEST_CASE_FIXTURE(matrices, "any reduction, any join, maps and nested sums") {
    C(i, k) = ep::max(abs(A(i, j) - B(j, k)));
    check([&](int x, int y) {
        double largest = 0;
        for (int z = 0; z < 4; ++z) {
            largest = std::max(largest, std::abs(A(x, z) - B(z, y)));
        }
        return largest;
    });
    C(i, k) = ep::sum((A(i, j) - B(j, k)) * (A(i, j) - B(j, k)));
    check([&](int x, int y) {
        double sum = 0;
        for (int z = 0; z < 4; ++z) {
            sum += (A(x, z) - B(z, y)) * (A(x, z) - B(z, y));
        }
        return sum;
    });
    C(i, k) = exp(ep::sum(j, A(i, j) * B(j, k)) / 100.0);
    check([&](int x, int y) { return std::exp(ab(x, y) / 100.0); });
    C(i, k) = (A(i, j) - G(i, j)) * B(j, k);
    check([&](int x, int y) {
        double sum = 0;
        for (int z = 0; z < 4; ++z) {
            sum += (A(x, z) - G(x, z)) * B(z, y);
        }
        return sum;
    });
    C(i, k) = max(D(i, k), 2.0 * D(i, k)) + min(D(i, k), D(i, k)) + pow(D(i, k), 2);
    check([&](int x, int y) { return std::max(D(x, y), 2 * D(x, y)) + D(x, y) + D(x, y) * D(x, y); });
}

TEST_CASE_FIXTURE(matrices, "a join of more than two operands, and of operands that are expressions") {
    C(i, k) = ep::join([](double p, double q, double r) { return p + 10 * q + 100 * r; }, D(i, k), exp(c(i)), c(i));
    check([&](int x, int y) { return D(x, y) + 10 * std::exp(c(x)) + 100 * c(x); });
    C(i, k) = ep::map([](double p) { return p * p; }, D(i, k));
    check([&](int x, int y) { return D(x, y) * D(x, y); });
    C(i, k) = D(i, k) / (c(i) + c(i) + 100.0);
    check([&](int x, int y) { return D(x, y) / (2 * c(x) + 100); });
}

TEST_CASE_FIXTURE(matrices, "softmax over one label, in any place") {
    C(i, k) = ep::softmax(k, D(i, k));
    check([&](int x, int y) {
        double sum = 0;
        for (int z = 0; z < 5; ++z) {
            sum += std::exp(D(x, z) - D(x, y));
        }
        return 1.0 / sum;
    });
    C(i, k) = 3.0 * ep::softmax(i, D(i, k)) + D(i, k);
    check([&](int x, int y) {
        double sum = 0;
        for (int z = 0; z < 3; ++z) {
            sum += std::exp(D(z, y) - D(x, y));
        }
        return 3.0 / sum + D(x, y);
    });
}

TEST_CASE("an array of rank 0 is read as the number that it holds, where this is asked for") {
    ep::array<double, 1> v({3});
    v(0) = 1.5;
    v(2) = -4.0;
    CHECK(ep::array<double, 0>({}).value() == 0);
    ep::array<double, 0> total;
    total() = v(i) * v(i);
    CHECK(static_cast<double>(total) == 18.25);
    const double read(std::as_const(total));
    CHECK(read == 18.25);
    ep::array<bool, 0> any;
    any() = true;
    CHECK(static_cast<bool>(any));
    static_assert(!std::is_convertible_v<ep::array<double, 0>, double>);
    static_assert(!std::is_constructible_v<double, ep::array<double, 1>>);
    static_assert(!std::is_constructible_v<std::string, ep::array<double, 0>>);
}

TEST_CASE_FIXTURE(matrices, "rank 0, diagonals, one-sided sums, more than two factors") {
    ep::array<double, 0> s;
    s() = A(i, j) * G(i, j);
    double expected = 0;
    for (int at = 0; at < 12; ++at) {
        expected += A.data()[at] * G.data()[at];
    }
    CHECK(s.value() == expected);
    s() += 1.5;
    CHECK(s.value() == expected + 1.5);
    C(i, k) = s() * D(i, k);
    check([&](int x, int y) { return (expected + 1.5) * D(x, y); });

    ep::array<double, 2> Q({4, 4});
    fill(Q, 9);
    s() = Q(i, i);
    CHECK(s.value() == Q(0, 0) + Q(1, 1) + Q(2, 2) + Q(3, 3));

    C(i, k) = A(i, l) * D(i, k);
    check([&](int x, int y) { return (A(x, 0) + A(x, 1) + A(x, 2) + A(x, 3)) * D(x, y); });

    ep::array<double, 2> N({5, 4});
    N(k, l) = A(i, j) * B(j, k) * G(i, l);
    for (int y = 0; y < 5; ++y) {
        for (int w = 0; w < 4; ++w) {
            double sum = 0;
            for (int x = 0; x < 3; ++x) {
                sum += ab(x, y) * G(x, w);
            }
            CHECK(N(y, w) == sum);
        }
    }
}

TEST_CASE_FIXTURE(matrices, "the same element is read and written in place; anything else is refused before a write") {
    const ep::array<double, 2> before = C;
    C(i, k) = C(i, k) * D(i, k) + 1.0;
    check([&](int x, int y) { return before(x, y) * D(x, y) + 1.0; });
    C = before;
    C(i, k) = A(i, j) * B(j, k) + C(i, k);
    check([&](int x, int y) { return ab(x, y) + before(x, y); });

    ep::array<double, 2> Q({4, 4});
    fill(Q, 9);
    const ep::array<double, 2> kept = Q;
    const auto refused = [&](auto statement) {
        CHECK(sentence_of(statement).find("the output shares elements with an operand") != std::string::npos);
        CHECK(std::equal(Q.data(), Q.data() + Q.size(), kept.data()));
    };
    refused([&] { Q(i, k) = Q(i, j) * Q(j, k); });
    refused([&] { Q(i, k) = Q(k, i); });
    refused([&] { Q(i, k) = Q(i, k) + Q(k, i); });
    refused([&] { Q(i, k) = ep::softmax(k, Q(i, k)); });
    refused([&] { Q(i, k) += Q(i, j) * Q(j, k); });
    refused([&] {  // one row further on
        ep::view<double, 2> rows(Q.data(), {3, 4});
        ep::view<double, 2> next(Q.data() + 4, {3, 4});
        rows(i, k) = next(i, k);
    });
    refused([&] { ep::einsum_into<"ij->ij">(Q, Q); });
}

TEST_CASE_FIXTURE(matrices, "extents that disagree are named, and nothing is written") {
    const ep::array<double, 2> before = C;
    CHECK(sentence_of([&] { C(i, k) = A(i, j) * A(j, k); }) ==
          "einsum ij,jk->ik: label j has extent 4 in operand 1 and 3 in operand 2");
    CHECK(sentence_of([&] { C(i, k) = D(i, k) + A(i, j) * A(j, k); }) ==
          "einsum ij,jk->ik: label j has extent 4 in operand 1 and 3 in operand 2");
    CHECK(sentence_of([&] { C(k, i) = A(i, j) * B(j, k); }) ==
          "einsum ij,jk->ki: label k has extent 5 in the operands and 3 in the output");
    CHECK(sentence_of([&] {
              C(i, k) = A(i, j) * B(j, k) + B(i, k);
          }).find("label i has extent 4 in the operands and 3") != std::string::npos);
    CHECK(sentence_of([&] { C(i, k) = C(i, k) + B(i, k); }) ==
          "einsum ik->ik: label i has extent 4 in the operands and 3 in the output (term 2)");
    CHECK(sentence_of([&] {
              ep::array<double, 2> grows;
              grows(i, k) = C(i, k) + B(i, k);
          }) == "einsum ik->ik: label i has extent 4 in the operands and 3 in the terms before (term 2)");
    CHECK(std::equal(C.data(), C.data() + C.size(), before.data()));
    CHECK(sentence_of([] {
              ep::array<double, 2> negative({3, -1});
          }).find("extent -1 of dimension 1 is negative") != std::string::npos);
    CHECK(sentence_of([] {
              ep::array<double, 2> huge({ep::index{1} << 40U, ep::index{1} << 40U});
          }).find("more than 2^59 elements") != std::string::npos);
    const ep::view<double, 2> backwards(A.data(), {-1, 4});  // refused where it is used, on ranks by all of them alike
    CHECK(sentence_of([&] { C(i, k) = backwards(i, j) * B(j, k); }).find("extent -1 of dimension 0 is negative") !=
          std::string::npos);
    CHECK(sentence_of([&] { backwards(i, j) = 2.0 * A(i, j); }).find("extent -1 of dimension 0 is negative") !=
          std::string::npos);
    CHECK(sentence_of([&] {
              C = ep::einsum<"ij,jk->ik">(backwards, B);
          }).find("extent -1 of dimension 0 is negative") != std::string::npos);
}

TEST_CASE_FIXTURE(matrices, "expressions outlive what they were made from") {
    const auto made = [&] { return A; };
    const auto product = made()(i, j) * B(j, k);
    C(i, k) = product;
    check([&](int x, int y) { return ab(x, y); });
    C(i, k) = made()(i, j) * ep::array<double, 2>(B)(j, k);
    check([&](int x, int y) { return ab(x, y); });
}

TEST_CASE_FIXTURE(matrices, "views of any strides, on both sides") {
    ep::view<double, 2> transposed(A.data(), {4, 3}, {1, 4});
    C(i, k) = transposed(j, i) * B(j, k);
    check([&](int x, int y) { return ab(x, y); });
    ep::view<double, 2> reversed(C.data() + 14, {3, 5}, {-5, -1});
    reversed(i, k) = A(i, j) * B(j, k);
    check([&](int x, int y) { return ab(2 - x, 4 - y); });
    const ep::view<const double, 2> constant(A);
    C(i, k) = constant(i, j) * B(j, k);
    check([&](int x, int y) { return ab(x, y); });
    ep::view<double, 2>{C}(i, k) = D(i, k);
    check([&](int x, int y) { return D(x, y); });
    ep::view<double, 0> first(C.data(), {});
    first() = 7.0;
    CHECK(C(0, 0) == 7.0);
    CHECK(first.value() == 7.0);
}

TEST_CASE("element types mix where that loses nothing that the user did not ask for") {
    ep::array<float, 1> f({3});
    ep::array<double, 1> d({3});
    ep::array<std::complex<double>, 1> z({3});
    ep::array<int, 1> n({3});
    ep::array<bool, 1> b({3});
    for (int at = 0; at < 3; ++at) {
        f(at) = static_cast<float>(at) + 0.5F;
        n(at) = at - 1;
        b(at) = at != 1;
    }
    d(i) = f(i) * n(i);
    CHECK(d(2) == 2.5);
    z(i) = d(i) * std::complex<double>(0, 1) + f(i);
    CHECK(z(2) == std::complex<double>(2.5, 2.5));
    ep::array<std::complex<double>, 0> inner;
    inner() = conj(z(i)) * z(i);
    CHECK(inner.value().imag() == 0.0);
    ep::array<bool, 0> any;
    any() = b(i);
    CHECK(any.value());
    ep::array<bool, 0> all;
    all() = ep::prod(b(i));
    CHECK_FALSE(all.value());
    ep::array<int, 0> total;
    total() = n(i) * n(i);
    CHECK(total.value() == 2);
    ep::array<int, 0> least;
    least() = ep::min(n(i));
    CHECK(least.value() == -1);
}

TEST_CASE("a sum is taken in the values' own type, and converted once") {
    ep::array<double, 1> d({3});
    d(0) = 1e8;
    d(1) = 1;
    d(2) = -1e8;
    ep::array<float, 0> f;
    f() = d(i);
    CHECK(f.value() == 1.0F);
    f() += d(i) * d(i) / 1e16;
    CHECK(f.value() == 3.0F);
    ep::einsum_into<"i->">(f, d);
    CHECK(f.value() == 1.0F);
    ep::array<int, 1> n({2});
    n(0) = 1;
    n(1) = -1;
    ep::array<bool, 0> nonzero;
    nonzero() = n(i);
    CHECK_FALSE(nonzero.value());
    ep::array<bool, 1> b({2});
    b(0) = b(1) = true;
    ep::array<int, 0> count;
    count() = b(i);
    CHECK(count.value() == 2);
}

TEST_CASE_FIXTURE(matrices, "the conjugate of a product is the product of conjugates") {
    const std::complex<float> turn(3, 2);
    ep::array<std::complex<float>, 2> X({3, 4}), Y({5, 4}), Z, W({3, 5}), once, scaled, mixed, nested;
    fill(X, 1);
    fill(Y, 2);
    X(i, j) += std::complex<float>(0, 2) * X(i, j) * X(i, j);
    Y(k, j) -= std::complex<float>(0, 3) * Y(k, j);
    fill(W, 3);
    Z(i, k) = conj(X(i, j) * Y(k, j));
    W(i, k) -= conj(-X(i, j) * Y(k, j));
    once(j, k) = conj(X(i, j) * Y(k, j));
    scaled(i, k) = -conj(turn * X(i, j) * conj(Y(k, j)) / 2);
    mixed(i, l) = conj(X(i, j) * Y(k, j)) * conj(-Y(k, l));
    nested(i, k) = 2 * conj(conj(X(i, j)) * (Y(k, j) + Y(k, j)));
    C(i, k) = conj(A(i, j) * B(j, k));
    check([&](int x, int y) { return ab(x, y); });
    for (int x = 0; x < 3; ++x) {
        for (int y = 0; y < 5; ++y) {
            std::complex<float> sum, beside;
            for (int z = 0; z < 4; ++z) {
                sum += X(x, z) * Y(y, z);
                beside += X(x, z) * std::conj(Y(y, z));
            }
            CHECK(Z(x, y) == std::conj(sum));
            CHECK(scaled(x, y) == -std::conj(turn * beside / 2.0F));
            CHECK(nested(x, y) == 4.0F * beside);
            CHECK(W(x, y) == static_cast<float>(((x * 5 + y) * 7 + 39) % 19 - 9) + std::conj(sum));
            CHECK(once(x, y) == std::conj((X(0, x) + X(1, x) + X(2, x)) * Y(y, x)));
        }
        for (int y = 0; y < 4; ++y) {
            std::complex<float> sum;
            for (int z = 0; z < 5; ++z) {
                sum += Z(x, z) * std::conj(Y(z, y));
            }
            CHECK(mixed(x, y) == -sum);
        }
    }
}

TEST_CASE("an array that was moved from is empty, also of rank 0") {
    ep::array<double, 0> s;
    s() = 3.0;
    const ep::array<double, 0> t = std::move(s);
    CHECK(t.value() == 3.0);
    CHECK(s.size() == 0);
    const ep::array<double, 0> copy = s;  // copies nothing
    CHECK(copy.size() == 1);
}

TEST_CASE("extents of 0 and 1") {
    ep::array<double, 2> A({3, 0}), B({0, 2}), C({3, 2}), E({0, 2});
    std::fill(C.data(), C.data() + C.size(), std::numeric_limits<double>::quiet_NaN());
    C(i, k) = A(i, j) * B(j, k);
    CHECK(std::all_of(C.data(), C.data() + C.size(), [](double value) { return value == 0.0; }));
    C(i, k) = ep::max(A(i, j) + B(j, k));
    CHECK(C(0, 0) == -std::numeric_limits<double>::infinity());
    E(j, k) = B(j, k) * 2.0;
    CHECK(E.size() == 0);
    ep::array<double, 2> one({1, 1}), two({1, 2});
    one(0, 0) = 3;
    two(0, 1) = 4;
    ep::array<double, 2> out({1, 2});
    out(i, k) = one(i, j) * two(j, k);
    CHECK(out(0, 1) == 12);
}

TEST_CASE_FIXTURE(matrices, "assignment between labelled operands of one type assigns elements") {
    C(i, k) = D(i, k);
    check([&](int x, int y) { return D(x, y); });
    ep::array<double, 2> T({5, 3});
    T(k, i) = C(i, k);
    CHECK(T(4, 2) == C(2, 4));
}

namespace {

struct gcd_type {
    static constexpr bool associative_commutative = true;
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        while (b != 0) {
            const T rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    }
};

}  // namespace

TEST_CASE("a user's own reduction") {
    ep::array<int, 2> n({2, 3});
    const int values[6] = {12, 18, 30, 7, 14, 28};
    std::copy(values, values + 6, n.data());
    ep::array<int, 1> g({2});
    g(i) = ep::reduce(gcd_type{}, n(i, j));
    CHECK(g(0) == 6);
    CHECK(g(1) == 7);
    g(i) = ep::reduce(gcd_type{}, j, n(i, j)) + 1;
    CHECK(g(0) == 7);
}

TEST_CASE("elements are divided by a number, not multiplied by its reciprocal") {
    ep::array<double, 2> a({7, 49});
    ep::array<double, 2> z({7, 49});
    ep::array<double, 1> means({7});
    std::fill(a.data(), a.data() + a.size(), 49.0);
    z(i, j) = a(i, j) / 49.0;
    CHECK(std::all_of(z.data(), z.data() + z.size(), [](double each) { return each == 1.0; }));
    means(i) = a(i, j) / 49.0;
    CHECK(std::all_of(means.data(), means.data() + means.size(), [](double each) { return each == 49.0; }));
    z(i, j) = a(i, j) * a(i, j) / 49.0;
    CHECK(std::all_of(z.data(), z.data() + z.size(), [](double each) { return each == 49.0; }));
    std::fill(a.data(), a.data() + a.size(), 1e-310);
    z(i, j) = a(i, j) / 1e-310;
    CHECK(z(3, 4) == 1.0);
}

TEST_CASE("operands between the elements of the output share nothing with it") {
    ep::array<double, 1> memory({40});
    for (ep::index at = 0; at < 40; ++at) {
        memory.data()[at] = static_cast<double>(at);
    }
    const ep::view<double, 1> even(memory.data(), {20}, {2});
    const ep::view<double, 1> odd(memory.data() + 1, {20}, {2});
    even(i) = 2.0 * odd(i);
    CHECK(memory(6) == 14.0);
    CHECK(memory(7) == 7.0);
    const ep::view<double, 2> left(memory.data(), {4, 3}, {10, 2});
    const ep::view<double, 2> right(memory.data() + 5, {4, 2}, {10, 2});
    const ep::view<double, 1> column(memory.data() + 3, {4}, {10});
    ep::einsum_into<"i->i">(ep::view<double, 1>(memory.data() + 9, {4}, {10}), column);
    CHECK(memory(19) == memory(13));
    CHECK_THROWS_AS((left(i, j) = right(i, k) * left(k, j)), ep::error);
    const ep::view<double, 1> next(memory.data() + 2, {19}, {2});
    const ep::view<double, 1> before(memory.data(), {19}, {2});
    CHECK_THROWS_AS(next(i) = before(i), ep::error);
    const ep::view<double, 2> one_place(memory.data(), {3, 2}, {0, 1});
    CHECK_THROWS_WITH_AS((one_place(i, j) = right(k, j) * left(k, i)),
                         "einsum: the output has strides by which several of its elements share one place", ep::error);
    const ep::view<double, 2> diagonal(memory.data(), {10, 10}, {1, 1});
    const ep::view<double, 2> columns(memory.data(), {10, 3}, {1, 12});
    const ep::array<double, 1> three({3});
    CHECK_THROWS_AS((columns(i, j) = diagonal(i, i) + three(j)), ep::error);
    const ep::view<double, 2> meeting(memory.data(), {3, 2}, {1, 2});
    CHECK_THROWS_AS((ep::einsum_into<"ki,kj->ji">(meeting, left, right)), ep::error);
    const ep::view<double, 2> woven(memory.data(), {2, 3}, {3, 2});  // 0 2 4, 3 5 7
    const ep::array<double, 2> source({2, 3});
    CHECK_NOTHROW(woven(i, j) = source(i, j) + 1.0);
    CHECK(memory(0) + memory(2) + memory(4) + memory(3) + memory(5) + memory(7) == 6);
}

TEST_CASE("the output's extents are checked however an einsum is computed") {
    const ep::array<double, 1> x({4});
    ep::array<double, 1> shorter({3});
    ep::array<float, 1> shorter_and_single({3});
    CHECK_THROWS_AS((ep::einsum_into<"i->i">(shorter, x)), ep::error);
    CHECK_THROWS_AS((ep::einsum_into<"i,i,i->i">(shorter, x, x, x)), ep::error);
    CHECK_THROWS_AS((ep::einsum_into<"i,i->i">(shorter_and_single, x, x)), ep::error);
    CHECK_THROWS_AS(shorter(i) = x(i) * x(i) * x(i), ep::error);
    CHECK_THROWS_AS(shorter_and_single(i) = x(i) * x(i), ep::error);
}

TEST_CASE("a view of a null pointer has no elements to read or write") {
    ep::array<double, 1> v({4});
    const ep::view<double, 1> nowhere(nullptr, {4});
    const ep::view<double, 1> empty(nullptr, {0});
    constexpr const char* sentence = "einsum: a view has elements, but its pointer is null";
    CHECK_THROWS_WITH_AS(v(i) = nowhere(i), sentence, ep::error);
    CHECK_THROWS_WITH_AS(nowhere(i) = v(i), sentence, ep::error);
    CHECK_THROWS_WITH_AS((ep::einsum_into<"i->i">(v, nowhere)), sentence, ep::error);
    CHECK(double(ep::einsum<"i->">(empty)) == 0);
    // nor has a part of it, wherever that begins
    const ep::view<double, 2> rows(nullptr, {3, 4});
    CHECK_THROWS_WITH_AS(v(j) = rows(1, j), sentence, ep::error);
    CHECK_THROWS_WITH_AS(v(j) = rows(1, 3 - j), sentence, ep::error);
    CHECK_THROWS_WITH_AS(rows(2, j) = v(j), sentence, ep::error);
    CHECK_THROWS_WITH_AS(v(j) = ep::sum(i, ep::slice(rows, {1, 0}, {3, 4})(i, j)), sentence, ep::error);
    CHECK_THROWS_WITH_AS(v(i) = ep::slice(ep::reshape(rows, {12}), {2}, {6})(i), sentence, ep::error);
}

TEST_CASE("elements of another size are not the same elements, wherever they begin") {
    ep::array<std::complex<double>, 1> c({10});
    const ep::view<double, 1> reals(reinterpret_cast<double*>(c.data()), {10}, {1});
    CHECK_THROWS_AS((c(i) = reals(i) * std::complex<double>(1, 0)), ep::error);
}

}  // namespace statement_test
