// Contractions on several threads, in a program that links OpenMP: the same numbers as on one, on any number of
// threads.

#include <einparallel/array/einsum.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/tuning.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <support/kernels.hpp>

#include <doctest/doctest.h>

#include <omp.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace ep = einparallel;
using ep::index;
using ep::detail::thread_grid;

template <class T, std::size_t Rank>
ep::array<T, Rank> filled(const std::array<index, Rank>& extents) {
    ep::array<T, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = static_cast<T>((at * 7 + at / 13) % 11 - 5);
    }
    return made;
}

template <class T, std::size_t Rank>
bool equal(const ep::array<T, Rank>& left, const ep::array<T, Rank>& right) {
    return std::equal(left.data(), left.data() + left.size(), right.data(), right.data() + right.size());
}

/// Computes with 1 and with several threads; the elements are integers, so that all must agree to the bit.
template <class Compute>
void check_alike(Compute&& compute) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto expected = compute();
    for (const int threads : {2, 3, 5}) {
        CAPTURE(threads);
        omp_set_num_threads(threads);
        CHECK(equal(compute(), expected));
        CHECK(omp_get_max_threads() == threads);
    }
    omp_set_num_threads(before);
}

}  // namespace

TEST_CASE("every part is visited once, and what a part throws arrives") {
    std::vector<std::atomic<int>> visits(4);
    std::atomic<index> parts_seen{0};
    ep::detail::on_threads(4, [&](index part, index parts) {
        ++visits[static_cast<std::size_t>(part)];
        parts_seen = parts;
    });
    for (index part = 0; part < 4; ++part) {
        CHECK(visits[static_cast<std::size_t>(part)] == (part < parts_seen ? 1 : 0));
    }
    CHECK_THROWS_AS(ep::detail::on_threads(4, [](index, index) { throw std::runtime_error("part"); }),
                    std::runtime_error);
    index covered = 0;
    for (index part = 0; part < 5; ++part) {
        const ep::detail::even_share own(17, part, 5);
        CHECK(own.begin == covered);
        covered = own.end;
    }
    CHECK(covered == 17);
}

TEST_CASE("OpenMP's settings are respected") {
    const int before = omp_get_max_threads();
    omp_set_num_threads(3);
    CHECK(ep::detail::available_threads() == 3);
    bool nested_on_one = true;
#pragma omp parallel num_threads(2) reduction(&& : nested_on_one)
    nested_on_one = nested_on_one && (omp_get_num_threads() == 1 || ep::detail::available_threads() == 1);
    CHECK(nested_on_one);
    omp_set_num_threads(before);
}

TEST_CASE_TEMPLATE("contractions of halves on several threads", Half, ep::float16, ep::bfloat16) {
    // Thirds are no halves: sums are rounded, in one order whatever the threads.
    const auto thirds = [](auto made) {
        for (index at = 0; at < made.size(); ++at) {
            made.data()[at] = Half(float((at * 7 + at / 13) % 11 - 5) / 3);
        }
        return made;
    };
    const auto wide = thirds(ep::array<Half, 2>({170, 131}));
    const auto tall = thirds(ep::array<Half, 2>({131, 901}));
    const auto turned = thirds(ep::array<Half, 2>({901, 131}));
    const auto floats = filled<float, 2>({131, 901});
    check_alike([&] { return ep::einsum<"ij,jk->ik">(wide, tall); });
    check_alike([&] { return ep::einsum<"ij,kj->ki">(wide, turned); });
    check_alike([&] { return ep::einsum<"ij,jk->ik">(wide, floats); });
    const auto rows = thirds(ep::array<Half, 3>({7, 400, 517}));
    const auto vectors = thirds(ep::array<Half, 2>({7, 517}));
    check_alike([&] { return ep::einsum<"bij,bj->bi">(rows, vectors); });
    check_alike([&] { return ep::einsum<"bij,bi->bj">(rows, thirds(ep::array<Half, 2>({7, 400}))); });
    check_alike([&] { return ep::einsum<"bij->i">(rows); });
}

