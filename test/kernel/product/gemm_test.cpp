// The blocked matrix product against three loops, around its block sizes, with every instruction set of this processor.

#include "../instruction_sets.hpp"

#include <einparallel/kernel/product/gemm.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace gemm_test {

namespace {

using einparallel::index;
using namespace einparallel::detail;
using kernel_test::gemm_call;
using kernel_test::sets_here;

template <class T>
T small_integer(std::mt19937& random) {
    const int value = std::uniform_int_distribution<int>(-4, 4)(random);
    if constexpr (einparallel::detail::is_complex<T>::value) {
        using real = typename T::value_type;
        return {static_cast<real>(value), static_cast<real>(std::uniform_int_distribution<int>(-4, 4)(random))};
    } else {
        return static_cast<T>(value);
    }
}

/// Exact: the elements are small integers. `layout` picks which of A, B and C are transposed.
template <class T>
void check(index m, index n, index k, unsigned layout, bool add, instruction_set set) {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(layout);
    CAPTURE(add);
    CAPTURE(name_of(set));
    std::mt19937 random(static_cast<unsigned>(m + 7 * n + 31 * k) + layout);
    std::vector<T> a(static_cast<std::size_t>(m * k));
    std::vector<T> b(static_cast<std::size_t>(k * n));
    std::vector<T> c(static_cast<std::size_t>(m * n) + 1, T(99));
    for (T& value : a) {
        value = small_integer<T>(random);
    }
    for (T& value : b) {
        value = small_integer<T>(random);
    }
    std::vector<T> expected = c;
    const index a_m = (layout & 1U) != 0 ? 1 : k;
    const index a_k = (layout & 1U) != 0 ? m : 1;
    const index b_k = (layout & 2U) != 0 ? 1 : n;
    const index b_n = (layout & 2U) != 0 ? k : 1;
    const index c_m = (layout & 4U) != 0 ? 1 : n;
    const index c_n = (layout & 4U) != 0 ? m : 1;
    for (index i = 0; i < m; ++i) {
        for (index j = 0; j < n; ++j) {
            T sum{};
            for (index p = 0; p < k; ++p) {
                sum += a[static_cast<std::size_t>(i * a_m + p * a_k)] * b[static_cast<std::size_t>(p * b_k + j * b_n)];
            }
            T& place = expected[static_cast<std::size_t>(i * c_m + j * c_n)];
            place = (add ? place : T{}) + T(3) * sum;
        }
    }
    if constexpr (!std::is_integral_v<T>) {
        if (!add) {
            c.assign(c.size(), T(std::numeric_limits<double>::quiet_NaN()));
            c.back() = T(99);
        }
    }
    gemm_call<T> call;
    call.m.add(m, a_m, c_m);
    call.n.add(n, b_n, c_n);
    call.k.add(k, a_k, b_k);
    call.scale = T(3);
    call.add = add;
    kernel_test::gemm<T>(call, a.data(), b.data(), c.data(), set);
    CHECK(c == expected);
}

}  // namespace

TEST_CASE_TEMPLATE("gemm agrees with three loops around its block sizes", T, double, float, std::complex<double>,
                   std::complex<float>, int) {
    for (const instruction_set set : sets_here()) {
        unsigned layout = 0;
        for (const index m : {1, 2, 5, 6, 7, 12, 13, 25}) {
            for (const index n : {1, 3, 4, 8, 9, 16, 17, 33, 65}) {
                for (const index k : {1, 2, 31}) {
                    check<T>(m, n, k, layout % 8, layout % 3 == 0, set);
                    ++layout;
                }
            }
        }
        const T one(1);
        const index rows = product_tile_kernel<T>(set, &one).rows;
        for (const index k : {127, 128, 129, 255, 256, 257, 300}) {
            check<T>(rows * 2 + 1, 19, k, layout % 8, layout % 3 == 0, set);
            ++layout;
        }
        for (const index m : {rows * 20 - 1, rows * 20, rows * 20 + 1, rows * 40 + 1, index{481}}) {
            check<T>(m, 10, 9, layout % 8, layout % 3 == 0, set);
            ++layout;
        }
        for (const index n : {511, 513, 1023, 1025, 2047, 2048, 2049}) {
            check<T>(7, n, 5, layout % 8, layout % 3 == 0, set);
            ++layout;
        }
        check<T>(150, 1030, 260, 0, false, set);
        check<T>(130, 270, 530, 7, true, set);
    }
}

TEST_CASE_TEMPLATE("gemm agrees with three loops where many rows pass few columns", T, double, float, int,
                   std::complex<float>) {
    for (const instruction_set set : sets_here()) {
        for (const unsigned layout : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
            for (const index m : {128, 131, 133, 1027}) {
                for (const index n : {4, 8, 12, 16, 24}) {
                    check<T>(m, n, 17, layout, n % 3 == 0, set);
                }
            }
            for (const index k : {1, 32, 33, 127, 129, 257, 641}) {
                check<T>(129 + k % 5, 16, k, layout, k % 2 == 0, set);
            }
        }
    }
}

TEST_CASE("gemm: fused labels as rows, columns and sum") {
    // C(i, j, l) = Σ_pq A(p, i, q, j) B(q, l, p) with i, j as rows, l as columns, p, q summed.
    constexpr index i_extent = 5, j_extent = 7, l_extent = 11, p_extent = 3, q_extent = 13;
    std::vector<double> a(p_extent * i_extent * q_extent * j_extent);
    std::vector<double> b(q_extent * l_extent * p_extent);
    std::mt19937 random(4);
    for (double& value : a) {
        value = small_integer<double>(random);
    }
    for (double& value : b) {
        value = small_integer<double>(random);
    }
    std::vector<double> expected(i_extent * j_extent * l_extent, 0.0);
    for (index i = 0; i < i_extent; ++i) {
        for (index j = 0; j < j_extent; ++j) {
            for (index l = 0; l < l_extent; ++l) {
                for (index p = 0; p < p_extent; ++p) {
                    for (index q = 0; q < q_extent; ++q) {
                        expected[static_cast<std::size_t>((i * j_extent + j) * l_extent + l)] +=
                            a[static_cast<std::size_t>(((p * i_extent + i) * q_extent + q) * j_extent + j)] *
                            b[static_cast<std::size_t>((q * l_extent + l) * p_extent + p)];
                    }
                }
            }
        }
    }
    for (const instruction_set set : sets_here()) {
        CAPTURE(name_of(set));
        std::vector<double> c(expected.size(), std::numeric_limits<double>::quiet_NaN());
        gemm_call<double> call;
        call.m.add(i_extent, q_extent * j_extent, j_extent * l_extent);
        call.m.add(j_extent, 1, l_extent);
        call.n.add(l_extent, p_extent, 1);
        call.k.add(p_extent, i_extent * q_extent * j_extent, 1);
        call.k.add(q_extent, j_extent, l_extent * p_extent);
        kernel_test::gemm<double>(call, a.data(), b.data(), c.data(), set);
        CHECK(c == expected);
    }
}

}  // namespace gemm_test
