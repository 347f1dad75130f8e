// How calls are computed is decided before a plan's first run, and again where what it depends on has changed.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <support/graphs.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace decisions_test {

namespace ep = einparallel;
using ep::index;

namespace {

EINPARALLEL_LABELS(i, j, k);

constexpr index side = 24;

/// A product and a join of it, in every layout of what is bound.
struct chain {
    ep::tensor<double, 2> A = ep::placeholder<double>({side, side});
    ep::tensor<double, 2> B = ep::placeholder<double>({side, side});
    ep::tensor<double, 2> product, made;
    std::vector<double> a, b;
    ep::plan plan;

    explicit chain(const ep::context& world) : a(side * side + 1), b(side * side + 1) {
        product(i, k) = A(i, j) * B(j, k);
        made(i, k) = abs(product(i, k) - A(i, k));
        plan = ep::decompose({.processes = world.size(), .algorithm = ep::algorithm::mn}, made);
        for (std::size_t at = 0; at < a.size(); ++at) {
            a[at] = double(at % 7) - 3;
            b[at] = double(at % 5) - 2;
        }
    }

    /// Runs it with B `first` elements from its memory's start and these strides; returns how many decisions that took.
    std::uint64_t run(ep::context& world, index first = 0, index down = side, index across = 1) {
        const double* const from = b.data() + first;
        const std::uint64_t before = ep::detail::decisions_made();
        const ep::results results =
            plan.run(world, ep::bind(A, ep::view<const double, 2>(a.data(), {side, side}, {side, 1})),
                     ep::bind(B, ep::view<const double, 2>(from, {side, side}, {down, across})));
        const std::uint64_t decided = ep::detail::decisions_made() - before;
        const ep::array<double, 2> found = results.get(made).allgather();
        int wrong = 0;
        for (index row = 0; row < side; ++row) {
            for (index column = 0; column < side; ++column) {
                double sum = -a[std::size_t(row * side + column)];
                for (index at = 0; at < side; ++at) {
                    sum += a[std::size_t(row * side + at)] * from[at * down + column * across];
                }
                wrong += found(row, column) == std::abs(sum) ? 0 : 1;
            }
        }
        CHECK(wrong == 0);
        return decided;
    }
};

}  // namespace

TEST_CASE("later runs decide nothing, until strides or who computes products change") {
    ep::context world(MPI_COMM_WORLD);
    chain all(world);
    const std::uint64_t first = all.run(world);
    CHECK(first > 0);
    for (int run = 0; run < 3; ++run) {
        CHECK(all.run(world) == 0);
    }
    CHECK(all.run(world, 1) == 0);  // another place, and alignment: a decision holds wherever blocks are
    CHECK(all.run(world, 0, 1, side) == first);
    CHECK(all.run(world, 0, 1, side) == 0);
    CHECK(all.run(world) == first);

    const ep::gemm_choice before = ep::detail::chosen_gemm().load();
    ep::use_gemm(before == ep::gemm_choice::own ? ep::gemm_choice::automatic : ep::gemm_choice::own);
    CHECK(all.run(world) == first);
    CHECK(all.run(world) == 0);
    ep::use_gemm(before);
    CHECK(all.run(world) == first);

    static_cast<void>(world.calibrate(1e-3));
    CHECK(all.run(world) == (ep::detail::chosen_gemm().load() == before ? 0 : first));
    CHECK(all.run(world) == 0);
}

TEST_CASE("data that select other elements are read in every run") {
    ep::context world(MPI_COMM_WORLD);
    const ep::array<double, 2> W = [] {
        ep::array<double, 2> made({9, 4});
        for (index at = 0; at < made.size(); ++at) {
            made.data()[at] = double(at);
        }
        return made;
    }();
    const ep::tensor<double, 2> table =
        ep::generate<double>({9, 4}, [W](index row, index column) { return W(row, column); });
    const ep::tensor<int, 1> token = ep::placeholder<int>({5});
    ep::tensor<double, 2> rows, twice;
    rows(i, j) = table(token(i), j);
    twice(i, k) = rows(i, j) * table(k, j);
    const ep::plan plan = ep::decompose({.processes = world.size()}, twice);
    std::uint64_t decided = 0;
    for (int run = 0; run < 3; ++run) {
        ep::array<int, 1> tokens({5});
        for (index at = 0; at < 5; ++at) {
            tokens(at) = run == 1 ? 3 : int((at * (run + 2)) % 9);  // one row again and again, or others
        }
        const std::uint64_t before = ep::detail::decisions_made();
        const ep::results results = plan.run(world, ep::bind(token, tokens));
        decided = ep::detail::decisions_made() - before;
        const ep::array<double, 2> found = results.get(twice).allgather();
        int wrong = 0;
        for (index row = 0; row < 5; ++row) {
            for (index column = 0; column < 9; ++column) {
                double sum = 0;
                for (index at = 0; at < 4; ++at) {
                    sum += W(tokens(row), at) * W(column, at);
                }
                wrong += found(row, column) == sum ? 0 : 1;
            }
        }
        CHECK(wrong == 0);
        CHECK((run == 0 || decided == 0));
    }
}

}  // namespace decisions_test
