// Everyday words on arrays: maps, comparisons, mean, iota, places, random numbers, braces, printing; and what an array
// without extents takes over. Against loops written here.

#include <einparallel.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

namespace everyday_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

using ep::testing::sentence_of;

template <class T>
std::string text_of(const T& value) {
    std::ostringstream written;
    written << value;
    return written.str();
}

/// 4 x 3 numbers of both signs, without ties.
ep::array<double, 2> numbers() {
    ep::array<double, 2> made({4, 3});
    for (ep::index row = 0; row < 4; ++row) {
        for (ep::index column = 0; column < 3; ++column) {
            made(row, column) = std::sin(static_cast<double>(1 + 3 * row + column)) * 2.5;
        }
    }
    return made;
}

template <class Wanted>
bool agrees(const ep::array<double, 2>& made, Wanted&& wanted) {
    bool good = made.size() > 0;
    for (ep::index row = 0; row < made.extent(0); ++row) {
        for (ep::index column = 0; column < made.extent(1); ++column) {
            good = good && std::abs(made(row, column) - wanted(row, column)) < 1e-14;
        }
    }
    return good;
}

}  // namespace

TEST_CASE("maps by name are the functions of the standard library") {
    const ep::array<double, 2> A = numbers();
    ep::array<double, 2> Z;
    Z(i, j) = sin(A(i, j));
    CHECK(agrees(Z, [&](auto row, auto column) { return std::sin(A(row, column)); }));
    Z(i, j) = cos(A(i, j)) + tan(A(i, j));
    CHECK(agrees(Z, [&](auto row, auto column) { return std::cos(A(row, column)) + std::tan(A(row, column)); }));
    Z(i, j) = erf(A(i, j)) - floor(A(i, j));
    CHECK(agrees(Z, [&](auto row, auto column) { return std::erf(A(row, column)) - std::floor(A(row, column)); }));
    Z(i, j) = round(A(i, j)) * sign(A(i, j));
    CHECK(agrees(Z, [&](auto row, auto column) {
        return std::round(A(row, column)) * (A(row, column) > 0 ? 1 : A(row, column) < 0 ? -1 : 0);
    }));
    Z(i, j) = ep::atan2(A(i, j), 0.5) + ep::atan2(2.0, A(i, j));
    CHECK(agrees(
        Z, [&](auto row, auto column) { return std::atan2(A(row, column), 0.5) + std::atan2(2.0, A(row, column)); }));

    const ep::array<std::complex<float>, 1> c{std::complex<float>(1, 2), std::complex<float>(-3, 0.5F)};
    ep::array<std::complex<float>, 1> s;
    s(i) = sin(c(i)) * cos(c(i));
    CHECK(std::abs(s(1) - std::sin(c(1)) * std::cos(c(1))) < 1e-5F);
    const ep::array<int, 1> whole{-3, 0, 7};
    ep::array<int, 1> same;
    same(i) = floor(whole(i)) + round(whole(i)) + sign(whole(i));
    CHECK(same(0) == -7);
    CHECK(same(1) == 0);
    CHECK(same(2) == 15);
    CHECK(std::isnan(ep::detail::sign_function{}(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("comparisons are bool, and where chooses") {
    const ep::array<double, 2> A = numbers();
    const ep::array<double, 2> B{{1, -1, 0}, {0.5, 2, -2}, {0, 0, 0}, {3, 3, 3}};
    ep::array<bool, 2> c;
    c(i, j) = A(i, j) < B(i, j);
    ep::array<double, 2> Z;
    Z(i, j) = ep::where(A(i, j) >= B(i, j), A(i, j), 10.0 * B(i, j));
    const auto chosen = [&](auto row, auto column) {
        return A(row, column) >= B(row, column) ? A(row, column) : 10 * B(row, column);
    };
    CHECK(agrees(Z, chosen));
    CHECK(c(0, 0) == (A(0, 0) < B(0, 0)));
    Z(i, j) = ep::where(c(i, j), 1, 0.5);
    CHECK(agrees(Z, [&](auto row, auto column) { return A(row, column) < B(row, column) ? 1 : 0.5; }));
    ep::array<ep::index, 1> counted;
    counted(i) = ep::sum(j, ep::where(B(i, j) == 0, 1, 0)) + ep::sum(j, ep::where(B(i, j) != 0, 100, 0));
    CHECK(counted(0) == 201);
    CHECK(counted(2) == 3);
    ep::array<bool, 0> any;
    any() = B(i, j) > 2.5;  // a sum of bool says whether any is true
    CHECK(any.value());
    any() = B(i, j) <= -2.5;
    CHECK(!any.value());
}

TEST_CASE("the mean, of numbers and of bool, over some labels and all") {
    const ep::array<double, 2> A = numbers();
    ep::array<double, 1> m;
    m(i) = ep::mean(A(i, j));
    ep::array<double, 2> centred;
    centred(i, j) = A(i, j) - ep::mean(i, A(i, j));
    for (ep::index row = 0; row < 4; ++row) {
        CHECK(m(row) == doctest::Approx((A(row, 0) + A(row, 1) + A(row, 2)) / 3));
    }
    for (ep::index column = 0; column < 3; ++column) {
        const double mean = (A(0, column) + A(1, column) + A(2, column) + A(3, column)) / 4;
        CHECK(centred(2, column) == doctest::Approx(A(2, column) - mean));
    }
    const ep::array<int, 2> whole{{1, 2}, {3, 5}};
    ep::array<double, 0> all;
    all() = ep::mean(whole(i, j));
    CHECK(all.value() == 2.75);
    all() = ep::mean(whole(i, j) > 1);
    CHECK(all.value() == 0.75);
    all() = ep::mean(i, j, whole(i, j) * whole(i, j));
    CHECK(all.value() == (1 + 4 + 9 + 25) / 4.0);
}

TEST_CASE("iota is the index along a label") {
    const ep::array<double, 2> A = numbers();
    ep::array<double, 2> Z;
    Z(i, j) = A(i, j) * ep::iota(i) + 10 * ep::iota(j);
    CHECK(agrees(Z, [&](auto row, auto column) {
        return A(row, column) * static_cast<double>(row) + 10 * static_cast<double>(column);
    }));
    ep::array<ep::index, 2> places({3, 5});
    places(i, j) = 5 * ep::iota(i) + ep::iota(j);  // the left side knows how far
    CHECK(places(2, 4) == 14);
    places(i, j) += ep::iota(j);
    CHECK(places(2, 4) == 18);
    ep::array<ep::index, 1> nowhere;
    CHECK(sentence_of([&] { nowhere(i) = 2 * ep::iota(i); }) ==
          "einsum: the extent of label i is not known: give the left-hand side extents, or let an operand have the "
          "label as a dimension of its own");
}

TEST_CASE("argmax and argmin: ties to the lowest index, the first NaN") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const ep::array<double, 2> A{{1, 3, 3, 2}, {-1, -1, -1, -1}, {0, nan, 7, nan}, {5, 4, -6, -6}};
    ep::array<ep::index, 1> largest, smallest;
    largest(i) = ep::argmax(j, A(i, j));
    smallest(i) = ep::argmin(j, A(i, j));
    CHECK(text_of(largest) == "[1, 0, 1, 0]");
    CHECK(text_of(smallest) == "[0, 0, 1, 2]");
    ep::array<ep::index, 1> of_products;
    of_products(i) = ep::argmax(k, ep::sum(j, A(i, j) * A(k, j)));
    CHECK(of_products(0) == 2);  // the NaN
}

TEST_CASE("Philox4x32-10 gives the numbers of its authors, and random numbers are even and independent of order") {
    using ep::detail::philox;
    using words = std::array<std::uint32_t, 4>;
    static_assert(philox({0, 0, 0, 0}, {0, 0}) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
                  words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                  words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    ep::array<double, 3> U({20, 30, 40}), N({20, 30, 40});
    U(i, j, k) = ep::join(ep::uniform(7), ep::iota(i), ep::iota(j), ep::iota(k));
    N(i, j, k) = ep::join(ep::normal(7), ep::iota(i), ep::iota(j), ep::iota(k));
    CHECK(U(3, 4, 5) == ep::uniform(7)(3, 4, 5));
    CHECK(U(3, 4, 5) != ep::uniform(8)(3, 4, 5));
    CHECK(ep::uniform(7)(3, 4) != ep::uniform(7)(4, 3));
    CHECK(ep::uniform(7)(3) != ep::uniform(7)(3, 0));
    double mean = 0, square = 0, of_normal = 0, of_square = 0;
    bool inside = true;
    for (ep::index at = 0; at < U.size(); ++at) {
        const double u = U.data()[at], x = N.data()[at];
        inside = inside && u >= 0 && u < 1;
        mean += u, square += u * u, of_normal += x, of_square += x * x;
    }
    const auto count = static_cast<double>(U.size());  // 24000: one standard deviation of the mean is 0.0019
    CHECK(inside);
    CHECK(std::abs(mean / count - 0.5) < 0.008);
    CHECK(std::abs(square / count - 1.0 / 3) < 0.008);
    CHECK(std::abs(of_normal / count) < 0.03);
    CHECK(std::abs(of_square / count - 1) < 0.04);
}

TEST_CASE("braces are elements, in parentheses extents") {
    const ep::array<double, 2> A{{1, 2, 3}, {4, 5, 6}};
    CHECK(A.extents() == std::array<ep::index, 2>{2, 3});
    CHECK(A(1, 0) == 4);
    const ep::array<int, 3> B = {{{1, 2}}, {{3, 4}}, {{5, 6}}};
    CHECK(B.extents() == std::array<ep::index, 3>{3, 1, 2});
    CHECK(B(2, 0, 1) == 6);
    const ep::array<float, 1> x{1, 2.5, 3};
    CHECK(x(1) == 2.5F);
    const ep::array<double, 1> zeros({5});
    CHECK(zeros.size() == 5);
    const ep::array<double, 2> empty({2, 3});
    CHECK(empty(1, 2) == 0);
    CHECK(sentence_of([] {
              const ep::array<double, 2> ragged{{1, 2}, {3}};
          }) == "ep::array: lists of one depth have different lengths, 1 and 2");
}

TEST_CASE("arrays print, shortened where they are long") {
    CHECK(text_of(ep::array<double, 2>{{1, 2.5}, {-3, 4e20}}) == "[[1, 2.5],\n [-3, 4e+20]]");
    CHECK(text_of(ep::array<double, 1>({0})) == "[]");
    CHECK(text_of(ep::array<int, 0>()) == "0");
    CHECK(text_of(ep::array<bool, 1>{true, false}) == "[true, false]");
    CHECK(text_of(ep::array<signed char, 1>{65, -1}) == "[65, -1]");
    CHECK(text_of(ep::array<std::complex<double>, 1>{std::complex<double>(1, -2), std::complex<double>(0)}) ==
          "[(1,-2), (0,0)]");
    CHECK(text_of(ep::array<int, 3>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}) ==
          "[[[1, 2],\n  [3, 4]],\n [[5, 6],\n  [7, 8]]]");
    ep::array<int, 1> many({2000});
    many(i) = ep::map([](ep::index at) { return static_cast<int>(at); }, ep::iota(i));
    CHECK(text_of(many) == "[0, 1, 2, ..., 1997, 1998, 1999]\n(2000 elements)");
    ep::array<int, 2> matrix({400, 4});
    CHECK(text_of(matrix) ==
          "[[0, 0, 0, 0],\n [0, 0, 0, 0],\n [0, 0, 0, 0],\n ...,\n [0, 0, 0, 0],\n [0, 0, 0, 0],\n [0, 0, 0, 0]]\n"
          "(400 x 4 elements)");
    const ep::array<int, 2> small{{1, 2}, {3, 4}};
    const ep::view<const int, 2> turned(small.data(), {2, 2}, {1, 2});
    CHECK(text_of(turned) == "[[1, 3],\n [2, 4]]");
}

TEST_CASE("an array without extents takes those of the right-hand side") {
    const ep::array<double, 2> A = numbers();
    const ep::array<double, 2> B{{1, 2}, {3, 4}, {5, 6}};
    ep::array<double, 2> Z;
    Z(i, k) = A(i, j) * B(j, k);
    CHECK(Z.extents() == std::array<ep::index, 2>{4, 2});
    CHECK(Z(3, 1) == doctest::Approx(A(3, 0) * 2 + A(3, 1) * 4 + A(3, 2) * 6));
    ep::array<double, 2> softened;
    softened(j, i) = ep::softmax(j, A(i, j));
    CHECK(softened.extents() == std::array<ep::index, 2>{3, 4});
    ep::array<double, 2> chain, sum, copy;
    chain(i, k) = 2.0 * A(i, j) * B(j, k) * A(i, j);
    sum(i, j) = A(i, j) + ep::sum(B(j, k)) - 1.0;
    copy(j, i) = A(i, j);
    CHECK(chain.extents() == std::array<ep::index, 2>{4, 2});
    CHECK(sum(0, 1) == doctest::Approx(A(0, 1) + 3 + 4 - 1));
    CHECK(copy(2, 3) == A(3, 2));
    // What has extents keeps them, and adding to nothing is a mistake as before.
    CHECK(sentence_of([&] { Z(i, k) = B(i, k); }) ==
          "einsum ik->ik: label i has extent 3 in the operands and 4 in the output");
    ep::array<double, 2> nothing;
    CHECK(!sentence_of([&] { nothing(i, k) += B(i, k); }).empty());
    CHECK(sentence_of([&] { nothing(i, k) = ep::sum(A(i, j)); }) ==
          "einsum: output label k appears in no operand, and the array has no extents yet: make it with them, "
          "ep::array<double, 2> Z({m, n})");
}

TEST_CASE("a label that no operand has is broadcast over, where the left side knows its extent") {
    const ep::array<double, 1> x{1, 2, 3};
    const ep::array<double, 2> B{{1, 2}, {3, 4}, {5, 6}};
    ep::array<double, 2> Z({4, 3});
    Z(i, j) = x(j);
    CHECK(agrees(Z, [&](auto /*row*/, auto column) { return x(column); }));
    Z(i, j) = -2.0 * x(j);
    CHECK(agrees(Z, [&](auto /*row*/, auto column) { return -2 * x(column); }));
    Z(i, j) += x(j) * x(j);
    CHECK(agrees(Z, [&](auto /*row*/, auto column) { return x(column) * x(column) - 2 * x(column); }));
    Z(i, j) = ep::sum(B(j, k));
    CHECK(agrees(Z, [&](auto /*row*/, auto column) { return B(column, 0) + B(column, 1); }));
    Z(i, j) = exp(ep::max(k, B(j, k)));
    CHECK(agrees(Z, [&](auto /*row*/, auto column) { return std::exp(B(column, 1)); }));
    Z(i, j) = 2.5;
    CHECK(agrees(Z, [](auto...) { return 2.5; }));
    Z(i, j) -= 1.0;
    CHECK(agrees(Z, [](auto...) { return 1.5; }));
}

TEST_CASE("memory that nobody has is an ep::error") {
    CHECK(sentence_of([] { const ep::array<double, 1> large({ep::index{1} << 45}); }) ==
          "ep::array: there is no memory for 281474976710656 bytes");
}

TEST_CASE("a view takes its extents in a std::array, too") {
    ep::array<double, 2> A{{1, 2, 3}, {4, 5, 6}};
    const std::array<ep::index, 2> extents{2, 3};
    const ep::view seen(A.data(), extents);
    CHECK(seen(1, 0) == 4);
}

}  // namespace everyday_test
