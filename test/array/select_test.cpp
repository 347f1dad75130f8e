// Operands and left-hand sides at indices that are data, against loops written here.

#include <einparallel.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace select_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, d, e, n, v);

class random_numbers {
public:
    explicit random_numbers(unsigned seed) : bits_(seed) {}
    index operator()(index from, index to) { return std::uniform_int_distribution<index>(from, to)(bits_); }

private:
    std::mt19937 bits_;
};

template <class T, std::size_t Rank>
ep::array<T, Rank> filled(const std::array<index, Rank>& extents, random_numbers& random, index least, index most) {
    ep::array<T, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = ep::detail::converted<T>(random(least, most));
    }
    return made;
}

/// Elements of T that are read, and tokens of Token that read them; small whole numbers, whose sums are exact.
template <class T, class Token>
int wrong_statements(unsigned seed, int rounds) {
    random_numbers random(seed);
    int wrong = 0;
    const auto check = [&](T got, T expected) { wrong += got == expected ? 0 : 1; };
    const index least = std::is_unsigned_v<T> ? 0 : -4;
    for (int round = 0; round < rounds; ++round) {
        const index rows = random(1, 9), columns = random(1, 40), m = random(1, 12), q = random(1, 5);
        const auto W = filled<T, 2>({rows, columns}, random, least, 4);
        const auto V = filled<T, 2>({columns, rows}, random, least, 4);
        const auto x = filled<T, 2>({m, columns}, random, least, 4);
        const auto token = filled<Token, 1>({m}, random, 0, rows - 1);
        const auto pair = filled<Token, 2>({m, q}, random, 0, rows - 1);
        const auto column = filled<Token, 1>({m}, random, 0, columns - 1);
        const ep::array<T, 1> weights = filled<T, 1>({columns}, random, least, 4);
        {  // rows, columns of a matrix that lies the other way, and of a view from back to front
            ep::array<T, 2> Y, C, B({columns, m});
            Y(i, d) = W(token(i), d);
            C(i, d) = V(d, token(i));
            const ep::view<const T, 2> back(W.data() + rows * columns - 1, {rows, columns}, {-columns, -1});
            B(d, i) = back(token(i), d);
            ep::array<T, 3> P;
            P(i, j, d) = W(pair(i, j), d);
            ep::array<T, 1> F, G;
            F(i) = W(token(i), column(i));
            G(i) = weights(column(i));
            for (index a = 0; a < m; ++a) {
                for (index b = 0; b < columns; ++b) {
                    check(Y(a, b), W(index(token(a)), b));
                    check(C(a, b), V(b, index(token(a))));
                    check(B(b, a), W(rows - 1 - index(token(a)), columns - 1 - b));
                    check(P(a, q - 1, b), W(index(pair(a, q - 1)), b));
                }
                check(F(a), W(index(token(a)), index(column(a))));
                check(G(a), weights(index(column(a))));
            }
        }
        {  // sums over tokens, over the others, into what is there, in maps and products
            ep::array<T, 1> S, R;
            S(d) = W(token(i), d);
            R(i) = W(token(i), d);
            ep::array<T, 2> Y = x, N = x, Q;
            Y(i, d) += W(token(i), d);
            N(i, d) -= W(token(i), d);
            Q(i, e) = W(token(i), d) * x(e, d);
            ep::array<T, 1> M;
            M(i) = ep::max(W(token(i), d) * weights(d));
            for (index b = 0; b < columns; ++b) {
                T sum = T();
                for (index a = 0; a < m; ++a) {
                    sum = T(sum + W(index(token(a)), b));
                    check(Y(a, b), T(x(a, b) + W(index(token(a)), b)));
                    check(N(a, b), T(x(a, b) - W(index(token(a)), b)));
                }
                check(S(b), sum);
            }
            for (index a = 0; a < m; ++a) {
                T sum = T();
                T most = T(W(index(token(a)), 0) * weights(0));
                for (index b = 0; b < columns; ++b) {
                    sum = T(sum + W(index(token(a)), b));
                    most = std::max(most, T(W(index(token(a)), b) * weights(b)));
                }
                check(R(a), sum);
                check(M(a), most);
                for (index c = 0; c < m; ++c) {
                    T product = T();
                    for (index b = 0; b < columns; ++b) {
                        product = T(product + W(index(token(a)), b) * x(c, b));
                    }
                    check(Q(a, c), product);
                }
            }
        }
        {  // functions of labels beside data, and what is around
            ep::array<T, 2> Y;
            Y(i, d) = W(token(i), columns - 1 - d);
            const auto padded = ep::padded(W, {2, 1}, {1, 0}, 3);
            ep::array<Token, 1> shifted({m});
            shifted(i) = token(i) + Token(random(0, 3));
            ep::array<T, 2> P;
            P(i, d) = padded(shifted(i), d);
            ep::array<T, 2> O({m, columns});
            O(i, d) = W(token(i) * Token(0), d);
            for (index a = 0; a < m; ++a) {
                for (index b = 0; b < columns; ++b) {
                    check(Y(a, b), W(index(token(a)), columns - 1 - b));
                    const index row = index(shifted(a)) - 2;
                    check(P(a, b + 1), row >= 0 && row < rows ? W(row, b) : T(3));
                    check(P(a, 0), T(3));
                    check(O(a, b), W(0, b));
                }
            }
        }
        {  // sums to what is named
            ep::array<T, 1> H({rows}), U({rows});
            ep::array<T, 2> K({rows, columns}), L({columns, rows}), Z({rows, columns}), D({rows, columns + 1});
            H(token(i)) += 1;
            U(token(i)) -= x(i, d);
            K(token(i), d) += x(i, d);
            L(d, token(i)) += x(i, d) * weights(d);
            Z(token(i), column(i)) += x(i, 0);
            D(token(i), d + 1) += weights(d);
            ep::array<T, 1> h({rows}), u({rows});
            ep::array<T, 2> k({rows, columns}), l({columns, rows}), z({rows, columns}), w({rows, columns + 1});
            for (index a = 0; a < m; ++a) {
                const auto row = index(token(a));
                h(row) = T(h(row) + T(1));
                z(row, index(column(a))) = T(z(row, index(column(a))) + x(a, 0));
                for (index b = 0; b < columns; ++b) {
                    u(row) = T(u(row) - x(a, b));
                    k(row, b) = T(k(row, b) + x(a, b));
                    l(b, row) = T(l(b, row) + x(a, b) * weights(b));
                    w(row, b + 1) = T(w(row, b + 1) + weights(b));
                }
            }
            for (index a = 0; a < rows; ++a) {
                check(H(a), h(a));
                check(U(a), u(a));
                check(D(a, 0), T());
                for (index b = 0; b < columns; ++b) {
                    check(K(a, b), k(a, b));
                    check(L(b, a), l(b, a));
                    check(Z(a, b), z(a, b));
                    check(D(a, b + 1), w(a, b + 1));
                }
            }
        }
        {  // what is named is replaced, the rest stays
            std::vector<index> places;
            for (index a = 0; a < rows; ++a) {
                if (random(0, 1) == 1) {
                    places.insert(places.begin() + random(0, index(places.size())), a);
                }
            }
            ep::array<Token, 1> position({index(places.size())});
            for (std::size_t at = 0; at < places.size(); ++at) {
                position(index(at)) = Token(places[at]);
            }
            const auto value = filled<T, 2>({index(places.size()), columns}, random, least, 4);
            ep::array<T, 2> K = W, k = W, C = V;
            K(position(i), d) = value(i, d);
            C(d, position(i)) = value(i, d) + value(i, d);
            for (index at = 0; at < index(places.size()); ++at) {
                for (index b = 0; b < columns; ++b) {
                    k(places[std::size_t(at)], b) = value(at, b);
                }
            }
            for (index a = 0; a < rows; ++a) {
                for (index b = 0; b < columns; ++b) {
                    check(K(a, b), k(a, b));
                    const bool named = std::find(places.begin(), places.end(), a) != places.end();
                    check(C(b, a), named ? T(k(a, b) + k(a, b)) : V(b, a));
                }
            }
        }
    }
    return wrong;
}

}  // namespace

