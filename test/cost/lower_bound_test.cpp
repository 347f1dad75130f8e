// How little a contraction can communicate: the bound, the grids, and the plans.

#include <plan/graphs.hpp>

#include <einparallel/cost/lower_bound.hpp>
#include <einparallel/plan/decompose.hpp>

#include <doctest/doctest.h>
#include <graphs/best_grid.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace lower_bound_test {

namespace {

using namespace einparallel;
using bench::best_grid;
using bench::grid_of;
using bench::integer_grid;
using test::einsum;
using test::input;
using test::node;

constexpr int rank_counts[] = {2, 3, 4, 6, 8, 12, 16, 36, 64};

/// min x + y + z over xyz ≥ F², where each projection of F of the m·n·k points has at least F / (the third extent)
/// elements: the problem that the bound is the solution of, searched on a grid of ever smaller boxes.
double least_touched(double m, double n, double k, double p) {
    const double points = m * n * k / p;
    const double least_x = points / n;
    const double least_y = points / m;
    const double least_z = points / k;
    double center_x = 0;
    double center_y = 0;
    double width = 12;
    double best = std::numeric_limits<double>::infinity();
    for (int zoom = 0; zoom < 40; ++zoom) {
        double next_x = center_x;
        double next_y = center_y;
        for (int a = -20; a <= 20; ++a) {
            for (int b = -20; b <= 20; ++b) {
                const double log_x = std::max(0.0, center_x + width * a / 20);
                const double log_y = std::max(0.0, center_y + width * b / 20);
                const double x = least_x * std::exp(log_x);
                const double y = least_y * std::exp(log_y);
                const double z = std::max(least_z, points / x * points / y);
                if (x + y + z < best) {
                    best = x + y + z;
                    next_x = log_x;
                    next_y = log_y;
                }
            }
        }
        center_x = next_x;
        center_y = next_y;
        width *= 0.6;
    }
    return best;
}

double bytes_of_busiest(const plan& made) {
    std::size_t most = 0;
    for (int rank = 0; rank < made.processes(); ++rank) {
        most = std::max(most, made.bytes_sent(rank));
    }
    return static_cast<double>(most);
}

}  // namespace

TEST_CASE("the bound is the least that the projections of a rank's multiplications allow") {
    const std::vector<contraction_shape> shapes{{1, 64, 64, 64},  {1, 4096, 8, 8},  {1, 8, 4096, 8},  {1, 8, 8, 4096},
                                                {1, 512, 512, 8}, {1, 512, 8, 512}, {1, 300, 70, 11}, {1, 96, 48, 96}};
    for (const contraction_shape& shape : shapes) {
        for (const int p : {2, 3, 8, 64, 500}) {
            CAPTURE(shape.m);
            CAPTURE(shape.n);
            CAPTURE(shape.k);
            CAPTURE(p);
            const auto m = static_cast<double>(shape.m);
            const auto n = static_cast<double>(shape.n);
            const auto k = static_cast<double>(shape.k);
            const double own = (m * n + m * k + n * k) / p;
            CHECK(lower_bound_words(shape, p) + own == doctest::Approx(least_touched(m, n, k, p)).epsilon(1e-6));
        }
    }
}

TEST_CASE("the bound by hand: the three cases, one rank, empty") {
    CHECK(lower_bound_words({1, 64, 64, 64}, 8) == doctest::Approx(3 * 1024 - 3 * 512));    // 2 × 2 × 2
    CHECK(lower_bound_words({1, 64, 16, 4}, 4) == doctest::Approx(16 * 4 - 16.0 * 4 / 4));  // only Y moves
    CHECK(lower_bound_words({1, 64, 64, 4}, 4) ==
          doctest::Approx(2 * std::sqrt(64.0 * 64 * 16 / 4) + 1024 - (4096 + 512) / 4.0));
    CHECK(lower_bound_words({1, 64, 64, 64}, 1) == 0);
    CHECK(lower_bound_words({1, 64, 0, 64}, 8) == 0);
    CHECK(lower_bound_words({0, 64, 64, 64}, 8) == 0);
}

TEST_CASE("batches: whole ones cost nothing, and no split over batches beats the bound") {
    CHECK(lower_bound_words({8, 64, 64, 64}, 4) == 0);
    CHECK(lower_bound_words({8, 64, 64, 64}, 8) == 0);
    CHECK(lower_bound_words({8, 64, 64, 64}, 64) == doctest::Approx(lower_bound_words({1, 64, 64, 64}, 8)));
    // A rank's share put into two batches, however it is split, touches no fewer elements.
    for (const contraction_shape& shape : {contraction_shape{2, 40, 24, 8}, {2, 640, 8, 8}, {2, 32, 32, 32}}) {
        for (const int p : {3, 5, 16}) {
            const auto m = static_cast<double>(shape.m);
            const auto n = static_cast<double>(shape.n);
            const auto k = static_cast<double>(shape.k);
            const double own = 2.0 / p * (m * n + m * k + n * k);
            for (int tenths = 1; tenths < 10; ++tenths) {
                const double touched = least_touched(m, n, k, p / 2.0 / (tenths * 0.1)) +
                                       least_touched(m, n, k, p / 2.0 / (1 - tenths * 0.1));
                CHECK(lower_bound_words(shape, p) <= touched - own + 1e-3);
            }
        }
    }
}

