// Where the planner leaves sums pending, and where it must not: statements as they are recorded, bytes by hand.

#include "graphs.hpp"

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/offers.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace pending_test {

namespace {

namespace ep = einparallel;
using ep::index;
using ep::tensor;

EINPARALLEL_LABELS(i, j, k, l, m, h);

/// An input that every rank reads as it likes.
template <class T, std::size_t Rank>
tensor<T, Rank> read_by_all(std::vector<index> bounds) {
    const auto made = std::make_shared<ep::vertex>();
    made->bounds = std::move(bounds);
    made->element = ep::element_type_of<T>();
    made->origin = std::make_shared<test::paper_source>(ep::source_kind::everywhere);
    return tensor<T, Rank>(made);
}

std::size_t left_pending(const ep::plan& made) {
    return static_cast<std::size_t>(std::count_if(
        made.vertices().begin(), made.vertices().end(),
        [](const ep::planned_vertex& each) { return !each.is_input() && each.work.pending != ep::no_label; }));
}

ep::options sending_least(int processes) {
    return {.processes = processes, .objective = ep::objective::bytes};
}

/// Vertices that may leave their sum pending.
template <class... Tensor>
std::size_t offered(const Tensor&... outputs) {
    const ep::detail::einsum_graph graph = ep::detail::collect({outputs.node()...});
    const ep::detail::pending_offers offers = ep::detail::offers_of(graph, sending_least(4));
    return static_cast<std::size_t>(std::count(offers.leaves.begin(), offers.leaves.end(), true));
}

}  // namespace

TEST_CASE("row sums of a product with a long inner extent: the summands are summed up first") {
    const auto A = read_by_all<double, 2>({8, 4096});
    const auto B = read_by_all<double, 2>({4096, 64});
    tensor<double, 2> Z;
    tensor<double, 1> sums;
    tensor<double, 0> total;
    Z(i, k) = A(i, j) * B(j, k);
    Z.named("Z");
    sums(i) = ep::sum(k, Z(i, k));
    sums.named("sums");
    total() = ep::sum(sums(i));

    // Each of 4 ranks has a summand of Z; of the 8 sums every element goes to 3 ranks' reductions.
    const ep::plan rows = ep::decompose(sending_least(4), sums);
    CHECK(left_pending(rows) == 1);
    CHECK(rows.bytes_sent() == 3 * 8 * 8);
    CHECK(rows.lower_bound() == 3 * 8 * 8);
    std::size_t sent = 0;
    for (int rank = 0; rank < 4; ++rank) {
        sent += rows.bytes_sent(rank);
    }
    CHECK(sent == 3 * 8 * 8);
    const ep::planned_vertex& made = rows.vertices()[2];
    CHECK(made.work.form.text() == "ij,jk->+ik");
    CHECK(made.resting.bounds() == std::vector<index>{4, 8, 64});
    CHECK(rows.partition(Z) == std::vector<std::pair<std::string, int>>{{"i", 1}, {"j", 4}, {"k", 1}});
    CHECK(rows.partition(sums) == std::vector<std::pair<std::string, int>>{{"i", 1}, {"k", 1}});
    CHECK(rows.cost() > 0);

    // The total of the sums: pending twice over, one number is reduced.
    const ep::plan whole = ep::decompose(sending_least(4), total);
    CHECK(left_pending(whole) == 2);
    CHECK(whole.bytes_sent() == 3 * 8);
    // Whoever wants the sums as well has them finished, and then the total of pieces costs nothing but its own.
    const ep::plan both = ep::decompose(sending_least(4), total, sums);
    CHECK(left_pending(both) == 1);
    CHECK(both.bytes_sent() == 3 * 8 * 8 + 3 * 8);

    std::ostringstream table;
    table << rows;
    CHECK(table.str().find("ij,jk->+ik") != std::string::npos);
    CHECK(table.str().find("c, pending") != std::string::npos);
    CHECK(table.str().find("note: Z is left in 4 summands") != std::string::npos);
    const std::string json = rows.to_json();
    CHECK(json.find("\"summands_read\":1,\"summands_left\":4") != std::string::npos);
    CHECK(json.find("\"summands_read\":4,\"summands_left\":1") != std::string::npos);
    const std::vector<ep::axis_placements> along = ep::placements_of(rows.vertices()[3]);
    REQUIRE(along.size() == 1);
    CHECK(along[0].operands[0] == ep::placement::partial());
    CHECK(along[0].output == ep::placement::partial());
    CHECK(rows.to_dot().find("pending") != std::string::npos);

    const ep::plan again = ep::decompose(sending_least(4), sums);
    CHECK(again == rows);
    const ep::plan finished = ep::decompose(sending_least(4), sums, Z);
    CHECK(left_pending(finished) == 0);
    CHECK_FALSE(finished == rows);
}

TEST_CASE("a sum of three products over the same ranks is reduced once") {
    // dX = dQ Wq + dK Wk + dV Wv, the heads cut over the ranks.
    const auto dQ = read_by_all<float, 2>({16, 4096});
    const auto dK = read_by_all<float, 2>({16, 4096});
    const auto dV = read_by_all<float, 2>({16, 4096});
    const auto Wq = read_by_all<float, 2>({4096, 32});
    const auto Wk = read_by_all<float, 2>({4096, 32});
    const auto Wv = read_by_all<float, 2>({4096, 32});
    tensor<float, 2> dX;
    dX(i, k) = dQ(i, h) * Wq(h, k) + dK(i, h) * Wk(h, k) - dV(i, h) * Wv(h, k);
    for (const int processes : {2, 3, 4, 6}) {
        const ep::plan made = ep::decompose(sending_least(processes), dX);
        CHECK(left_pending(made) == 3);
        CHECK(made.bytes_sent() == static_cast<std::size_t>(processes - 1) * 16 * 32 * 4);
    }
    const ep::plan timed = ep::decompose({.processes = 4, .machine = {1e-9, 1e-9, 1e-12}}, dX);
    CHECK(left_pending(timed) == 3);
    // Many ranks: found near the plan that finishes every sum.
    const ep::plan large = ep::decompose(sending_least(512), dX);
    CHECK(left_pending(large) == 3);
    CHECK(large.lower_bound() <= static_cast<double>(large.bytes_sent()));
}

TEST_CASE("what may stay pending") {
    const auto A = read_by_all<double, 2>({8, 9});
    const auto B = read_by_all<double, 2>({9, 8});
    const auto v = read_by_all<double, 1>({8});
    const auto product = [&] {
        tensor<double, 2> Z;
        Z(i, k) = A(i, j) * B(j, k);
        return Z;
    };
    tensor<double, 1> made, other;
    tensor<double, 2> full;
    tensor<double, 0> trace;

    SUBCASE("a matrix-vector product, a trace, a mean") {
        const auto Z = product();
        made(i) = Z(i, k) * v(k);
        CHECK(offered(made) == 1);
        trace() = ep::sum(Z(i, i));
        CHECK(offered(made, trace) == 1);
        other(i) = ep::sum(k, Z(i, k)) / 8.0;
        CHECK(offered(made, trace, other) == 1);
    }
    SUBCASE("not an output") {
        const auto Z = product();
        made(i) = Z(i, k) * v(k);
        CHECK(offered(made, Z) == 0);
    }
    SUBCASE("not what is pinned, or marked at either end") {
        auto Z = product();
        made(i) = Z(i, k) * v(k);
        Z.pinned({{"i", 2}});
        CHECK(offered(made) == 0);
        auto Y = product();
        made(i) = Y(i, k) * v(k);
        made.without_communication();
        CHECK(offered(made) == 0);
        auto X = product();
        made(i) = X(i, k) * v(k);
        X.without_communication();
        CHECK(offered(made) == 0);
    }
    SUBCASE("not where a reader is not linear") {
        const auto Z = product();
        made(i) = ep::sum(k, ep::exp(Z(i, k)));
        CHECK(offered(made) == 0);
        made(i) = ep::sum(k, Z(i, k) * Z(i, k));
        CHECK(offered(made) == 0);
        made(i) = Z(i, k) * v(k);
        other(i) = ep::max(k, Z(i, k));
        CHECK(offered(made) == 1);
        CHECK(offered(made, other) == 0);
        made(i) = ep::sum(k, Z(i, k) + 1.0);
        CHECK(offered(made) == 0);
    }
    SUBCASE("not where no reader makes less of it, nor adds several up") {
        const auto Z = product();
        full(i, k) = Z(i, k) * v(k);
        CHECK(offered(full) == 0);
        const auto Y = product();
        full(i, k) = Z(i, k) - Y(k, i);
        CHECK(offered(full) == 2);
        full(i, k) = Z(i, k) + Y(i, k) + A(i, j) * B(j, k) + v(i);
        CHECK(offered(full) == 0);
        full(i, k) = Z(i, k) + Z(k, i);
        CHECK(offered(full) == 0);
    }
    SUBCASE("max of sums, and not under another sum") {
        tensor<double, 2> farthest;
        farthest(i, k) = ep::max(j, A(i, j) + B(j, k));
        made(i) = ep::max(k, farthest(i, k) + v(k));
        CHECK(offered(made) == 1);
        other(i) = ep::sum(k, farthest(i, k));
        CHECK(offered(other) == 0);
        other(i) = ep::max(k, product()(i, k));
        CHECK(offered(other) == 0);
    }
    SUBCASE("not under the paper's cost, nor where algorithms are asked for") {
        const auto Z = product();
        made(i) = Z(i, k) * v(k);
        for (const ep::options& asked : {ep::options{.processes = 4, .objective = ep::objective::paper},
                                         ep::options{.processes = 4, .algorithm = ep::algorithm::mn}}) {
            CHECK(std::ranges::count(ep::detail::offers_of(ep::detail::collect({made.node()}), asked).leaves, true) ==
                  0);
            CHECK(left_pending(ep::decompose(asked, made)) == 0);
        }
    }
}

TEST_CASE("a memory limit that summands do not keep to is kept without them") {
    const auto A = read_by_all<double, 2>({64, 256});
    const auto B = read_by_all<double, 2>({256, 64});
    tensor<double, 2> Z;
    tensor<double, 1> sums;
    Z(i, k) = A(i, j) * B(j, k);
    sums(i) = ep::sum(k, Z(i, k));
    const ep::plan free = ep::decompose(sending_least(4), sums);
    CHECK(left_pending(free) == 1);
    std::size_t limit = free.peak_bytes(0) - 1;
    ep::options asked = sending_least(4);
    asked.memory_limit = limit;
    const ep::plan kept = ep::decompose(asked, sums);
    for (int rank = 0; rank < 4; ++rank) {
        CHECK(kept.peak_bytes(rank) <= limit);
    }
    CHECK(kept.bytes_sent() > free.bytes_sent());
}

}  // namespace pending_test