TEST_CASE("random statements at indices that are data") {
    CHECK(wrong_statements<double, int>(1, 60) == 0);
    CHECK(wrong_statements<float, std::int64_t>(2, 60) == 0);
    CHECK(wrong_statements<int, std::uint8_t>(3, 60) == 0);
}

TEST_CASE("elements of other types are read and summed") {
    const ep::array<std::uint16_t, 1> token{2, 0, 2};
    ep::array<std::complex<float>, 1> W({3});
    for (index a = 0; a < 3; ++a) {
        W(a) = {float(2 * a + 1), float(2 * a + 2)};
    }
    ep::array<std::complex<float>, 1> Y;
    Y(i) = W(token(i));
    CHECK(Y(0) == std::complex<float>(5, 6));
    CHECK(Y(1) == std::complex<float>(1, 2));
    Y(token(i)) += W(i);
    CHECK(Y(2) == std::complex<float>(11, 14));
    const ep::array<bool, 1> is{true, false, false};
    ep::array<bool, 1> got, sums({3});
    got(i) = is(token(i));
    sums(token(i)) += is(i);
    CHECK((!got(0) && got(1) && !got(2)));
    CHECK((!sums(0) && !sums(1) && sums(2)));
}

TEST_CASE("tensors as large as several chunks, of one element and of none") {
    random_numbers random(5);
    const index many = 3000, rows = 500;
    const auto token = filled<int, 1>({many}, random, 0, rows - 1);
    ep::array<index, 1> H({rows});
    H(token(i)) += 1;
    std::vector<index> expected(std::size_t{500}, 0);
    for (index a = 0; a < many; ++a) {
        ++expected[std::size_t(token(a))];
    }
    CHECK(std::equal(expected.begin(), expected.end(), H.data()));
    ep::array<int, 0> position;
    position() = 2;
    ep::array<double, 2> K({4, 3});
    const ep::array<double, 1> k{1, 2, 3};
    K(position(), d) = k(d);
    CHECK((K(2, 0) == 1 && K(2, 2) == 3 && K(1, 0) == 0));
    ep::array<double, 1> row;
    row(d) = K(position(), d);
    CHECK(row(1) == 2);
    const ep::array<int, 1> none({0});
    ep::array<double, 2> Y;
    Y(i, d) = K(none(i), d);
    CHECK((Y.extent(0) == 0 && Y.extent(1) == 3));
    ep::array<double, 1> S({3});
    S(d) = K(none(i), d);
    CHECK((S(0) == 0 && S(2) == 0));
}

