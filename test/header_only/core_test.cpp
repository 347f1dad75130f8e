// Arrays and files from headers alone, without MPI, against loops written here.

#include "matrices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

using namespace header_only;

namespace {

EINPARALLEL_LABELS(i, j, k);

struct skew {
    double operator()(double x, double y) const { return x - 2 * y; }
};

template <class T>
int wrong_product(int rows) {
    const ep::array<T, 2> A = matrix<T>(rows, 11, 1), B = matrix<T>(11, 7, 2);
    ep::array<T, 2> C({rows, 7});
    C(i, k) = A(i, j) * B(j, k);
    return wrong(C, rows, 7, [&](ep::index row, ep::index column) { return product_at(A, B, row, column); });
}

}  // namespace

TEST_CASE("products of every kind of element") {
    CHECK(wrong_product<double>(40) == 0);
    CHECK(wrong_product<float>(9) == 0);
    CHECK(wrong_product<std::complex<double>>(5) == 0);
    CHECK(wrong_product<int>(6) == 0);
}

TEST_CASE("einsums of two and of three operands") {
    const ep::array<double, 2> A = matrix<double>(4, 6, 1), B = matrix<double>(6, 5, 2), D = matrix<double>(5, 3, 3);
    const ep::array<double, 2> AB = ep::einsum<"ij,jk->ik">(A, B);
    CHECK(wrong(AB, 4, 5, [&](ep::index row, ep::index column) { return product_at(A, B, row, column); }) == 0);
    const ep::array<double, 2> ABD = ep::einsum<"ij,jk,kl->li">(A, B, D);
    CHECK(wrong(ABD, 3, 4, [&](ep::index row, ep::index column) { return product_at(AB, D, column, row); }) == 0);
}

TEST_CASE("a max-plus product, and the application's own functor") {
    const ep::array<double, 2> A = matrix<double>(4, 6, 1), B = matrix<double>(6, 5, 2);
    ep::array<double, 2> C({4, 5});
    C(i, k) = ep::max(A(i, j) + B(j, k));
    CHECK(wrong(C, 4, 5, [&](ep::index row, ep::index column) {
              double largest = -std::numeric_limits<double>::infinity();
              for (ep::index at = 0; at < 6; ++at) {
                  largest = std::max(largest, A(row, at) + B(at, column));
              }
              return largest;
          }) == 0);
    C(i, k) = ep::sum(ep::join(skew{}, A(i, j), B(j, k)));
    CHECK(wrong(C, 4, 5, [&](ep::index row, ep::index column) {
              double sum = 0;
              for (ep::index at = 0; at < 6; ++at) {
                  sum += A(row, at) - 2 * B(at, column);
              }
              return sum;
          }) == 0);
}

TEST_CASE("softmax along a label") {
    const ep::array<double, 2> A = matrix<double>(3, 5, 1);
    ep::array<double, 2> P({3, 5});
    P(i, j) = softmax(j, A(i, j));
    for (ep::index row = 0; row < 3; ++row) {
        double sum = 0;
        for (ep::index column = 0; column < 5; ++column) {
            sum += std::exp(A(row, column));
        }
        for (ep::index column = 0; column < 5; ++column) {
            CHECK(P(row, column) == doctest::Approx(std::exp(A(row, column)) / sum).epsilon(1e-13));
        }
    }
}

TEST_CASE("a file that was written is read, also by boxes") {
    const std::string path = "header_only.npy";
    const ep::array<double, 2> A = matrix<double>(4, 6, 1);
    ep::write_npy<double>(path, {4, 6}, std::span<const double>(A.data(), 24));
    const ep::tensor<double, 2> loaded = ep::load_npy<double, 2>(path);
    REQUIRE(loaded.node()->failure.empty());
    CHECK(loaded.node()->bounds == std::vector<ep::index>{4, 6});
    std::vector<double> part(4, 0.0);
    loaded.node()->origin->read({{{1, 3}, {2, 4}}, false}, part.data());
    CHECK(part == std::vector<double>{A(1, 2), A(1, 3), A(2, 2), A(2, 3)});
    std::remove(path.c_str());
}
