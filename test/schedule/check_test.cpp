// The checker itself: programs that keep the promises pass, and each broken promise is named.

#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/check_programs.hpp>
#include <support/make_task.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace einparallel;
using namespace einparallel::testing;

/// The programs of ij,jk->ik on two ranks with the second operand going round.
std::vector<program> ring_of_two(const task& work) {
    std::vector<program> programs(2);
    for (int rank = 0; rank < 2; ++rank) {
        program& mine = programs[static_cast<std::size_t>(rank)];
        const buffer_id left = mine.add_buffer(work.operands[0].held_by(rank), 8);
        const buffer_id right = mine.add_buffer(work.operands[1].held_by(rank), 8);
        mine.results = {schedule_vertex(mine, 0, work, rank, std::vector<buffer_id>{left, right},
                                        0 - detail::compute_phase)};  // nothing is gathered: the ring is phases 0, 1
    }
    return programs;
}

}  // namespace

TEST_CASE("each broken promise is found") {
    const einsum_form form{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    const task work = make_task(form, {4, 3, 6}, {8, 8}, 8, mesh{{{0, 2}}}, algorithm::mn);
    const auto complaint = [&](auto spoil) {
        std::vector<program> programs = ring_of_two(work);
        spoil(programs);
        return check_programs(programs, [&](std::size_t) -> const einsum_form& { return form; });
    };
    CHECK(complaint([](auto&) {}) == "");
    CHECK(complaint([](auto& all) { all[0].steps[0].sends.clear(); }) == "sends and receives do not match");
    CHECK(complaint([](auto& all) { all[1].steps[0].phase = 2; }) == "rank 1, phase 1: phases do not ascend");
    CHECK(complaint([](auto& all) {
              for (step& each : all[1].steps) {
                  ++each.phase;
              }
          }) == "sends and receives do not match");
    CHECK(complaint([](auto& all) { all[0].steps[0].sends[0].region.sides[0].end = 2; }) ==
          "sends and receives do not match");
    CHECK(complaint([](auto& all) { all[0].buffers[1].element_bytes = 4; }) == "sends and receives do not match");
    CHECK(complaint([](auto& all) { all[0].steps[0].sends[0].region.sides[0].end = 9; }) ==
          "rank 0, phase 0: sends nothing or from outside of its buffer");
    CHECK(complaint([](auto& all) { all[0].steps[0].receives[0].region.sides[0].end = 0; }) ==
          "rank 0, phase 0: receives nothing or outside of its buffer");
    CHECK(complaint([](auto& all) { all[0].steps[0].sends[0].peer = 0; }) ==
          "rank 0, phase 0: sends to itself or to nobody");
    CHECK(complaint([](auto& all) { all[0].steps[0].receives[0].peer = 7; }) ==
          "rank 0, phase 0: receives from itself or from nobody");
    CHECK(complaint([](auto& all) { all[0].steps[0].receives.push_back(all[0].steps[0].receives[0]); }) ==
          "rank 0, phase 0: receives into a place that it sends from or receives into already");
    // The second piece is contracted while it still arrives.
    CHECK(complaint([](auto& all) { all[0].steps[0].work.push_back(all[0].steps[1].work[0]); }) ==
          "rank 0, phase 0: reads what it receives");
    // The output is sent while it is written.
    CHECK(complaint([](auto& all) {
              message& sent = all[0].steps[0].sends[0];
              sent.buffer = all[0].results[0];
              sent.region = {{{0, 2}, {0, 3}}, false};
          }) == "rank 0, phase 0: writes what it receives or sends");
    CHECK(complaint([](auto& all) {
              std::get<contraction>(all[0].steps[0].work[0]).ranges[2] = {0, 7};
          }) == "rank 0, phase 0: reads outside of a buffer");
    CHECK(complaint([](auto& all) {
              contraction& call = std::get<contraction>(all[0].steps[0].work[0]);
              call.output = call.operands[0];
              call.ranges = {{0, 2}, {0, 3}, {0, 3}};
          }) == "rank 0, phase 0: writes what the same action reads");
}