TEST_CASE_TEMPLATE("contractions on several threads", T, double, float) {
    const auto wide = filled<T, 2>({70, 130});
    const auto tall = filled<T, 2>({130, 901});
    check_alike([&] { return ep::einsum<"ij,jk->ik">(wide, tall); });
    check_alike([&] { return ep::einsum<"ij,jk->ki">(wide, tall); });
    const auto a = filled<T, 4>({20, 11, 37, 24});
    const auto b = filled<T, 2>({37, 26});
    check_alike([&] { return ep::einsum<"abkd,kc->dcba">(a, b); });
    const auto batch_a = filled<T, 3>({3001, 9, 8});
    const auto batch_b = filled<T, 3>({3001, 8, 11});
    check_alike([&] { return ep::einsum<"nij,njk->nik">(batch_a, batch_b); });
    const auto last_a = filled<T, 3>({9, 8, 3001});
    const auto last_b = filled<T, 3>({8, 11, 3001});
    check_alike([&] { return ep::einsum<"ijn,jkn->ikn">(last_a, last_b); });
    const auto rows = filled<T, 3>({7, 400, 517});
    const auto vectors = filled<T, 2>({7, 517});
    check_alike([&] { return ep::einsum<"bij,bj->bi">(rows, vectors); });
    const auto left = filled<T, 2>({300, 16});
    const auto right = filled<T, 2>({310, 16});
    check_alike([&] { return ep::einsum<"ir,jr->ijr">(left, right); });
    check_alike([&] {
        EINPARALLEL_LABELS(i, j, k);
        ep::array<T, 2> nearest({70, 901});
        nearest(i, k) = ep::min(abs(wide(i, j) - tall(j, k)));
        return nearest;
    });
    const auto many = filled<T, 3>({301, 17, 19});
    check_alike([&] {
        EINPARALLEL_LABELS(n, i, j, k);
        ep::array<T, 3> nearest({19, 301, 19});
        nearest(k, n, i) = ep::min(abs(many(n, j, i) - many(n, j, k)));
        return nearest;
    });
    const auto few = filled<T, 3>({2, 170, 190});
    check_alike([&] {
        EINPARALLEL_LABELS(n, i, j, k);
        ep::array<T, 3> longest({190, 2, 190});
        longest(k, n, i) = ep::max(few(n, j, i) + few(n, j, k));
        return longest;
    });
}

TEST_CASE("threads share rows and columns so that the busiest has least to do") {
    const auto grid = [](index threads, index m, index n) { return thread_grid::of(threads, m, 6, n, 8); };
    const auto is = [](const thread_grid& made, index rows, index columns) {
        return made.rows == rows && made.columns == columns;
    };
    CHECK(is(grid(1, 600, 600), 1, 1));
    CHECK(is(grid(4, 4096, 4096), 2, 2));
    CHECK(is(grid(16, 4096, 4096), 4, 4));
    CHECK(is(grid(8, 100000, 16), 8, 1));
    CHECK(is(grid(8, 16, 100000), 1, 8));
    CHECK(is(grid(7, 4096, 400), 7, 1));
    for (const index threads : {1, 2, 3, 4, 6, 7, 12, 30}) {
        const thread_grid made = grid(threads, 50, 70);
        CHECK(made.rows * made.columns == threads);
    }
}

TEST_CASE_TEMPLATE("sums to short rows are made in one order, however many threads there are", T, double, float) {
    EINPARALLEL_LABELS(i, k, l);
    for (const index width : {20, 40, 63}) {
        CAPTURE(width);
        auto a = filled<T, 3>({900, 31, width});
        for (index at = 0; at < a.size(); ++at) {
            a.data()[at] = T(1) / static_cast<T>(at % 97 + 1);
        }
        auto b = filled<T, 1>({900});
        check_alike([&] {
            ep::array<T, 1> made({width});
            made(k) = ep::sum(abs(a(i, l, k) - b(i)));
            return made;
        });
        check_alike([&] {
            ep::array<T, 1> made({width});
            made(k) = a(i, l, k) * b(i);
            return made;
        });
        check_alike([&] {
            ep::array<T, 2> made({900, width});
            made(i, k) = ep::sum(abs(a(i, l, k) - b(i)));
            return made;
        });
    }
}

