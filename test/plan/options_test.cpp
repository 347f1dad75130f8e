// What may be asked of the planner, and what it says to what may not.

#include "graphs.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/tensor_leaves.hpp>
#include <einparallel/notation/functions.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace options_test {

namespace {

using namespace einparallel;
using test::einsum;
using test::input;
using test::node;
using test::product;

void check_refused(const options& asked, const std::vector<node>& outputs, const std::string& sentence) {
    CHECK_THROWS_WITH_AS(static_cast<void>(decompose_vertices(asked, outputs)), sentence.c_str(), error);
}

}  // namespace

TEST_CASE("options that make no sense are refused with a sentence") {
    const node made = product(8, 8, 8);
    check_refused({.processes = 0}, {made}, "decompose: options.processes is 0, it must be between 1 and 1048576");
    check_refused({.processes = -3}, {made}, "decompose: options.processes is -3, it must be between 1 and 1048576");
    check_refused({.objective = static_cast<objective>(9)}, {made},
                  "decompose: options.objective is none of time, paper and bytes");
    check_refused({.algorithm = static_cast<algorithm>(9)}, {made},
                  "decompose: options.algorithm is none of automatic, c, mn, k and master_worker");
    check_refused({.method = static_cast<method>(9)}, {made},
                  "decompose: options.method is neither exact nor linearized");
    for (const double constant : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        options asked;
        asked.machine.seconds_per_byte = constant;
        check_refused(asked, {made}, "decompose: every constant of options.machine must be finite and not negative");
    }
}

TEST_CASE("graphs that cannot be planned are refused with a sentence") {
    check_refused({}, {}, "decompose: there is no output to plan for");
    check_refused({}, {nullptr}, "decompose: output 0 is a tensor that nothing was assigned to");
    const node poisoned = product(8, 8, 8);
    poisoned->failure = "einsum: label j has extent 8 in A and 9 in B";
    check_refused({}, {einsum("ij->i", {poisoned})}, "decompose: einsum: label j has extent 8 in A and 9 in B");
    poisoned->name = "overlap";
    check_refused({}, {poisoned}, "decompose: vertex 'overlap', einsum: label j has extent 8 in A and 9 in B");
    const node hole = einsum("ij->i", {input({2, 2})});
    hole->operands[0] = nullptr;
    check_refused({}, {hole}, "decompose: a vertex reads a tensor that nothing was assigned to");
    const node circle = einsum("ij->ji", {input({2, 2})});
    circle->operands[0] = circle;
    check_refused({}, {circle}, "decompose: the vertices of the graph depend on each other in a circle");
    circle->operands.clear();

    const node far = input({4, 4}, source_kind::root, 5);
    far->name = "A";
    check_refused({.processes = 4}, {einsum("ij->i", {far})},
                  "decompose: the elements of A are on rank 5, the plan is for 4 ranks");
    const node wide = test::resting_input({4, 4}, std::vector<box>(3, no_box(2)));
    check_refused({.processes = 2}, {einsum("ij->i", {wide})}, "decompose: v0 rests on 3 ranks, the plan is for 2");
}

TEST_CASE("partition names every label of the vertex") {
    const node made = product(64, 1, 64);
    const plan planned = decompose_vertices({.processes = 4, .objective = objective::paper}, {made});
    const std::vector<std::pair<std::string, int>> parts = planned.partition(*made);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].first == "i");
    CHECK(parts[1] == std::pair<std::string, int>{"j", 1});
    CHECK(parts[0].second * parts[2].second == 4);
    const node other = product(2, 2, 2);
    other->name = "other";
    CHECK_THROWS_WITH_AS(static_cast<void>(planned.partition(*other)),
                         "plan: other is not made by any vertex of this plan", error);
}

