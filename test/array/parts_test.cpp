// Statements that write a part of an array and read others: they run where no element is in both, and are refused
// before a write where one is. Against loops written here.

#include <einparallel.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace parts_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k);

template <std::size_t Rank>
ep::array<double, Rank> counted(std::array<index, Rank> extents) {
    ep::array<double, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = double((7 * at + 3) % 23) - 11;
    }
    return made;
}

bool equal(const auto& a, const auto& b) {
    return std::equal(a.data(), a.data() + a.size(), b.data());
}

bool is_refused(const auto& statement) {
    return sentence_of(statement).find("the output shares elements with an operand") != std::string::npos;
}

}  // namespace

TEST_CASE("halves, rows between rows, planes and columns of one array") {
    ep::array<double, 2> A = counted<2>({6, 8});
    const ep::array<double, 2> before = A;
    const ep::array<double, 2> B = counted<2>({4, 4});
    ep::array<double, 2> expected = A;
    const ep::view<double, 2> left(A.data(), {6, 4}, {8, 1});
    const ep::view<double, 2> right(A.data() + 4, {6, 4}, {8, 1});
    left(i, j) -= right(i, k) * B(k, j);
    for (index x = 0; x < 6; ++x) {
        for (index y = 0; y < 4; ++y) {
            for (index z = 0; z < 4; ++z) {
                expected(x, y) -= before(x, z + 4) * B(z, y);
            }
        }
    }
    CHECK(equal(A, expected));
    right(i, j) = right(i, j) + 2.0 * left(i, j);
    A(i, j) = A(i, j + 4) + ep::sum(k, A(k, j + 4));
    for (index y = 0; y < 4; ++y) {
        double sum = 0;
        for (index x = 0; x < 6; ++x) {
            sum += expected(x, y + 4) += 2 * expected(x, y);
        }
        for (index x = 0; x < 6; ++x) {
            expected(x, y) = expected(x, y + 4) + sum;
        }
    }
    CHECK(equal(A, expected));

    const ep::array<double, 2> M = counted<2>({3, 3});
    const ep::view<double, 2> even(A.data(), {3, 8}, {16, 1});
    const ep::view<double, 2> odd(A.data() + 40, {3, 8}, {-16, 1});
    even(i, j) += M(i, k) * odd(k, j);
    for (index x = 0; x < 3; ++x) {
        for (index y = 0; y < 8; ++y) {
            for (index z = 0; z < 3; ++z) {
                expected(2 * x, y) += M(x, z) * expected(5 - 2 * z, y);
            }
        }
    }
    CHECK(equal(A, expected));
    const ep::view<double, 1> column(A.data() + 2, {6}, {8});
    const ep::view<double, 2> others(A.data() + 3, {6, 5}, {8, 1});
    column(i) -= others(i, j) * B(0, 0) + A(i, 0);
    for (index x = 0; x < 6; ++x) {
        for (index y = 3; y < 8; ++y) {
            expected(x, 2) -= expected(x, y) * B(0, 0);
        }
        expected(x, 2) -= expected(x, 0);
    }
    CHECK(equal(A, expected));
    // Along the diagonal below the one that is written.
    const ep::view<double, 1> diagonal(A.data(), {5}, {9});
    const ep::view<double, 2> below(A.data() + 8, {5, 5}, {8, 1});
    diagonal(i) += below(i, i);
    for (index x = 0; x < 5; ++x) {
        expected(x, x) += expected(x + 1, x);
    }
    CHECK(equal(A, expected));

    ep::array<double, 3> T = counted<3>({3, 5, 4});
    ep::array<double, 3> planes = T;
    T(i, 0, j) = T(i, 4, j);
    for (index x = 0; x < 3; ++x) {
        for (index y = 0; y < 4; ++y) {
            planes(x, 0, y) = planes(x, 4, y);
        }
    }
    CHECK(equal(T, planes));
    const ep::view<double, 2> first(T.data(), {3, 4}, {20, 1});
    const ep::view<double, 2> last(T.data() + 16, {3, 4}, {20, 1});
    last(i, j) = first(i, j) * T(i, 2, j);
    for (index x = 0; x < 3; ++x) {
        for (index y = 0; y < 4; ++y) {
            planes(x, 4, y) = planes(x, 0, y) * planes(x, 2, y);
        }
    }
    CHECK(equal(T, planes));
}

