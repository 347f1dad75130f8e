// Schedules of one vertex: all ranks played in one process against scalar loops on whole tensors.

#include "played_task.hpp"

#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/make_task.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace einparallel;
using namespace einparallel::testing;

std::size_t count_contractions(const program& of_rank) {
    std::size_t count = 0;
    for (const step& each : of_rank.steps) {
        for (const action& done : each.work) {
            count += std::holds_alternative<contraction>(done) ? 1 : 0;
        }
    }
    return count;
}

/// Phases in which some rank has something to do beyond reading its operands.
std::size_t phases_of(const task& work) {
    std::set<std::size_t> phases;
    for (const program& each : programs_of(work, work.ranks.size())) {
        for (const step& now : each.steps) {
            phases.insert(now.phase);
        }
    }
    return phases.size() - 1;
}

std::size_t count_sends(const program& of_rank) {
    std::size_t count = 0;
    for (const step& each : of_rank.steps) {
        count += each.sends.size();
    }
    return count;
}

/// Every sharer of a block misses all of it but its own piece, and each missing piece is handed over exactly once,
/// whichever way: what all ranks send together.
std::size_t total_to_send(const task& work) {
    std::size_t bytes = 0;
    for (int rank = 0; rank < work.ranks.size(); ++rank) {
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            const distribution& resting = work.operands[operand];
            bytes += work.operand_bytes[operand] *
                     static_cast<std::size_t>(resting.block_of_rank(rank).size() - resting.held_by(rank).size());
        }
        bytes += work.output_bytes *
                 static_cast<std::size_t>(work.output.block_of_rank(rank).size() - work.output.held_by(rank).size());
    }
    return bytes;
}

/// Every message is the whole of a buffer, or contiguous in it.
bool in_long_runs(const program& of_rank) {
    for (const step& each : of_rank.steps) {
        for (const std::vector<message>* const messages : {&each.sends, &each.receives}) {
            for (const message& transfer : *messages) {
                const buffer& place = of_rank.buffers[static_cast<std::size_t>(transfer.buffer)];
                bool whole_inside = true;  // of a dimension that is cut all outer ones are one element long
                for (std::size_t dimension = place.region.rank(); dimension-- > 0;) {
                    if (!whole_inside && transfer.region.sides[dimension].size() > 1) {
                        return false;
                    }
                    whole_inside = whole_inside && transfer.region.sides[dimension] == place.region.sides[dimension];
                }
            }
        }
    }
    return true;
}

}  // namespace

TEST_CASE("any einsum on any mesh, whatever travels, gives what scalar loops give") {
    random_tasks random(20240607);
    int played = 0;
    int k_rings = 0;
    int mn_rings = 0;
    int reductions = 0;
    int uneven = 0;
    int packs = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        task work = random.any_task();
        const played_task values(work, random);
        const int world = work.ranks.size() + (random.one_in(3) ? 2 : 0);
        for (const index extent : work.extents) {
            uneven += extent % std::max(work.ranks.size(), 1) != 0 ? 1 : 0;
        }
        for (int travelling = nothing_travels; travelling < static_cast<int>(work.operands.size()); ++travelling) {
            work.travelling = travelling;
            const std::vector<program> programs = programs_of(work, world);
            INFO(describe(work));
            REQUIRE(values.broken(programs) == "");
            REQUIRE(values.agrees(work, programs, false));
            REQUIRE(values.agrees(work, programs, true));

            std::size_t sent = 0;
            for (const program& each : programs) {
                sent += bytes_sent(each);
                REQUIRE((each.steps.empty() || each.steps.back().phase < phases_apart));
            }
            REQUIRE(sent == total_to_send(work));
            if (trial % 4 == 0) {
                std::vector<program> packed = programs;
                std::size_t sent_packed = 0;
                for (program& each : packed) {
                    pack_strided(each, {1U << 20U, 0});
                    packs +=
                        each.buffers.size() > programs[static_cast<std::size_t>(&each - packed.data())].buffers.size()
                            ? 1
                            : 0;
                    sent_packed += bytes_sent(each);
                    REQUIRE(in_long_runs(each));
                }
                REQUIRE(values.broken(packed) == "");
                REQUIRE(sent_packed == sent);
                REQUIRE(values.agrees(work, packed, trial % 8 == 0));
            }
            ++played;
            k_rings += detail::runs_k_ring(work) ? 1 : 0;
            mn_rings += travelling >= 0 && work.travels(static_cast<std::size_t>(travelling)) ? 1 : 0;
            reductions += work.output.replication() > 1 && !detail::runs_k_ring(work) ? 1 : 0;
        }
    }
    MESSAGE(played << " schedules played: " << k_rings << " k rings, " << mn_rings << " m/n rings, " << reductions
                   << " reductions; " << uneven << " extents that p does not divide");
    CHECK(played > 15000);
    CHECK(k_rings > 150);
    CHECK(mn_rings > 1500);
    CHECK(reductions > 2000);
    CHECK(packs > 200);
}