TEST_CASE("a forced algorithm cuts labels of its class only, on as many ranks as they allow") {
    const node batched = einsum("bij,bjk->bik", {input({6, 12, 12}), input({6, 12, 12})});
    for (const objective wanted : {objective::time, objective::paper, objective::bytes}) {
        for (const auto& [forced, expected] : std::vector<std::pair<algorithm, std::string>>{
                 {algorithm::c, "b"}, {algorithm::mn, "ik"}, {algorithm::k, "j"}}) {
            const plan planned =
                decompose_vertices({.processes = 6, .objective = wanted, .algorithm = forced}, {batched});
            const planned_vertex& vertex = planned.vertices().back();
            CHECK(vertex.algorithm == forced);
            CHECK(!vertex.fell_back);
            CHECK(vertex.work.ranks.size() == 6);
            for (const auto& [label, parts] : planned.partition(*batched)) {
                CHECK((parts == 1 || expected.find(label) != std::string::npos));
            }
        }
    }
    CHECK(
        decompose_vertices({.processes = 6, .algorithm = algorithm::k}, {batched}).vertices().back().work.travelling ==
        output_travels);
    CHECK(
        decompose_vertices({.processes = 6, .algorithm = algorithm::mn}, {batched}).vertices().back().work.travelling >=
        0);
}

TEST_CASE("where a forced algorithm has nothing to cut the vertex falls back and says so") {
    const node plain = product(12, 12, 12);
    plain->name = "P";
    const node sum = einsum("ij,ij->ij", {plain, input({12, 12})});  // not a contraction: planned as ever
    const plan planned =
        decompose_vertices({.processes = 4, .objective = objective::paper, .algorithm = algorithm::c}, {sum});
    CHECK(planned.vertices()[2].fell_back);
    CHECK(planned.vertices()[2].work.ranks.size() == 4);
    CHECK(!planned.vertices().back().fell_back);
    // On one rank there is nothing to fall back from.
    CHECK(!decompose_vertices({.processes = 1, .algorithm = algorithm::c}, {plain}).vertices()[2].fell_back);
    CHECK(!decompose_vertices({.processes = 4, .algorithm = algorithm::c}, {product(1, 1, 1)}).vertices()[2].fell_back);
}

TEST_CASE("under time small vertices stay on one rank, large ones use all") {
    CHECK(decompose_vertices({.processes = 8}, {product(4, 4, 4)}).vertices().back().work.ranks.size() == 1);
    CHECK(decompose_vertices({.processes = 8}, {product(2000, 2000, 2000)}).vertices().back().work.ranks.size() == 8);
    CHECK(decompose_vertices({.processes = 8, .objective = objective::bytes}, {product(4, 4, 4)})
              .vertices()
              .back()
              .work.ranks.size() == 8);
    // Seven ranks where the extents allow six at most.
    CHECK(decompose_vertices({.processes = 7, .objective = objective::bytes}, {product(3, 2, 1)})
              .vertices()
              .back()
              .work.ranks.size() == 6);
}

TEST_CASE("under bytes a product comes close to what is known to be the least") {
    // One large dimension: only the two small operands' product travels. Words = kn(p-1)/p per rank with p1 = p.
    const plan tall = decompose_vertices({.processes = 8, .objective = objective::bytes}, {product(8000, 100, 100)});
    CHECK(tall.partition(*tall.vertices().back().origin)[0].second == 8);
    CHECK(tall.bytes_sent() == 7 * 100 * 100 * 8);
    // A cube on eight ranks: 2 x 2 x 2, three faces of a quarter each for every rank, less what it has.
    const plan cube = decompose_vertices({.processes = 8, .objective = objective::bytes}, {product(64, 64, 64)});
    CHECK(cube.bytes_sent() == 3 * 64 * 64 * 8);
    for (const auto& [label, parts] : cube.partition(*cube.vertices().back().origin)) {
        CHECK(parts == 2);
    }
}

TEST_CASE("powers_of_two plans for the next power of two") {
    const plan planned = decompose_vertices({.processes = 5, .objective = objective::paper, .powers_of_two = true},
                                            {product(64, 64, 64)});
    CHECK(planned.processes() == 8);
    CHECK(planned.vertices().back().work.ranks.size() == 8);
}