TEST_CASE("padded and concatenated parts") {
    ep::array<double, 1> A{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    A(i + 5) = ep::padded(A, {1}, {0}, 7.0)(i);
    CHECK(equal(A, ep::array<double, 1>{0, 1, 2, 3, 4, 7, 0, 1, 2, 3}));
    const ep::view<double, 1> low(A.data(), {2}, {1});
    const ep::view<double, 1> high(A.data() + 4, {6}, {1});
    low(i) = ep::concatenate(0, low, high)(i + 5);
    CHECK(equal(A, ep::array<double, 1>{1, 2, 2, 3, 4, 7, 0, 1, 2, 3}));
    const ep::array<double, 1> kept = A;
    CHECK(is_refused([&] { low(i) = ep::concatenate(0, low, high)(i + 1); }));
    CHECK(is_refused([&] { A(i + 5) = ep::padded(A, {1}, {0}, 7.0)(i + 2); }));
    CHECK(equal(A, kept));
}

TEST_CASE("what is in both is refused") {
    ep::array<double, 1> A = counted<1>({40});
    const ep::array<double, 1> kept = A;
    const ep::array<double, 1> two{1, 2};
    const ep::array<double, 1> three{1, 2, 3};
    const ep::array<int, 1> at{7, 8, 9};
    CHECK(is_refused([&] { A(i) += A(i + 1); }));
    CHECK(is_refused([&] { A(2 * i) = A(3 * i + 1) + A(2 * i); }));
    const ep::view<double, 1> low(A.data(), {3}, {1});
    CHECK(is_refused([&] { low(i) = A(at(i)); }));
    // What is added for one j is read for the next.
    CHECK(is_refused([&] { A(10 + i + j) += A(7 + i + 4 * j) * three(i) * two(j); }));
    CHECK(is_refused([&] { A(10 + i + j) += A(at(i)) * three(i) * two(j); }));
    CHECK(equal(A, kept));
    ep::array<double, 1> expected = A;
    A(10 + i + j) += A(20 + i + 4 * j) * three(i) * two(j);
    for (index x = 0; x < 3; ++x) {
        for (index y = 0; y < 2; ++y) {
            expected(10 + x + y) += kept(20 + x + 4 * y) * three(x) * two(y);
        }
    }
    CHECK(equal(A, expected));
}

TEST_CASE("functions of labels on both sides run where they name no element in common") {
    std::mt19937 bits(5);
    const auto random = [&](int from, int to) { return index(std::uniform_int_distribution<int>(from, to)(bits)); };
    int ran = 0;
    for (int run = 0; run < 400; ++run) {
        ep::array<double, 2> A = counted<2>({9, 14});
        const ep::array<double, 2> before = A;
        ep::array<double, 2> expected = A;
        const ep::array<double, 2> size({2, 3});
        const index a = random(-2, 2), b = a < 0 ? random(2, 4) : random(0, 4), c = random(1, 3), d = random(0, 6);
        const index e = random(-2, 2), f = e < 0 ? random(2, 4) : random(0, 4), g = random(1, 3), h = random(0, 6);
        std::set<index> written, read;
        for (index x = 0; x < 2; ++x) {
            for (index y = 0; y < 3; ++y) {
                written.insert((a * x + b) * 14 + c * y + d);
                read.insert((e * x + f) * 14 + g * y + h);
                expected(a * x + b, c * y + d) += 2 * before(e * x + f, g * y + h) + size(x, y);
            }
        }
        bool meets = false;
        for (const index place : read) {
            meets = meets || written.contains(place);
        }
        const auto statement = [&] { A(a * i + b, c * j + d) += 2.0 * A(e * i + f, g * j + h) + size(i, j); };
        if (is_refused(statement)) {
            REQUIRE(meets);
            REQUIRE(equal(A, before));
        } else {
            const bool in_place = a == e && b == f && c == g && d == h;
            REQUIRE((!meets || (in_place && a != 0)));
            REQUIRE(equal(A, expected));
            ++ran;
        }
    }
    CHECK(ran > 100);
    CHECK(ran < 350);
}

TEST_CASE("products of random views of one array: right where they share nothing, else refused before a write") {
    std::mt19937 random(5);
    const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    int ran = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        CAPTURE(trial);
        std::vector<double> memory(400);
        for (double& each : memory) {
            each = between(-9, 9);
        }
        const std::vector<double> before = memory;
        const index rows = between(1, 5);
        const index columns = between(1, 5);
        const index terms = between(0, 6);
        const auto draw = [&](index height, index width, bool is_read) {
            constexpr std::array<index, 12> steps{1, -1, 2, 3, -3, 5, 7, 8, -8, 15, 30, 0};
            std::array<index, 2> strides{};
            index low = 0;
            index high = 0;
            for (int side = 0; side < 2; ++side) {
                strides[std::size_t(side)] = steps[std::size_t(between(0, is_read ? 11 : 10))];
                const index reach = ((side == 0 ? height : width) - 1) * strides[std::size_t(side)];
                low += std::min<index>(reach, 0);
                high += std::max<index>(reach, 0);
            }
            const index first = between(int(-low), 399 - int(high));
            return ep::view<double, 2>(memory.data() + first, {height, width}, strides);
        };
        const auto elements = [](const ep::view<double, 2>& of) {
            std::vector<const double*> all;
            for (index x = 0; x < of.extent(0); ++x) {
                for (index y = 0; y < of.extent(1); ++y) {
                    all.push_back(&of(x, y));
                }
            }
            return all;
        };
        const ep::view<double, 2> Z = draw(rows, columns, false);
        const ep::view<double, 2> X = draw(rows, std::max<index>(terms, 1), true);
        const ep::view<double, 2> Y = draw(std::max<index>(terms, 1), columns, true);
        const ep::view<double, 2> x(X.data(), {rows, terms}, X.strides());
        const ep::view<double, 2> y(Y.data(), {terms, columns}, Y.strides());
        std::set<const double*> written;
        bool is_wrong = false;
        for (const double* each : elements(Z)) {
            is_wrong = !written.insert(each).second || is_wrong;  // two elements are one
        }
        for (const ep::view<double, 2>& read : {x, y}) {
            for (const double* each : elements(read)) {
                is_wrong = is_wrong || written.count(each) > 0;
            }
        }
        const bool adds = trial % 2 == 1;
        std::vector<double> expected = memory;
        for (index a = 0; !is_wrong && a < rows; ++a) {
            for (index b = 0; b < columns; ++b) {
                double sum = 0;
                for (index c = 0; c < terms; ++c) {
                    sum += x(a, c) * y(c, b);
                }
                expected[std::size_t(&Z(a, b) - memory.data())] = adds ? Z(a, b) + sum : sum;
            }
        }
        const std::string said =
            sentence_of([&] { adds ? void(Z(i, k) += x(i, j) * y(j, k)) : void(Z(i, k) = x(i, j) * y(j, k)); });
        CHECK(said.empty() != is_wrong);
        CHECK(memory == (is_wrong ? before : expected));
        ran += is_wrong ? 0 : 1;
    }
    CHECK(ran > 500);
}

}  // namespace parts_test
