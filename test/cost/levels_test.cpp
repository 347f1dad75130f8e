// Machines with levels: schedules that go round nodes, and the bytes that leave nodes, counted message by message.

#include <cost/counted_traffic.hpp>
#include <schedule/played_task.hpp>

#include <einparallel/cost/places.hpp>
#include <einparallel/cost/traffic.hpp>

#include <support/counted_beyond.hpp>
#include <support/random_levels.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace levels_test {

using namespace einparallel;
using namespace einparallel::testing;

TEST_CASE("on any levels a schedule gives what scalar loops give, and leaves groups as often as predicted") {
    random_tasks random(3);
    test::random_machines machines(4);
    int played = 0;
    int staged = 0;
    int mixed = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        task work = random.any_task();
        const played_task values(work, random);
        const int size = work.ranks.size();
        const int world = size + (random.one_in(3) ? random.between(1, 6) : 0);
        const machine on = machines.any(world, trial % 3 == 0);
        const detail::wired_machine wired(on);
        const rank_groups& groups = wired.groups();
        for (int travelling = nothing_travels; travelling < static_cast<int>(work.operands.size()); ++travelling) {
            work.travelling = travelling;
            const std::vector<program> programs = programs_of(work, world, groups);
            INFO(describe(work) << " trial " << trial);
            REQUIRE(values.broken(programs) == "");
            REQUIRE(values.agrees(work, programs, trial % 2 == 0));
            std::size_t sent = 0;
            for (const program& each : programs) {
                sent += bytes_sent(each);
            }
            REQUIRE(static_cast<double>(sent) == detail::task_bytes(work));
            for (std::size_t level = 0; level < groups.levels(); ++level) {
                REQUIRE(
                    static_cast<double>(counted_beyond(programs, groups, level)) ==
                    std::round(detail::bytes_between(work, wired, static_cast<int>(level), {}, detail::every_rank)));
            }
            ++played;
        }
        for (const distribution& each : work.operands) {
            const ring_shape shape = shape_of_rings(each, groups, 1000);
            staged += shape.count > 1 ? 1 : 0;
            mixed += shape.is_mixed ? 1 : 0;
        }
    }
    MESSAGE(played << " schedules, " << staged << " operands in stages, " << mixed << " on uneven groups");
    CHECK(staged > 150);
    CHECK(mixed > 300);
}

TEST_CASE("shapes by digits are those of every ring") {
    random_tasks random(5);
    test::random_machines machines(6);
    int by_digits = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const task work = random.any_task();
        const int world = work.ranks.size();
        const rank_groups groups(machines.any(world, true).levels);
        for (const distribution& each : work.operands) {
            if (each.replication() == 1) {
                continue;
            }
            const ring_shape shape = shape_of_rings(each, groups, 0);  // looks at no rank
            for (int rank = 0; rank < world && !shape.is_mixed; ++rank) {
                ring_shape one = shape_of_ring(ring_of(each, rank, groups), groups);
                one.leaving = shape.leaving;
                one.staged = shape.staged;
                one.plain = shape.plain;
                CHECK(one == shape);
            }
            const ring_shape looked = shape_of_rings(each, groups, 1000);
            by_digits += shape.is_mixed ? 0 : 1;
            if (!shape.is_mixed) {
                CHECK(looked == shape);
            }
        }
    }
    CHECK(by_digits > 1000);
}

}  // namespace levels_test
