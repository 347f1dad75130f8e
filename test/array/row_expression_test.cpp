// Element-wise expressions that mix types, numbers, choices and functions of the application's, against loops.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace row_expression_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr ep::index rows = 37;
constexpr ep::index columns = 301;

/// rows x columns numbers between −4 and 4, every 32nd of a whole one.
template <class T>
ep::array<T, 2> numbers(ep::index from) {
    ep::array<T, 2> made({rows, columns});
    for (ep::index at = 0; at < made.size(); ++at) {
        const ep::index drawn = (at * 71 + from + at / 17) % 257 - 128;
        made.data()[at] =
            std::is_floating_point_v<T> ? static_cast<T>(static_cast<double>(drawn) / 32) : static_cast<T>(drawn % 7);
    }
    return made;
}

/// Every element is near wanted(row, column).
template <class T, class Wanted>
bool agrees(const ep::array<T, 2>& made, const Wanted& wanted) {
    bool good = made.size() > 0;
    for (ep::index row = 0; row < made.extent(0); ++row) {
        for (ep::index column = 0; column < made.extent(1); ++column) {
            const auto x = static_cast<double>(made(row, column));
            const auto y = static_cast<double>(wanted(row, column));
            good = good && std::abs(x - y) <= 1e-13 * (1 + std::abs(y));
        }
    }
    return good;
}

}  // namespace

TEST_CASE("choices, powers and comparisons with numbers, of double and int") {
    const ep::array<double, 2> A = numbers<double>(3);
    const ep::array<double, 2> B = numbers<double>(90);
    const ep::array<int, 2> N = numbers<int>(41);
    ep::array<double, 2> Z;
    Z(i, j) = ep::where(A(i, j) > 0.5, A(i, j) * B(i, j), pow(A(i, j), 2) - 3.0 * B(i, j));
    CHECK(
        agrees(Z, [&](auto r, auto c) { return A(r, c) > 0.5 ? A(r, c) * B(r, c) : A(r, c) * A(r, c) - 3 * B(r, c); }));
    Z(i, j) = pow(2, A(i, j)) / pow(2.0, abs(B(i, j))) + pow(abs(A(i, j)), 0.5);
    CHECK(agrees(Z, [&](auto r, auto c) {
        return std::exp2(A(r, c)) / std::exp2(std::abs(B(r, c))) + std::sqrt(std::abs(A(r, c)));
    }));
    Z(i, j) = A(i, j) * N(i, j) + ep::where(N(i, j) >= 2, N(i, j), B(i, j)) - (3 - N(i, j));
    CHECK(agrees(
        Z, [&](auto r, auto c) { return A(r, c) * N(r, c) + (N(r, c) >= 2 ? N(r, c) : B(r, c)) - (3 - N(r, c)); }));
    Z(i, j) = exp(N(i, j)) + log(N(i, j) * N(i, j) + 1) + exp(-0.5 * A(i, j));
    CHECK(agrees(Z, [&](auto r, auto c) {
        return std::exp(N(r, c)) + std::log(N(r, c) * N(r, c) + 1) + std::exp(-0.5 * A(r, c));
    }));
    ep::array<bool, 2> bits;
    bits(i, j) = (A(i, j) < B(i, j)) == (N(i, j) != 0);
    CHECK(agrees(bits, [&](auto r, auto c) { return (A(r, c) < B(r, c)) == (N(r, c) != 0); }));
    ep::array<std::int16_t, 2> small({rows, columns});
    small(i, j) = ep::where(bits(i, j), std::int16_t{7}, ep::where(A(i, j) <= 1, std::int16_t{-2}, std::int16_t{5}));
    CHECK(agrees(small, [&](auto r, auto c) { return bits(r, c) ? 7 : A(r, c) <= 1 ? -2 : 5; }));
    Z(i, j) = ep::where(A(i, j) < 0, bits(i, j), B(i, j));  // bool beside numbers
    CHECK(agrees(Z, [&](auto r, auto c) { return A(r, c) < 0 ? (bits(r, c) ? 1 : 0) : B(r, c); }));
    Z(i, j) = ep::where(bits(i, j), -0.0, 1.0 + A(i, j) * A(i, j));
    CHECK(agrees(Z, [&](auto r, auto c) { return bits(r, c) ? 0 : 1 + A(r, c) * A(r, c); }));
    bool keeps_sign = true;
    for (ep::index at = 0; at < Z.size(); ++at) {
        keeps_sign = keeps_sign && std::signbit(Z.data()[at]) == bits.data()[at];
    }
    CHECK(keeps_sign);
    ep::array<float, 2> single;
    const ep::array<float, 2> F = numbers<float>(200);
    single(j, i) = ep::where(bits(i, j), F(i, j), A(i, j) > B(i, j));
    CHECK(agrees(single, [&](auto c, auto r) { return bits(r, c) ? F(r, c) : A(r, c) > B(r, c) ? 1 : 0; }));
}