TEST_CASE("the paper's linearisation keeps to a memory limit") {
    const node X = input({64, 64}, source_kind::placeholder);
    const node first = einsum("ij,jk->ik", {X, X});
    const node outputs = einsum("ij,jk->ik", {first, einsum("ij,kj->ik", {X, input({64, 64})})});
    for (const objective wanted : {objective::time, objective::bytes}) {
        options asked{.processes = 4, .objective = wanted, .method = method::linearized};
        const std::size_t peak = decompose_vertices(asked, {outputs}).peak_bytes(0);
        asked.memory_limit = peak * 9 / 10;
        CHECK(decompose_vertices(asked, {outputs}).peak_bytes(0) <= asked.memory_limit);
    }
}

TEST_CASE("a memory limit is kept, or the error says by whom it is not") {
    const node chain = einsum("ij,jk->ik", {product(240, 240, 240), input({240, 240})});
    for (const objective wanted : {objective::paper, objective::bytes, objective::time}) {
        const options asked{.processes = 4, .objective = wanted};
        const plan unlimited = decompose_vertices(asked, {chain});
        std::size_t peak = 0;
        for (int rank = 0; rank < 4; ++rank) {
            peak = std::max(peak, unlimited.peak_bytes(rank));
        }
        options limited = asked;
        limited.memory_limit = peak;
        CHECK(decompose_vertices(limited, {chain}).vertices() == unlimited.vertices());
        int kept = 0;
        for (std::size_t limit = peak - 64; limit > 0; limit = limit * 9 / 10) {
            limited.memory_limit = limit;
            try {
                const plan smaller = decompose_vertices(limited, {chain});
                CHECK(smaller.asked() == limited);
                for (int rank = 0; rank < 4; ++rank) {
                    REQUIRE(smaller.peak_bytes(rank) <= limit);
                }
                ++kept;
            } catch (const error& refused) {
                const std::string sentence = refused.what();
                CHECK(sentence.find(" bytes on a rank in the smallest plan found, other tensors that the rank holds "
                                    "meanwhile included; "
                                    "options.memory_limit is " +
                                    std::to_string(limit)) != std::string::npos);
                limited.memory_limit = std::stoull(sentence.substr(sentence.find(" needs ") + 7));
                CHECK_NOTHROW(static_cast<void>(decompose_vertices(limited, {chain})));  // what it needs is enough
                --limited.memory_limit;                                                  // and no search finds less
                try {
                    const plan other = decompose_vertices(limited, {chain});
                    CHECK(other.paging().which == paged_tensors::inputs);  // or only by parts of other sizes
                } catch (const error& again) {
                    CHECK(std::string(again.what()).find(" needs ") != std::string::npos);
                }
                CHECK(sentence.rfind("decompose: v", 0) == 0);
                break;
            }
        }
        MESSAGE("objective " << detail::name_for(wanted) << ": peak " << peak << ", smaller limits kept: " << kept);
    }
    const auto needs = [](const std::string& name, int needed) {
        return "decompose: " + name + " needs " + std::to_string(needed) +
               " bytes on a rank in the smallest plan found, other tensors that the rank holds meanwhile included; "
               "options.memory_limit is "
               "1; with options.paging tensors may wait in files";
    };
    const options tight{.processes = 2, .memory_limit = 1};
    check_refused(tight, {product(8, 8, 8)}, needs("v2", 640));
    const node both = input({8, 8});  // by operands that want the same blocks once
    check_refused(tight, {einsum("ij,ij->ij", {both, both})}, needs("v1", 320));
    check_refused(tight, {einsum("ij,ij->ij", {both, input({8, 8})})}, needs("v2", 384));
    const node bytes = product(1, 1, 1);  // each vertex alone fits any share of the limit, and buffers begin at lines
    for (const node& each : {bytes, bytes->operands[0], bytes->operands[1]}) {
        each->element = {'i', 1};
    }
    check_refused(
        {.memory_limit = 16}, {bytes},
        "decompose: v2 needs 129 bytes on a rank in the smallest plan found, other tensors that the rank "
        "holds meanwhile included; options.memory_limit is 16; with options.paging tensors may wait in files");
}