namespace {

/// ij,jk->ik with extents (i, j, k) over a mesh; operand elements of 8 and 4 bytes, output of 16.
task matrix_product(std::vector<index> extents, std::vector<mesh_axis> axes, algorithm wanted) {
    const einsum_form form{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    return make_task(form, std::move(extents), {8, 4}, 16, mesh{std::move(axes)}, wanted);
}

}  // namespace

TEST_CASE("one rank contracts once, straight from what rests into what rests") {
    const task work = matrix_product({4, 5, 6}, {}, algorithm::automatic);
    const std::vector<program> programs = programs_of(work, 1);
    CHECK(work.travelling == nothing_travels);
    CHECK(phases_of(work) == 1);
    CHECK(programs[0].buffers.size() == 3);
    CHECK(count_contractions(programs[0]) == 1);
    CHECK(bytes_sent(programs[0]) == 0);
    CHECK(algorithm_of(work) == algorithm::c);
}

TEST_CASE("m/n ring: q contractions, q-1 transfers, (q-1)/q of the block") {
    for (const int q : {2, 3, 4, 5, 7, 8, 12}) {
        const task work = matrix_product({3 * q, 10, 2 * q}, {{0, q}}, algorithm::mn);
        REQUIRE(work.travelling == 1);
        CHECK(algorithm_of(work) == algorithm::mn);
        CHECK(phases_of(work) == static_cast<std::size_t>(q));
        CHECK(work.operands[1].cut() == 1);  // along k, a slice of the output per step; j is contracted
        for (const program& each : programs_of(work, q)) {
            CHECK(count_contractions(each) == static_cast<std::size_t>(q));
            CHECK(count_sends(each) == static_cast<std::size_t>(q) - 1);
            CHECK(bytes_sent(each) == static_cast<std::size_t>((q - 1) * 10 * 2) * 4);
        }
    }
}

TEST_CASE("k ring: 2q contractions, 2(q-1) transfers, (q-1)/q of the block") {
    for (const int q : {2, 3, 4, 5, 7, 8, 12}) {
        const task work = matrix_product({4 * q, 3 * q, 5}, {{1, q}}, algorithm::k);
        REQUIRE(work.travelling == output_travels);
        CHECK(algorithm_of(work) == algorithm::k);
        CHECK(phases_of(work) == 2 * static_cast<std::size_t>(q));
        for (const program& each : programs_of(work, q)) {
            CHECK(count_contractions(each) == 2 * static_cast<std::size_t>(q));
            CHECK(count_sends(each) == 2 * static_cast<std::size_t>(q - 1));
            CHECK(bytes_sent(each) == static_cast<std::size_t>((q - 1) * 4 * 5) * 16);
        }
    }
}

TEST_CASE("k ring: halves of chunks that are cut along an inner dimension travel in one piece") {
    const auto batched_product = [](index batch, int q) {  // bij,bjk->bik, an output that is cut along i
        const einsum_form form{{"b", "i", "j", "k"}, {{0, 1, 2}, {0, 2, 3}}, {0, 1, 3}};
        return make_task(form, {batch, 4 * q, 3 * q, 5}, {8, 8}, 8, mesh{{{2, q}}}, algorithm::k);
    };
    for (const int q : {2, 3, 5}) {
        for (const index batch : {2, 3}) {
            const task work = batched_product(batch, q);
            REQUIRE(work.travelling == output_travels);
            REQUIRE(work.output.cut() == 1);
            for (const program& each : programs_of(work, q)) {
                program packed = each;
                pack_strided(packed, {0, 0});  // nothing for its short runs, what is strided beside a contraction
                // Two halves arrive in the output, which lie there in one piece only where the batch is halved.
                CHECK(packed.buffers.size() - each.buffers.size() == (batch == 2 ? 0U : 2U));
                CHECK(bytes_sent(packed) == static_cast<std::size_t>((q - 1) * batch * 4 * 5) * 8);
            }
        }
    }
}

TEST_CASE("three axes at once send what the lower bound allows") {
    // mk/(p1 p2) + kn/(p2 p3) + mn/(p1 p3) - (mk + kn + mn)/p elements per rank, where everything divides.
    const int p1 = 2;
    const int p2 = 3;
    const int p3 = 2;
    for (const algorithm wanted : {algorithm::automatic, algorithm::mn, algorithm::k}) {
        const task work = matrix_product({24, 12, 36}, {{0, p1}, {1, p2}, {2, p3}}, wanted);
        for (const program& each : programs_of(work, p1 * p2 * p3)) {
            const std::size_t first = (24 * 12 / (p1 * p2) - 24 * 12 / 12) * 8;
            const std::size_t second = (12 * 36 / (p2 * p3) - 12 * 36 / 12) * 4;
            const std::size_t output = (24 * 36 / (p1 * p3) - 24 * 36 / 12) * 16;
            CHECK(bytes_sent(each) == first + second + output);
        }
    }
}

TEST_CASE("what travels is what weighs most, unless it cannot be cut finely enough") {
    CHECK(matrix_product({100, 4, 100}, {{1, 4}}, algorithm::automatic).travelling == output_travels);
    CHECK(matrix_product({100, 100, 4}, {{2, 4}}, algorithm::automatic).travelling == 0);
    CHECK(matrix_product({4, 100, 100}, {{0, 4}}, algorithm::automatic).travelling == 1);
    CHECK(matrix_product({1, 100, 3}, {{1, 4}}, algorithm::automatic).travelling == nothing_travels);
    CHECK(matrix_product({1, 100, 3}, {{1, 4}}, algorithm::k).travelling == output_travels);
    CHECK(matrix_product({4, 100, 100}, {{0, 4}}, algorithm::k).travelling == nothing_travels);
    CHECK(matrix_product({4, 100, 100}, {{0, 4}}, algorithm::c).travelling == nothing_travels);
    CHECK(matrix_product({100, 4, 100}, {{1, 4}}, algorithm::mn).travelling == nothing_travels);
}

TEST_CASE("few pieces go along trees: logarithmic in the number of ranks") {
    // The sum of a vector: a scalar that 12 ranks have summands of.
    const einsum_form dot{{"i"}, {{0}, {0}}, {}};
    const task scalar = make_task(dot, {100}, {8, 8}, 8, mesh{{{0, 12}}});
    CHECK(scalar.travelling == nothing_travels);
    CHECK(phases_of(scalar) == 1 + 2 * 4);
    for (const program& each : programs_of(scalar, 12)) {
        CHECK(count_sends(each) <= 1);
    }
    // A scalar factor that 12 ranks want.
    const einsum_form scale{{"i"}, {{}, {0}}, {0}};
    const task factor = make_task(scale, {100}, {8, 8}, 8, mesh{{{0, 12}}});
    CHECK(phases_of(factor) == 4 + 1);
    for (const program& each : programs_of(factor, 12)) {
        CHECK(count_sends(each) <= 4);
    }
}

TEST_CASE("ranks beyond the mesh have an empty result and no step") {
    const task work = matrix_product({4, 5, 6}, {{0, 2}}, algorithm::automatic);
    const std::vector<program> programs = programs_of(work, 4);
    for (const std::size_t idle : {std::size_t{2}, std::size_t{3}}) {
        CHECK(programs[idle].steps.empty());
        CHECK(programs[idle].buffers[static_cast<std::size_t>(programs[idle].results[0])].bytes() == 0);
    }
}

TEST_CASE("memory of the rings in an arena") {
    // m/n: the operand at rest, the output, and never more than two pieces of the travelling operand, also where pieces
    // differ in size; the piece at rest makes room once it has been sent, unless somebody keeps it.
    int tight = 0;
    for (int q = 2; q <= 9; ++q) {
        for (int columns = q; columns < 4 * q; ++columns) {
            const task work = matrix_product({2 * q, 16, columns}, {{0, q}}, algorithm::mn);
            const std::vector<program> programs = programs_of(work, q);
            const auto width = static_cast<std::size_t>(columns);
            const std::size_t piece =
                16 * ((width + static_cast<std::size_t>(q) - 1) / static_cast<std::size_t>(q)) * 4;
            const std::size_t rest = 2 * 16 * 8 + (2 * width * 16 + 63) / 64 * 64;
            for (const program& each : programs) {
                REQUIRE(plan_arena(each).bytes <= rest + 2 * piece);
                const arena_plan kept = plan_arena(each, [](buffer_id buffer) { return buffer < 2; });
                REQUIRE(kept.bytes <= rest - 2 * 16 * 8 + 2 * piece);
                REQUIRE(kept.offsets[0] == not_in_arena);
                tight += 1;
            }
        }
    }
    CHECK(tight > 800);
    // k: operands, output, and one half-chunk beside it (16 rows over 4 replicas, in halves of 2 rows of 8).
    const task ring = matrix_product({16, 16, 8}, {{1, 4}}, algorithm::k);
    for (const program& each : programs_of(ring, 4)) {
        CHECK(plan_arena(each).bytes == 16 * 4 * 8 + 4 * 8 * 4 + 4 * 8 * 16 + 2 * 8 * 16);
    }
    // Where the result lies elsewhere it has nothing to lend: three half-chunks travel in the arena.
    const program last = programs_of(ring, 4)[3];
    CHECK(plan_arena(last, [&](buffer_id buffer) { return buffer == last.results[0]; }).bytes ==
          16 * 4 * 8 + 4 * 8 * 4 + 3 * (2 * 8 * 16));
}

TEST_CASE("master-worker: any label of the output, any master, any slices, gives what scalar loops give") {
    random_tasks random(20261122);
    int played = 0;
    int idle = 0;
    int uneven = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const task given = random.any_task();
        std::vector<label_id> labels = given.form.output;
        std::erase(labels, no_label);
        if (labels.empty()) {
            continue;
        }
        const auto one_of_them = [&] {
            return labels[static_cast<std::size_t>(random.between(0, static_cast<int>(labels.size()) - 1))];
        };
        const int ranks = random.between(2, 7);
        const task_cuts first{std::vector<std::size_t>(given.operands.size(), 0), 0};
        const task work = fed_task(make_task(given.form, given.extents, given.operand_bytes, given.output_bytes,
                                             mesh{{{one_of_them(), ranks}}}, first),
                                   {random.between(0, ranks - 1), one_of_them(), random.between(1, 6)});
        const played_task values(work, random);
        INFO(describe(work) << " master " << work.feed.master << " label " << work.feed.label << " slices "
                            << work.feed.slices);
        CHECK(algorithm_of(work) == algorithm::master_worker);
        const std::vector<program> programs = programs_of(work, ranks + (random.one_in(3) ? 2 : 0));
        REQUIRE(values.broken(programs) == "");
        REQUIRE(values.agrees(work, programs, false));
        REQUIRE(values.agrees(work, programs, true));
        // A worker is sent what its part reads of every operand, once, and sends back what it makes.
        std::size_t operands_sent = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            std::vector<interval> part = detail::fed_ranges(work, rank);
            const std::size_t makes = static_cast<std::size_t>(detail::region_of(work.form.output, part).size());
            idle += makes == 0 ? 1 : 0;
            if (rank == work.feed.master) {
                continue;
            }
            CHECK(bytes_sent(programs[static_cast<std::size_t>(rank)]) == makes * work.output_bytes);
            for (std::size_t operand = 0; operand < values.operands.size() && makes > 0; ++operand) {
                operands_sent += static_cast<std::size_t>(detail::region_of(work.form.operands[operand], part).size()) *
                                 work.operand_bytes[operand];
            }
        }
        const bool repeats = std::ranges::any_of(work.form.operands, [](const std::vector<label_id>& dimensions) {
            return std::ranges::any_of(dimensions, [&](label_id label) {
                return std::ranges::count(dimensions, label) > 1;  // slices along it are blocks on a diagonal
            });
        });
        const std::size_t sent = bytes_sent(programs[static_cast<std::size_t>(work.feed.master)]);
        CHECK((repeats ? sent <= operands_sent : sent == operands_sent));
        uneven += work.extents[static_cast<std::size_t>(work.feed.label)] % work.feed.slices != 0 ? 1 : 0;
        ++played;
    }
    MESSAGE(played << " schedules played, " << idle << " idle ranks, " << uneven << " uneven slices");
    CHECK(played > 2000);
    CHECK(idle > 200);
    CHECK(uneven > 500);
}