TEST_CASE("nothing is read of a tensor without elements") {
    ep::array<double, 2> W({0, 3}), Z({0, 3}), Y, other;
    const ep::array<int, 1> none({0});
    Y(i, j) = W(none(i), j);
    CHECK(Y.extents() == std::array<index, 2>{0, 3});
    Z(none(i), j) = Y(i, j);
    Z(none(i), j) += Y(i, j);
    CHECK(Z.size() == 0);
    const ep::array<int, 1> one({1});
    CHECK(sentence_of([&] { other(i, j) = W(one(i), j); }) ==
          "einsum: element (0) of the indices is 0, outside the extent 0 of dimension 0");
}

TEST_CASE("what is not selected is not looked at") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    ep::array<double, 2> W{{1, 2}, {nan, nan}, {5, -0.0}};
    const ep::array<int, 1> token{2, 0};
    ep::array<double, 2> Y;
    Y(i, d) = W(token(i), d);
    CHECK((Y(0, 0) == 5 && std::signbit(Y(0, 1)) && Y(1, 1) == 2));
    ep::array<double, 1> S;
    S(d) = exp(W(token(i), d)) * 0.0;
    CHECK((S(0) == 0 && S(1) == 0));
}

TEST_CASE("a one-hot operand is 1 where it is, and in sums of products nothing else is read") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const ep::array<double, 2> W{{1, 2}, {nan, nan}, {5, 6}};
    const ep::array<int, 1> token{2, 0, 2, 2};
    ep::array<double, 2> Y, E({4, 3}), Z({3, 2});
    Y(i, d) = ep::one_hot(token(i), v) * W(v, d);
    Y(i, d) += 2.0 * (W(v, d) * ep::one_hot(token(i), v)) - W(0, d);
    CHECK((Y(0, 0) == 14 && Y(1, 1) == 4 && Y(3, 1) == 16));
    E(i, v) = ep::one_hot(token(i), v);
    Z(v, d) = ep::one_hot(token(i), v) * Y(i, d);
    for (index a = 0; a < 4; ++a) {
        for (index b = 0; b < 3; ++b) {
            CHECK(E(a, b) == (token(a) == b ? 1 : 0));
        }
    }
    CHECK((Z(0, 0) == Y(1, 0) && Z(1, 1) == 0 && Z(2, 0) == Y(0, 0) + Y(2, 0) + Y(3, 0)));
    const ep::array<int, 1> wrong{0, 3, 1, 0};
    CHECK(sentence_of([&] { Y(i, d) = ep::one_hot(wrong(i), v) * W(v, d); }) ==
          "einsum: element (1) of the indices is 3, outside the extent 3 of v");
}

TEST_CASE("what is wrong with data is one sentence, and nothing is written") {
    ep::array<double, 2> W({5, 3}), Y({2, 3}), K({5, 3});
    W(i, d) = 1.0;
    Y(i, d) = 2.0;
    ep::array<int, 2> token({1, 2});
    token(0, 1) = 5;
    ep::array<double, 3> P({1, 2, 3});
    CHECK(sentence_of([&] { P(i, j, d) = W(token(i, j), d); }) ==
          "einsum: element (0, 1) of the indices is 5, outside the extent 5 of dimension 0");
    token(0, 1) = -1;
    CHECK(sentence_of([&] { W(token(i, j), d) += Y(j, d); }) ==
          "einsum: element (0, 1) of the indices is -1, outside the extent 5 of dimension 0");
    CHECK((W(0, 0) == 1 && W(4, 2) == 1));
    token(0, 1) = 0;
    CHECK(sentence_of([&] { W(token(i, j), d) = Y(j, d); }) ==
          "einsum: the left-hand side names index 0 of dimension 0 twice: say += to add up what is assigned to it");
    CHECK(W(0, 0) == 1);
    const ep::array<int, 1> place{1, 2};
    CHECK(sentence_of([&] { Y(i, d) = Y(place(i) - 1, d); }) ==
          "einsum: the output shares elements with an operand: give the result memory of its own");
    const ep::array<int, 1> three{1, 2, 3};
    CHECK(sentence_of([&] { Y(i, d) = W(three(i), d); }) ==
          "einsum: label i has extent 2 in the output and 3 in operand 2");
    ep::array<double, 1> H;
    CHECK(sentence_of([&] { H(place(i)) += 1; }) ==
          "einsum: element (0) of the indices is 1, outside the extent 0 of dimension 0");
}

}  // namespace select_test