TEST_CASE("a limit below everything is refused, also where what is kept over runs depends on the limit") {
    EINPARALLEL_LABELS(b, s, t, d, e);
    const auto Q = placeholder<double>({3, 1, 2});
    const auto K = placeholder<double>({3, 1, 2});
    const auto V = placeholder<double>({3, 1, 2});
    const auto P = placeholder<int>({});
    tensor<double, 3> S;
    tensor<double, 3> E;
    tensor<double, 3> O;
    S(b, s, t) = where(iota(t) <= iota(s) + P(), sum(d, Q(b, s, d) * K(b, t, d)), -30.0);
    E(b, s, t) = exp(S(b, s, t) - max(t, S(b, s, t)));
    O(b, s, e) = sum(t, E(b, s, t) * V(b, t, e)) / sum(t, E(b, s, t));
    for (const std::size_t limit : {1, 129, 200}) {
        for (const std::size_t runs : {1, 3}) {
            CHECK_THROWS_AS(static_cast<void>(decompose({.memory_limit = limit, .runs = runs}, O)), error);
        }
    }
}

TEST_CASE("a callback sees the rounds of a search, and what it throws ends it") {
    const node chain = einsum("ij,jk->ik", {product(240, 240, 240), input({240, 240})});
    const plan silent = decompose_vertices({.processes = 12}, {chain});
    std::vector<search_progress> seen;
    const plan told = decompose_vertices(
        {.processes = 12, .on_progress = [&](const search_progress& now) { seen.push_back(now); }}, {chain});
    CHECK(told == silent);
    CHECK_FALSE(told.asked().on_progress);
    REQUIRE_FALSE(seen.empty());
    for (std::size_t round = 0; round < seen.size(); ++round) {
        CHECK(seen[round].round == round);
        CHECK(seen[round].effort == options{}.effort);
        CHECK(seen[round].bound <= seen[round].cost);
        CHECK((round == 0 || seen[round].spent > seen[round - 1].spent));
        CHECK((round == 0 || seen[round].cost <= seen[round - 1].cost));
    }
    CHECK(seen.back().cost == doctest::Approx(told.objective_cost()));
    struct enough {};
    CHECK_THROWS_AS(static_cast<void>(decompose_vertices(
                        {.processes = 12, .on_progress = [](const search_progress&) { throw enough(); }}, {chain})),
                    enough);
    CHECK(decompose_vertices({.processes = 12}, {chain}) == silent);
}

TEST_CASE("where an input lies decides how its reader is cut") {
    // Slabs of columns on four ranks: under bytes the sum over rows is cut along columns, and nothing moves.
    for (const bool columns : {true, false}) {
        std::vector<box> boxes;
        for (int rank = 0; rank < 4; ++rank) {
            boxes.push_back(whole_box({64, 64}));
            boxes.back().sides[columns ? 1 : 0] = block_of(64, 4, rank);
        }
        const node squared = einsum("ij,ij->ij", {test::resting_input({64, 64}, boxes), input({64, 64})});
        const plan planned = decompose_vertices({.processes = 4, .objective = objective::bytes}, {squared});
        CHECK(planned.partition(*squared)[columns ? 1 : 0].second == 4);
        CHECK(planned.bytes_sent() == 0);
    }
    // What one rank has stays there while sending it costs more than working on it alone.
    const node at_root = einsum("ij->ij", {input({300, 300}, source_kind::root, 0)});
    CHECK(decompose_vertices({.processes = 4}, {at_root}).vertices().back().work.ranks.size() == 1);
    const node anywhere = einsum("ij->ij", {input({3000, 3000})});
    CHECK(decompose_vertices({.processes = 4}, {anywhere}).vertices().back().work.ranks.size() == 4);
}

}  // namespace options_test
