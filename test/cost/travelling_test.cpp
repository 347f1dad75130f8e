// What goes round a ring, and where nothing does because a ring would not pay.

#include <plan/graphs.hpp>

#include <einparallel/cost/memory.hpp>
#include <einparallel/cost/traffic.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/make_task.hpp>

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace travelling_test {

namespace {

using namespace einparallel;
using test::node;
using test::product;

einsum_form matrix_form() {
    return product(2, 2, 2)->form;
}

task matrix_task(index m, index k, index n, std::vector<mesh_axis> axes) {
    const einsum_form form = matrix_form();
    std::vector<index> extents(3);
    extents[static_cast<std::size_t>(form.operands[0][0])] = m;
    extents[static_cast<std::size_t>(form.operands[0][1])] = k;
    extents[static_cast<std::size_t>(form.operands[1][1])] = n;
    return testing::make_task(form, extents, {8, 8}, 8, mesh{std::move(axes)});
}

}  // namespace

TEST_CASE("what travels is what takes the fewest seconds of all that could") {
    std::mt19937 random(5);
    const auto below = [&](unsigned bound) { return static_cast<index>(random() % bound); };
    int rings = 0;
    int none = 0;
    for (int repetition = 0; repetition < 2000; ++repetition) {
        const auto side = [&] { return index{1} << (below(14)); };
        std::vector<mesh_axis> axes;
        for (const label_id label : {label_id{0}, label_id{1}, label_id{2}}) {
            if (const int parts = 1 << below(3); parts > 1) {
                axes.push_back({label, parts});
            }
        }
        task work = matrix_task(side(), side(), side(), axes);
        options asked;
        asked.machine.exposed = 0.1 * static_cast<double>(below(11));
        asked.machine.seconds_per_byte = 1e-11 * static_cast<double>(1 + below(100));
        const int usual = choose_travelling(work);
        detail::choose_best_travelling(work, algorithm::automatic, 2, asked.machine, asked.objective,
                                       asked.memory_limit);
        const int chosen = work.travelling;
        rings += chosen != nothing_travels ? 1 : 0;
        none += chosen == nothing_travels && usual != nothing_travels ? 1 : 0;
        const double seconds = detail::task_seconds(work, 2, asked.machine);
        for (const int other : {nothing_travels, output_travels, 0, 1}) {
            work.travelling = other;
            const bool shared = other < 0 || work.operands[static_cast<std::size_t>(other)].replication() > 1;
            const bool fills = other == output_travels ? k_ring_suits(work)
                               : other < 0             ? true
                                           : detail::fills_ring(work.operands[static_cast<std::size_t>(other)], 1);
            if (shared && fills) {
                CHECK(seconds <= detail::task_seconds(work, 2, asked.machine));
            }
        }
        // Asked for an algorithm, or for bytes: as ever. Under a limit of memory nothing that needs more.
        for (const algorithm wanted : {algorithm::c, algorithm::mn, algorithm::k}) {
            detail::choose_best_travelling(work, wanted, 2, asked.machine, asked.objective, asked.memory_limit);
            const int forced = work.travelling;
            CHECK(forced == choose_travelling(work, wanted));
        }
        asked.memory_limit = 1;
        detail::choose_best_travelling(work, algorithm::automatic, 2, asked.machine, asked.objective,
                                       asked.memory_limit);
        const double memory = detail::task_memory(work);
        work.travelling = usual;
        CHECK(memory <= detail::task_memory(work));
        asked = {};
        asked.objective = objective::bytes;
        detail::choose_best_travelling(work, algorithm::automatic, 2, asked.machine, asked.objective,
                                       asked.memory_limit);
        CHECK(work.travelling == usual);
    }
    CHECK(rings > 100);
    CHECK(none > 100);
}

TEST_CASE("rings where they hide what is large, and nowhere else") {
    const auto travelling = [](const task& of) {
        task work = of;
        detail::choose_best_travelling(work, algorithm::automatic, 2, machine(), objective::time, 0);
        return work.travelling;
    };
    const einsum_form form = matrix_form();
    const label_id i = form.operands[0][0];
    const label_id j = form.operands[0][1];
    // an output of 2 MB after 17 GFlop: a ring would pack 134 MB again for each of its halves
    CHECK(travelling(matrix_task(512, 65536, 512, {{j, 2}})) == nothing_travels);
    // an output of 512 MB after a short sum: reducing it first or last would take as long as the arithmetic
    CHECK(travelling(matrix_task(8192, 1024, 8192, {{j, 4}})) == output_travels);
    // half of an operand of 128 MB, hidden behind the arithmetic
    CHECK(travelling(matrix_task(4096, 4096, 4096, {{i, 2}})) == 1);
    // tiny steps cost more than a message that nothing hides
    CHECK(travelling(matrix_task(64, 8, 8, {{i, 4}})) == nothing_travels);
}

TEST_CASE("automatic plans are no slower than forced ones, by the model; small products stay on one rank") {
    for (const int ranks : {2, 3, 4, 12}) {
        for (const index side : {1, 8, 32, 48, 100, 500, 3000}) {
            for (const node& made : {product(side, side, side), product(4 * side, side, 2 * side)}) {
                const double automatic = decompose_vertices({.processes = ranks}, {made}).seconds();
                for (const algorithm forced : {algorithm::mn, algorithm::k}) {
                    CHECK(automatic <=
                          decompose_vertices({.processes = ranks, .algorithm = forced}, {made}).seconds() * (1 + 1e-9));
                }
            }
        }
        CHECK(decompose_vertices({.processes = ranks}, {product(48, 48, 48)}).vertices().back().work.ranks.size() == 1);
        CHECK(decompose_vertices({.processes = ranks}, {product(512, 512, 512)}).vertices().back().work.ranks.size() ==
              ranks);
    }
}

}  // namespace travelling_test