TEST_CASE("master-worker: slices go out while others are contracted, and back while the next are") {
    const einsum_form form{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    const task unfed = make_task(form, {40, 5, 6}, {8, 4}, 16, mesh{{{0, 3}}}, task_cuts{{0, 0}, 0});
    const task work = fed_task(unfed, {1, 0, 4});
    CHECK(phases_of(work) == 6);
    const std::vector<program> programs = programs_of(work, 3);
    // The master has six phases of work, a worker four: 6/14 of 40 rows and half of the rest.
    CHECK(detail::fed_ranges(work, 1)[0] == interval{0, 17});
    CHECK(detail::fed_ranges(work, 0)[0] == interval{17, 29});
    CHECK(detail::fed_ranges(work, 2)[0] == interval{29, 40});
    CHECK(count_contractions(programs[1]) == 6);
    CHECK(count_contractions(programs[0]) == 4);
    CHECK(count_sends(programs[1]) == 2 * (4 + 1));  // four slices of A and all of B for each worker
    CHECK(count_sends(programs[0]) == 4);
    CHECK(bytes_sent(programs[1]) == 23 * 5 * 8 + 2 * 5 * 6 * 4);
    CHECK(bytes_sent(programs[0]) + bytes_sent(programs[2]) == 23 * 6 * 16);
    const arena_plan memory = plan_arena(programs[0], [](buffer_id buffer) { return buffer <= 1; });
    CHECK(memory.bytes <= 2 * 3 * 5 * 8 + 5 * 6 * 4 + 2 * 3 * 6 * 16 + 5 * 64);  // two slices of A and C, all of B
}