TEST_CASE("functions of the application's inside larger expressions") {
    const ep::array<double, 2> A = numbers<double>(3);
    const ep::array<double, 2> B = numbers<double>(90);
    const ep::array<int, 2> N = numbers<int>(41);
    const double least = -1.25;
    const auto clipped = [least](double x) { return x < least ? least : x; };
    const auto mixed = [](double x, int n) { return n > 0 ? x : static_cast<double>(n); };
    ep::array<double, 2> Z;
    Z(i, j) = 2.0 * ep::map(clipped, A(i, j) - B(i, j)) + ep::join(mixed, B(i, j), N(i, j) + 1) * A(i, j);
    CHECK(agrees(
        Z, [&](auto r, auto c) { return 2 * clipped(A(r, c) - B(r, c)) + mixed(B(r, c), N(r, c) + 1) * A(r, c); }));
    ep::array<double, 1> sums;
    sums(i) = ep::sum(j, ep::map(clipped, A(i, j)) + ep::map(clipped, B(i, j)) * N(i, j));
    bool good = true;
    for (ep::index r = 0; r < rows; ++r) {
        double sum = 0;  // of multiples of 1/32
        for (ep::index c = 0; c < columns; ++c) {
            sum += clipped(A(r, c)) + clipped(B(r, c)) * N(r, c);
        }
        good = good && sums(r) == sum;
    }
    CHECK(good);
}

TEST_CASE("strided views, rows that are broadcast, and outputs that are operands") {
    const ep::array<double, 2> A = numbers<double>(3);
    const ep::array<int, 2> N = numbers<int>(41);
    ep::array<double, 2> Z = numbers<double>(90);
    ep::array<double, 2> before = Z;
    Z(i, j) = ep::where(Z(i, j) > 1, 1, Z(i, j) * Z(i, j)) - A(i, j);
    CHECK(agrees(Z, [&](auto r, auto c) { return (before(r, c) > 1 ? 1 : before(r, c) * before(r, c)) - A(r, c); }));
    before = Z;
    Z(i, j) += 0.5 * A(i, j) + N(i, j);
    CHECK(agrees(Z, [&](auto r, auto c) { return before(r, c) + (0.5 * A(r, c) + N(r, c)); }));
    before = Z;
    Z(i, j) -= A(i, j) * N(i, j) + tanh(A(i, j));
    CHECK(agrees(Z, [&](auto r, auto c) { return before(r, c) - (A(r, c) * N(r, c) + std::tanh(A(r, c))); }));
    before = Z;
    Z(i, j) = Z(i, j) + ep::map([](double x) { return -x; }, Z(i, j)) + A(i, j);
    CHECK(agrees(Z, [&](auto r, auto c) { return before(r, c) - before(r, c) + A(r, c); }));

    // Every other column, backwards; and columns as rows.
    constexpr ep::index half = columns / 2;
    const ep::view<const double, 2> backwards(A.data() + 2 * half - 2, {rows, half}, {columns, -2});
    const ep::view<const int, 2> turned(N.data(), {half, rows}, {1, columns});
    std::vector<double> memory(static_cast<std::size_t>(3 * rows * half), -77);
    const ep::view<double, 2> into(memory.data(), {rows, half}, {3, 3 * rows});
    into(i, j) = ep::where(turned(j, i) < 0, backwards(i, j), 2 * backwards(i, j) + turned(j, i));
    bool good = true;
    for (ep::index r = 0; r < rows; ++r) {
        for (ep::index c = 0; c < half; ++c) {
            const double x = A(r, 2 * half - 2 - 2 * c);
            good = good && into(r, c) == (N(r, c) < 0 ? x : 2 * x + N(r, c)) && (&into(r, c))[1] == -77 &&
                   (&into(r, c))[2] == -77;
        }
    }
    CHECK(good);

    ep::array<double, 1> row({columns});
    ep::array<float, 1> column({rows});
    for (ep::index c = 0; c < columns; ++c) {
        row(c) = static_cast<double>(c % 5) / 4;
    }
    for (ep::index r = 0; r < rows; ++r) {
        column(r) = static_cast<float>(r % 3) - 0.5F;
    }
    Z(i, j) = (A(i, j) - row(j)) * column(i) + abs(row(j));
    CHECK(agrees(
        Z, [&](auto r, auto c) { return (A(r, c) - row(c)) * static_cast<double>(column(r)) + std::abs(row(c)); }));
    ep::array<double, 2> outer;
    outer(j, i) = ep::where(row(j) > column(i), row(j), 10);
    CHECK(agrees(outer, [&](auto c, auto r) { return row(c) > static_cast<double>(column(r)) ? row(c) : 10; }));
    ep::array<double, 3> cube({rows, 4, columns});
    cube(i, k, j) = A(i, j) + 1;  // along k one value
    good = true;
    for (ep::index r = 0; r < rows; ++r) {
        for (ep::index c = 0; c < columns; ++c) {
            good = good && cube(r, 0, c) == A(r, c) + 1 && cube(r, 3, c) == A(r, c) + 1;
        }
    }
    CHECK(good);
}

}  // namespace row_expression_test
