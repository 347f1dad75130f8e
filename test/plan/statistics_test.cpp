// What the statistics of a plan say, counted in the ranks' programs.

#include "random_graph.hpp"

#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/statistics.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <variant>
#include <vector>

namespace figures_test {

namespace {

using namespace einparallel;
using test::einsum;
using test::input;
using test::node;

/// Bytes held in every step of a program, buffer by buffer: results throughout.
std::vector<std::size_t> held_in_steps(const program& of_rank) {
    std::vector<std::size_t> held;
    const std::vector<lifetime> alive = lifetimes_of(of_rank);
    for (std::size_t position = 0; position < of_rank.steps.size(); ++position) {
        std::size_t bytes = 0;
        for (std::size_t number = 0; number < alive.size(); ++number) {
            const bool is_there = of_rank.is_result(static_cast<buffer_id>(number)) ||
                                  (alive[number].first <= position && position <= alive[number].last);
            if (alive[number].named && is_there) {
                bytes += of_rank.buffers[number].bytes();
            }
        }
        held.push_back(bytes);
    }
    return held;
}

}  // namespace

TEST_CASE("the three kinds of bytes sum to what a vertex sends, and what is held to no more than the peak") {
    test::random_graphs random(21);
    for (int repetition = 0; repetition < 60; ++repetition) {
        CAPTURE(repetition);
        const int processes = random.between(1, 12);
        const std::vector<node> outputs =
            random.graph({.vertices = 6, .tree = false, .any_sources = true, .processes = processes});
        const plan made = decompose_vertices({.processes = processes, .objective = objective::bytes}, outputs);
        const std::vector<vertex_statistics> statistics = statistics_of(made).vertices;
        REQUIRE(statistics.size() == made.vertices().size());
        std::size_t most = 0;
        for (std::size_t number = 0; number < statistics.size(); ++number) {
            const vertex_statistics& each = statistics[number];
            CHECK(each.gathered_bytes + each.aggregated_bytes + each.repartitioned_bytes ==
                  made.vertices()[number].bytes);
            most = std::max(most, each.held_bytes);
        }
        CHECK(most <= made.peak_bytes(0));
    }
}

TEST_CASE("bytes held during a vertex are those of the buffers alive in its steps") {
    // Nothing lends: the k ring, whose chunks borrow from the output, is left out.
    const node a = input({24, 36});
    const node b = input({36, 12});
    const node ab = einsum("ij,jk->ik", {a, b});
    const node again = einsum("ik,jk->ij", {ab, b});
    const plan made =
        decompose_vertices({.processes = 6, .objective = objective::bytes, .algorithm = algorithm::mn}, {again});
    const program of_rank = made.program_of(0);
    const std::vector<std::size_t> held = held_in_steps(of_rank);
    const std::vector<vertex_statistics> statistics = statistics_of(made).vertices;
    std::size_t position = 0;
    for (std::size_t number = 0; number < made.vertices().size(); ++number) {
        if (made.vertices()[number].is_input()) {
            CHECK(statistics[number].held_bytes == 0);
            continue;
        }
        std::size_t last = position;  // the last step that computes the vertex
        for (std::size_t each = position; each < of_rank.steps.size(); ++each) {
            for (const action& done : of_rank.steps[each].work) {
                const auto* call = std::get_if<contraction>(&done);
                last = call != nullptr && call->vertex == number ? each : last;
            }
        }
        CHECK(statistics[number].held_bytes == *std::max_element(held.begin() + static_cast<std::ptrdiff_t>(position),
                                                                 held.begin() + static_cast<std::ptrdiff_t>(last) + 1));
        position = last + 1;
    }
}

TEST_CASE("gathered and aggregated by hand, and how far a contraction is from the least") {
    const node product = einsum("ij,jk->ik", {input({64, 64}), input({64, 64})});
    const plan made = decompose_vertices({.processes = 8, .objective = objective::bytes}, {product});
    const vertex_statistics statistics = statistics_of(made).vertices.back();
    // 2 × 2 × 2: each of three tensors once to one more rank than has it.
    CHECK(statistics.gathered_bytes == 2 * 64 * 64 * 8);
    CHECK(statistics.aggregated_bytes == 64 * 64 * 8);
    CHECK(statistics.repartitioned_bytes == 0);
    REQUIRE(statistics.least_bytes);
    CHECK(*statistics.least_bytes == doctest::Approx(8 * 1536));
    CHECK(*statistics.over_least(8) == doctest::Approx(1));
    const plan alone = decompose_vertices({.processes = 1}, {product});
    CHECK(statistics_of(alone).vertices.back().over_least(1) == 1);
    vertex_statistics needless;
    CHECK_FALSE(needless.over_least(4));
    needless.least_bytes = 0;
    needless.gathered_bytes = 8;
    CHECK(needless.over_least(4) == std::numeric_limits<double>::infinity());
    const plan joined = decompose_vertices({.processes = 4}, {einsum("ij,ij->ij", {input({8, 8}), input({8, 8})})});
    CHECK_FALSE(statistics_of(joined).vertices.back().least_bytes);
}

}  // namespace figures_test