TEST_CASE_TEMPLATE("long sums to a small output on several threads", T, double, float, int) {
    constexpr index length = 70001;
    const auto a = filled<T, 3>({length, 3, 5});
    const auto b = filled<T, 2>({length, 17});
    const auto sums = [&](auto&& term, auto&& reduced) {
        ep::array<T, 3> expected({5, 17, 3});
        for (index x = 0; x < 3; ++x) {
            for (index y = 0; y < 5; ++y) {
                for (index z = 0; z < 17; ++z) {
                    T total = term(a(0, x, y), b(0, z));
                    for (index j = 1; j < length; ++j) {
                        total = reduced(total, term(a(j, x, y), b(j, z)));
                    }
                    expected(y, z, x) = total;
                }
            }
        }
        return expected;
    };
    EINPARALLEL_LABELS(j, x, y, z);
    const auto products = [&] { return ep::einsum<"jxy,jz->yzx">(a, b); };
    check_alike(products);
    CHECK(equal(products(), sums(std::multiplies<>(), std::plus<>())));
    const auto added = [&] {
        ep::array<T, 3> made({5, 17, 3});
        std::fill_n(made.data(), made.size(), T(7));
        made(y, z, x) += a(j, x, y) * b(j, z);
        return made;
    };
    check_alike(added);
    auto expected = sums(std::multiplies<>(), std::plus<>());
    std::for_each(expected.data(), expected.data() + expected.size(), [](T& each) { each += 7; });
    CHECK(equal(added(), expected));
    const auto largest = [&] {
        ep::array<T, 3> made({5, 17, 3});
        made(y, z, x) = ep::max(a(j, x, y) + b(j, z));
        return made;
    };
    check_alike(largest);
    CHECK(equal(largest(), sums(std::plus<>(), [](T left, T right) { return std::max(left, right); })));
    const auto distances = [&] {
        ep::array<T, 3> made({5, 17, 3});
        made(y, z, x) = ep::sum(abs(a(j, x, y) - b(j, z)));
        return made;
    };
    check_alike(distances);
    CHECK(equal(distances(),
                sums([](T left, T right) { return left > right ? left - right : right - left; }, std::plus<>())));
}

TEST_CASE_TEMPLATE("permutations on several threads", T, double, float, unsigned char) {
    const auto turned = filled<T, 2>({1301, 1201});
    check_alike([&] { return ep::einsum<"ij->ji">(turned); });
    const auto runs = filled<T, 3>({30, 70, 801});
    check_alike([&] { return ep::einsum<"abc->bac">(runs); });
    const auto long_runs = filled<T, 3>({3, 5, 100001});
    check_alike([&] { return ep::einsum<"abc->bac">(long_runs); });
    const auto many = filled<T, 5>({18, 17, 19, 20, 16});
    check_alike([&] { return ep::einsum<"abcde->cedab">(many); });
    check_alike([&] { return ep::einsum<"abcde->edcba">(many); });
    const auto large = filled<T, 2>({2050, 2100});
    check_alike([&] { return ep::einsum<"ij->ji">(large); });
}

