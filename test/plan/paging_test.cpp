// Programs that hold less than they need at once: the same numbers as with everything in memory, within the limit.

#include "played_plan.hpp"

#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/paging.hpp>

#include <support/check_programs.hpp>
#include <support/long_suite.hpp>
#include <support/play.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using namespace einparallel;
using namespace einparallel::testing;
using test::node;

struct figures {
    int programs = 0;
    int paged = 0;
    int fit = 0;
    int evict = 0;
    int in_tiles = 0;
    int overlapped = 0;
};

/// The most bytes that one step names.
std::size_t largest_step(const program& of_rank) {
    std::size_t most = 0;
    for (const step& each : of_rank.steps) {
        std::vector<buffer_id> named;
        std::size_t bytes = 0;
        detail::for_each_access(each, [&](buffer_id number, bool) {
            if (std::ranges::find(named, number) == named.end()) {
                named.push_back(number);
                bytes += detail::aligned(of_rank[number].bytes());
            }
        });
        most = std::max(most, bytes);
    }
    return most;
}

void check_paged(const plan& made, test::random_graphs& random, figures& seen) {
    const std::vector<whole_tensor> values = evaluate_all(made, random);
    for (const whole_tensor& each : values) {  // beyond 2^53 sums are rounded
        if (std::ranges::any_of(each.elements, [](double element) { return std::abs(element) > 9e15; })) {
            return;
        }
    }
    const std::vector<played_vertex> vertices = played_vertices(made, values);
    std::vector<program> programs;
    for (int rank = 0; rank < made.processes(); ++rank) {
        programs.push_back(made.program_of(rank));
        program& mine = programs.back();
        const std::size_t before = room_of(mine).peak();
        const std::size_t results = room_of(mine).results;
        const std::size_t least = std::min(before, results + (random.one_in(2) ? largest_step(mine) : 600));
        detail::paging_rule rule{.limit = least + static_cast<std::size_t>(random.between(0, 10)) *
                                                      (before - least) / 10,
                                 .seconds_per_flop = 1e-9,
                                 .seconds_per_byte = random.one_in(3) ? 1e-7 : 1e-10};
        const std::size_t buffers = mine.buffers.size();
        detail::page(mine, rule);
        ++seen.programs;
        const std::size_t after = room_of(mine).peak();
        CHECK(after <= std::max(before, rule.limit));
        seen.fit += after <= rule.limit ? 1 : 0;
        seen.paged += mine.stored.empty() ? 0 : 1;
        bool evicts = false, overlaps = false;
        for (const step& each : mine.steps) {
            for (const page_move& moved : each.pages) {
                evicts = evicts || moved.evicts;
                overlaps = overlaps || !each.work.empty() || moved.until > 0;
            }
        }
        seen.evict += evicts ? 1 : 0;
        seen.overlapped += overlaps ? 1 : 0;
        seen.in_tiles += mine.buffers.size() > buffers + 4 ? 1 : 0;
    }
    REQUIRE(check_programs(programs, [&](std::size_t vertex) -> const einsum_form& { return vertices[vertex].form; }) ==
            "");
    for (const bool in_arena : {false, true}) {
        std::vector<played_memory> memories = play(programs, vertices, in_arena);
        for (std::size_t output = 0; output < made.outputs().size(); ++output) {
            const planned_vertex& each = made.vertices()[made.outputs()[output]];
            const whole_tensor& expected = values[made.outputs()[output]];
            for (std::size_t rank = 0; rank < programs.size(); ++rank) {
                const box held = each.resting.held_by(static_cast<int>(rank));
                const std::vector<double> mine = memories[rank].pack(programs[rank].results[output], held);
                std::size_t next = 0;
                bool equal = true;
                for_each_point(held, [&](const std::vector<index>& point) {
                    equal = equal && mine[next++] == expected.elements[expected.offset(point)];
                });
                REQUIRE(equal);
            }
        }
    }
}

}  // namespace

TEST_CASE("programs that page compute what they compute with everything in memory, within their limits") {
    test::random_graphs random(660);
    figures seen;
    constexpr int processes[] = {1, 2, 1, 3, 4};
    const int graphs = tried_cases(8000);
    for (int trial = 0; trial < graphs; ++trial) {
        const options asked{.processes = processes[trial % 5],
                            .objective = static_cast<objective>(trial / 5 % 3),
                            .algorithm = static_cast<algorithm>(trial % 5),
                            .effort = 100'000};
        const std::vector<node> outputs = random.graph({.vertices = random.between(2, 10),
                                                        .labels = 4,
                                                        .tree = trial % 2 == 0,
                                                        .any_sources = trial % 3 == 0,
                                                        .empty_extents = trial % 6 == 0,
                                                        .processes = asked.processes,
                                                        .sums = trial % 4 == 0,
                                                        .lengths = {1, 2, 3, 5, 8, 9, 12},
                                                        .elements = 3000});
        if (outputs.empty()) {
            continue;
        }
        const plan made = decompose_vertices(asked, outputs);
        INFO("trial " << trial << "\n" << made);
        check_paged(made, random, seen);
    }
    MESSAGE(seen.programs << " programs, " << seen.paged << " page, " << seen.fit << " fit, " << seen.evict
                          << " evict, " << seen.in_tiles << " in tiles, " << seen.overlapped << " overlapped");
    CHECK(seen.paged > graphs / 4);
}