TEST_CASE("shapes of einsums: classes fused, batches apart, nothing for what is no contraction") {
    const node a = input({3, 5, 7, 2});
    const node b = input({3, 7, 2, 11});
    const node abc = einsum("bikl,bkln->bin", {a, b});
    const std::optional<contraction_shape> shape = contraction_shape_of(abc->form, abc->extents);
    REQUIRE(shape);
    CHECK(*shape == contraction_shape{3, 5, 11, 14});
    const node diagonal = einsum("iij,jk->ik", {input({5, 5, 7}), input({7, 11})});
    CHECK_FALSE(contraction_shape_of(diagonal->form, diagonal->extents));
    const node one_sided = einsum("ijs,jk->ik", {input({5, 7, 2}), input({7, 11})});
    CHECK_FALSE(contraction_shape_of(one_sided->form, one_sided->extents));
    const node unit = einsum("ijs,jk->ik", {input({5, 7, 1}), input({7, 11})});
    CHECK(contraction_shape_of(unit->form, unit->extents) == contraction_shape{1, 5, 11, 7});
    const node unary = einsum("ij->i", {input({5, 7})});
    CHECK_FALSE(contraction_shape_of(unary->form, unary->extents));
}

TEST_CASE("no grid beats the bound, and ideal grids attain it") {
    for (const contraction_shape& shape : {contraction_shape{1, 48, 48, 48},
                                           {1, 480, 24, 12},
                                           {1, 7, 100, 13},
                                           {5, 20, 6, 9},
                                           {36, 4, 4, 4},
                                           {2, 3, 1, 3}}) {
        for (const int p : rank_counts) {
            CAPTURE(p);
            const integer_grid best = best_grid(shape, p);
            CHECK(best.size() <= p);
            const bool even = best.size() == p && shape.c % best.c == 0 && shape.m % best.m == 0 &&
                              shape.n % best.n == 0 && shape.k % best.k == 0;
            CHECK(best.words * (1 + 1e-12) >= (even ? lower_bound_words(shape, p) : 0));
            CHECK(best.words == grid_of(shape, best.c, best.m, best.n, best.k).words);
            CHECK(best.total_words <= p * best.words * (1 + 1e-12));
        }
    }
    CHECK(best_grid({1, 64, 64, 64}, 64).words == doctest::Approx(lower_bound_words({1, 64, 64, 64}, 64)));
    CHECK(best_grid({1, 4096, 64, 64}, 64).words == doctest::Approx(lower_bound_words({1, 4096, 64, 64}, 64)));
    CHECK(best_grid({1, 64, 64, 4}, 16).words == doctest::Approx(lower_bound_words({1, 64, 64, 4}, 16)));
    CHECK(best_grid({1, 2, 2, 1}, 64).size() == 4);
}

TEST_CASE("plans for the fewest bytes send per rank what the best grid sends") {
    const std::vector<contraction_shape> shapes{{1, 576, 576, 576},   {1, 9216, 9216, 576},  {1, 9216, 576, 9216},
                                                {1, 576, 9216, 9216}, {1, 576, 576, 73728},  {1, 73728, 576, 576},
                                                {1, 576, 73728, 576}, {1, 9216, 4608, 2304}, {4, 4608, 4608, 1152}};
    for (const contraction_shape& shape : shapes) {
        for (const int p : rank_counts) {
            CAPTURE(shape.m);
            CAPTURE(shape.n);
            CAPTURE(shape.k);
            CAPTURE(p);
            const node product =
                einsum("bij,bjk->bik", {input({shape.c, shape.m, shape.k}), input({shape.c, shape.k, shape.n})});
            const plan made = decompose_vertices({.processes = p, .objective = objective::bytes}, {product});
            // Of the numbers of ranks that compete, each cut as is best.
            double least = std::numeric_limits<double>::infinity();
            for (int ranks = p - p / 10; ranks <= p; ++ranks) {
                least = std::min(least, best_grid(shape, ranks).total_words);
            }
            CHECK(static_cast<double>(made.bytes_sent()) <= 8 * least * (1 + 1e-9));
            const integer_grid even = best_grid(shape, made.vertices().back().work.ranks.size());
            CHECK(bytes_of_busiest(made) <= 8 * even.words * (1 + 1e-2));
        }
    }
}

TEST_CASE("plans for the fewest bytes move no more in all than any grid where extents do not divide") {
    for (const contraction_shape& shape : {contraction_shape{1, 101, 37, 53}, {1, 7, 1000, 3}, {3, 11, 5, 400}}) {
        for (const int p : {3, 7, 12, 20}) {
            CAPTURE(shape.m);
            CAPTURE(p);
            const node product =
                einsum("bij,bjk->bik", {input({shape.c, shape.m, shape.k}), input({shape.c, shape.k, shape.n})});
            const plan made = decompose_vertices({.processes = p, .objective = objective::bytes}, {product});
            double least = std::numeric_limits<double>::infinity();
            for (int ranks = p - p / 10; ranks <= p; ++ranks) {  // that compete
                for (int c = 1; c <= ranks; ++c) {
                    for (int m = 1; m <= ranks; ++m) {
                        for (int n = 1; n <= ranks; ++n) {
                            const int k = ranks / (c * m * n);
                            if (c * m * n * k == ranks && c <= shape.c && m <= shape.m && n <= shape.n &&
                                k <= shape.k) {
                                least = std::min(least, grid_of(shape, c, m, n, k).total_words);
                            }
                        }
                    }
                }
            }
            CHECK(static_cast<double>(made.bytes_sent()) == 8 * least);
        }
    }
}

}  // namespace lower_bound_test