TEST_CASE("the order of summation does not depend on the number of threads") {
    // Elements that no order sums exactly.
    const auto real = [](const std::array<index, 2>& extents) {
        ep::array<double, 2> made(extents);
        for (index at = 0; at < made.size(); ++at) {
            made.data()[at] = std::sin(static_cast<double>(at) * 0.7) * std::exp2(static_cast<double>(at % 31 - 15));
        }
        return made;
    };
    const auto a = real({301, 1203});
    const auto b = real({1203, 307});
    const auto tall = real({70001, 24});
    const auto narrow = real({24, 16});
    const auto wide = real({3, 400009});
    const auto slim = real({200003, 5});
    EINPARALLEL_LABELS(i, j, k);
    check_alike([&] { return ep::einsum<"ij,jk->ik">(a, b); });
    check_alike([&] { return ep::einsum<"ij,jk->ki">(a, b); });
    check_alike([&] { return ep::einsum<"ij,jk->ik">(tall, narrow); });
    check_alike([&] { return ep::einsum<"ji,jk->ik">(tall, tall); });
    check_alike([&] {
        ep::array<double, 2> sums({24, 24});
        sums(i, k) = ep::sum(abs(tall(j, i) - tall(j, k)));
        sums(k, i) += tall(j, i) * tall(j, k);
        return sums;
    });
    check_alike([&] { return ep::einsum<"ij,ij->i">(wide, wide); });
    check_alike([&] { return ep::einsum<"ij,kj->ik">(wide, wide); });
    check_alike([&] { return ep::einsum<"ij->i">(wide); });
    check_alike([&] { return ep::einsum<"ij->j">(tall); });
    check_alike([&] { return ep::einsum<"ij->j">(slim); });
    check_alike([&] { return ep::einsum<"ij->">(wide); });
    check_alike([&] {
        ep::array<double, 1> sums({3});
        sums(i) = ep::sum(j, where(wide(i, j) > 0.5, exp(-abs(wide(i, j))), wide(i, j) * wide(i, j)) / 3.0);
        return sums;
    });
    check_alike([&] {
        ep::array<double, 2> z({3, 400009});
        z(i, j) = where(wide(i, j) > 0.5, exp(-abs(wide(i, j))), pow(2, -abs(wide(i, j)))) - 1.0;
        return z;
    });
    check_alike([&] {
        ep::array<double, 2> z({3, 400009});
        z(i, j) = ep::softmax(j, wide(i, j));
        return z;
    });
    check_alike([&] {
        ep::array<double, 2> z({70001, 24});
        z(i, j) = ep::softmax(i, tall(i, j));
        return z;
    });
}

TEST_CASE_TEMPLATE("element-wise functions and reductions on several threads", T, double, float) {
    const auto a = filled<T, 3>({70, 61, 50});
    const auto b = filled<T, 2>({61, 50});
    const auto twice = [](T x, T y) { return 2 * x + y; };
    check_alike([&] {
        EINPARALLEL_LABELS(i, j, k);
        ep::array<T, 3> mapped({50, 70, 61});
        mapped(k, i, j) = ep::join(twice, a(i, j, k), b(j, k));
        return mapped;
    });
    check_alike([&] {
        EINPARALLEL_LABELS(i, j, k);
        ep::array<T, 1> sums({70});
        sums(i) = ep::sum(abs(a(i, j, k)));
        return sums;
    });
    check_alike([&] {
        EINPARALLEL_LABELS(i, j, k);
        ep::array<T, 2> largest({50, 61});
        largest(k, j) = ep::max(a(i, j, k));
        largest(k, j) += b(j, k);
        return largest;
    });
    check_alike([&] { return ep::einsum<"ijk,jk,jk->ik">(a, b, b); });
    check_alike([&] { return ep::einsum<"ijk->kj">(a); });
    const auto long_rows = filled<T, 2>({2, 300001});
    check_alike([&] { return ep::einsum<"ij->i">(long_rows); });
    check_alike([&] { return ep::einsum<"ij->j">(long_rows); });
    check_alike([&] { return ep::einsum<"ij->">(long_rows); });
    check_alike([&] {
        EINPARALLEL_LABELS(i, j);
        ep::array<T, 1> largest({2});
        largest(i) = ep::max(abs(long_rows(i, j)));
        return largest;
    });
    const auto square = filled<T, 2>({701, 811});
    check_alike([&] {
        EINPARALLEL_LABELS(i, j);
        ep::array<T, 2> turned({811, 701});
        turned(j, i) = square(i, j) - twice(1, 0);
        return turned;
    });
    check_alike([&] { return ep::array<T, 2>(long_rows); });
    check_alike([&] { return ep::array<T, 2>({700, 801}); });
}

