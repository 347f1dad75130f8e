// Several vertices in one program: each on its own mesh, with redistribution between them, in one arena.

#include "random_task.hpp"
#include "whole_tensor.hpp"

#include <einparallel/schedule/redistribute.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/check_programs.hpp>
#include <support/make_task.hpp>
#include <support/play.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace einparallel;
using namespace einparallel::testing;

/// A vertex of the chain with any mesh of at most 12 ranks, any cuts, anything travelling.
task any_task_of(const einsum_form& form, const std::vector<index>& extents, random_tasks& random) {
    const mesh ranks = random.ranks(form.label_count());
    task_cuts cuts = choose_cuts(form, extents, ranks);
    if (random.one_in(2)) {
        for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
            cuts.operands[operand] = random.any_cut(form.operands[operand]);
        }
        cuts.output = random.any_cut(form.output);
    }
    return make_task(form, extents, std::vector<std::size_t>(form.operands.size(), 8), 8, ranks, cuts,
                     random.between(nothing_travels, static_cast<int>(form.operands.size()) - 1));
}

}  // namespace

TEST_CASE("a chain of vertices, the same tensor twice in one of them, a scalar at the end") {
    random_tasks random(3);
    // C = A B, D = C C^T, s = sum(D): read A and B are vertices 0 and 1.
    const einsum_form product{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    const einsum_form square{{"i", "j", "k"}, {{0, 1}, {2, 1}}, {0, 2}};
    const einsum_form sum{{"i", "j"}, {{0, 1}}, {}};
    const loop_kernel loops(played_operators::sum_of_products);
    std::size_t freed = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const index rows = random.between(1, 9);
        const index inner = random.between(0, 9);
        const index columns = random.between(1, 9);
        const task first = any_task_of(product, {rows, inner, columns}, random);
        const task second = any_task_of(square, {rows, columns, rows}, random);
        const task third = any_task_of(sum, {rows, rows}, random);
        const whole_tensor a = random_tensor({rows, inner}, random);
        const whole_tensor b = random_tensor({inner, columns}, random);
        const whole_tensor c = reference(first, {a, b}, played_operators::sum_of_products);
        const whole_tensor d = reference(second, {c, c}, played_operators::sum_of_products);
        const whole_tensor s = reference(third, {d}, played_operators::sum_of_products);
        const std::vector<played_vertex> vertices{{{}, nullptr, reader_of(a)},
                                                  {{}, nullptr, reader_of(b)},
                                                  {product, &loops, {}},
                                                  {square, &loops, {}},
                                                  {sum, &loops, {}}};
        const int world = std::max({first.ranks.size(), second.ranks.size(), third.ranks.size()});
        std::vector<program> programs;
        for (int rank = 0; rank < world; ++rank) {
            program mine;
            std::vector<buffer_id> operands;
            for (std::size_t operand = 0; operand < 2; ++operand) {
                operands.push_back(mine.add_buffer(first.operands[operand].held_by(rank), 8));
                if (!first.operands[operand].held_by(rank).empty()) {
                    mine.steps.push_back({operand, {}, {}, {read_source{operand, operands[operand]}}});
                }
            }
            std::size_t phase = 2;
            const auto redistribute = [&](const distribution& from, const distribution& to, buffer_id resting) {
                return schedule_redistribution(mine, from, to, rank, resting, phase++);
            };
            const auto run = [&](std::size_t vertex, const task& work, const std::vector<buffer_id>& from) {
                const buffer_id made = schedule_vertex(mine, vertex, work, rank, from, phase);
                phase += phases_apart;
                return made;
            };
            const buffer_id product_made = run(2, first, operands);
            const buffer_id left = redistribute(first.output, second.operands[0], product_made);
            const buffer_id right = redistribute(first.output, second.operands[1], product_made);
            const buffer_id square_made = run(3, second, {left, right});
            mine.results = {run(4, third, {redistribute(second.output, third.operands[0], square_made)})};
            programs.push_back(std::move(mine));
        }
        REQUIRE(check_programs(programs,
                               [&](std::size_t vertex) -> const einsum_form& { return vertices[vertex].form; }) == "");
        std::vector<played_memory> apart = play(programs, vertices, false);
        REQUIRE(results_agree(third.output, programs, apart, s));
        std::vector<played_memory> together = play(programs, vertices, true);
        REQUIRE(results_agree(third.output, programs, together, s));
        for (const program& each : programs) {
            std::size_t all = 0;
            for (const buffer& part : each.buffers) {
                all += (part.bytes() + 63) / 64 * 64;
            }
            freed += plan_arena(each).bytes < all ? 1 : 0;
        }
    }
    CHECK(freed > 400);
}