TEST_CASE("a long sum has the same value on any number of threads, whatever its terms") {
    ep::array<double, 2> terms({517, 1003});
    for (index at = 0; at < terms.size(); ++at) {
        terms.data()[at] = 1.0 / static_cast<double>(at % 1009 + 1);
    }
    long double expected = 0;
    for (index at = 0; at < terms.size(); ++at) {
        expected += static_cast<long double>(terms.data()[at]);
    }
    const auto sum = [&] {
        EINPARALLEL_LABELS(i, j);
        ep::array<double, 0> all;
        all() = ep::sum(terms(i, j));
        all() += ep::sum(sqrt(terms(i, j)));
        return all;
    };
    check_alike(sum);
    check_alike([&] {
        EINPARALLEL_LABELS(i, j);
        ep::array<double, 0> largest;
        largest() = ep::max(terms(i, j) * terms(i, j));
        return largest;
    });
    EINPARALLEL_LABELS(i, j);
    ep::array<double, 0> all;
    all() = 0.5 * ep::sum(terms(i, j));
    all() += ep::sum(terms(i, j));
    CHECK(all.value() == doctest::Approx(1.5 * static_cast<double>(expected)).epsilon(1e-12));
}

TEST_CASE("a progress hook runs on the thread that contracts, never on the others, and what it throws arrives") {
    const int before = omp_get_max_threads();
    omp_set_num_threads(3);
    struct shape {
        std::vector<index> extents;
        std::vector<ep::label_id> x, y, z;
    };
    // threads inside a product, threads over a batch, rows, long sums
    for (const shape& each :
         {shape{{300, 200, 260, 1}, {0, 1}, {1, 2}, {0, 2}}, shape{{70, 80, 90, 60}, {3, 0, 1}, {3, 1, 2}, {3, 0, 2}},
          shape{{2000, 3000, 1, 1}, {0, 1}, {1}, {0}}, shape{{16, 90000, 16, 1}, {0, 1}, {1, 2}, {0, 2}}}) {
        const auto dense = [&](const std::vector<ep::label_id>& labels, std::vector<index>& strides) {
            index size = 1;
            strides.assign(labels.size(), 1);
            for (std::size_t at = labels.size(); at-- > 0;) {
                strides[at] = size;
                size *= each.extents[static_cast<std::size_t>(labels[at])];
            }
            return std::vector<double>(static_cast<std::size_t>(size), 0.5);
        };
        std::vector<index> x_strides, y_strides, z_strides;
        const std::vector<double> x = dense(each.x, x_strides);
        const std::vector<double> y = dense(each.y, y_strides);
        std::vector<double> z = dense(each.z, z_strides);
        const std::vector<ep::strided_block> operands{{x.data(), each.x, x_strides}, {y.data(), each.y, y_strides}};
        const ep::testing::product_kernel<double> work(1, 2);
        const auto contract = [&](ep::progress_hook* hook) {
            work.contract({each.extents, operands, {z.data(), each.z, z_strides}, ep::write_mode::overwrite, hook});
            return z;
        };
        const std::vector<double> expected = contract(nullptr);
        const std::thread::id self = std::this_thread::get_id();
        int calls = 0;
        int elsewhere = 0;
        const auto count = [&] {
            ++calls;
            elsewhere += std::this_thread::get_id() == self ? 0 : 1;
            return false;
        };
        ep::progress_hook hook(count);
        CHECK(contract(&hook) == expected);
        CHECK(calls > 0);
        CHECK(elsewhere == 0);
        const auto throws = []() -> bool { throw std::runtime_error("hook"); };
        ep::progress_hook throwing(throws);
        CHECK_THROWS_AS(contract(&throwing), std::runtime_error);
        CHECK(contract(nullptr) == expected);
    }
    omp_set_num_threads(before);
}
