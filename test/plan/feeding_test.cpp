// Master-worker in plans: where it is chosen, where it cannot be, and what it is said to cost.

#include "graphs.hpp"

#include <einparallel/cost/traffic.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/statistics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

using namespace einparallel;
using test::einsum;
using test::input;
using test::node;

/// A product of matrices that `root` has.
node at_root(index side, int root) {
    return einsum("ij,jk->ik",
                  {input({side, side}, source_kind::root, root), input({side, side}, source_kind::root, root)});
}

const planned_vertex& last(const plan& made) {
    return made.vertices()[made.outputs().front()];
}

/// What programs of all ranks send together.
std::size_t sent_by_all(const plan& made) {
    std::size_t bytes = 0;
    for (int rank = 0; rank < made.processes(); ++rank) {
        bytes += made.bytes_sent(rank);
    }
    return bytes;
}

}  // namespace

TEST_CASE("master-worker is run where it is asked for, under every objective, with bytes as they are counted") {
    for (const objective minimised : {objective::time, objective::paper, objective::bytes}) {
        for (const int processes : {2, 3, 4, 7}) {
            for (const int root : {0, 1}) {
                const node made = at_root(60, root);
                const plan found = decompose_vertices(
                    {.processes = processes, .objective = minimised, .algorithm = algorithm::master_worker}, {made});
                const planned_vertex& each = last(found);
                CHECK(each.algorithm == algorithm::master_worker);
                CHECK_FALSE(each.fell_back);
                CHECK(each.work.feed.master == root);
                CHECK(each.work.ranks.size() == processes);
                CHECK(found.vertices().front().resting == each.work.operands[0]);
                CHECK(each.resting == held_by_one({60, 60}, root));
                CHECK(each.bytes == sent_by_all(found));
                CHECK_FALSE(statistics_of(found).vertices.back().least_bytes);
                CHECK(found.bytes_sent(root) > 0);
                CHECK(found.to_json().find("\"travelling\":\"all\"") != std::string::npos);
            }
        }
    }
}

TEST_CASE("master-worker follows the rank that has the operands, or is rank 0") {
    const options asked{.processes = 3, .objective = objective::bytes, .algorithm = algorithm::master_worker};
    CHECK(last(decompose_vertices(asked, {test::product(9, 9, 9)})).work.feed.master == 0);
    CHECK(last(decompose_vertices(asked, {at_root(9, 2)})).work.feed.master == 2);
    // Beyond the ranks that the extents allow.
    CHECK(last(decompose_vertices(asked, {at_root(2, 2)})).work.feed.master == 0);
    // The second product reads the first where the master left it.
    const node first = at_root(12, 1);
    const node second = einsum("ij,jk->ik", {first, input({12, 12}, source_kind::root, 1)});
    const plan both = decompose_vertices(asked, {second});
    CHECK(last(both).algorithm == algorithm::master_worker);
    CHECK(static_cast<double>(last(both).bytes) == detail::task_bytes(last(both).work));  // and nothing else moved
}

TEST_CASE("what master-worker cannot run falls back and says so") {
    const options asked{.processes = 4, .objective = objective::bytes, .algorithm = algorithm::master_worker};
    const auto falls_back = [&](const node& made) {
        const planned_vertex each = last(decompose_vertices(asked, {made}));
        return each.fell_back && each.algorithm != algorithm::master_worker;
    };
    CHECK(falls_back(einsum("ij,ij->", {input({8, 8}), input({8, 8})})));  // no label to feed along
    CHECK(falls_back(test::product(1, 8, 1)));
    const node pinned = test::product(8, 8, 8);
    pinned->constraints.pin = {pinned_part("i", 4)};
    CHECK(falls_back(pinned));
    const node silent = einsum("bij,bjk->bik", {input({4, 8, 8}), input({4, 8, 8})});
    silent->constraints.without_communication = true;
    CHECK(falls_back(silent));
    const planned_vertex one =
        last(decompose_vertices({.processes = 1, .algorithm = algorithm::master_worker}, {at_root(8, 0)}));
    CHECK(one.algorithm == algorithm::c);
}

TEST_CASE("master-worker is chosen where one rank has the operands and feeding them is faster than spreading them") {
    // 27 ms of arithmetic on one rank; to spread the matrices takes 1.3 ms, in slices that hides behind it.
    options asked{.processes = 4};
    asked.machine = {1e-6, 1e-10, 1e-10, 0.1};
    const auto batch = [](source_kind kind) {
        return einsum("bij,bjk->bik", {input({64, 128, 128}, kind), input({64, 128, 128}, kind)});
    };
    const node made = batch(source_kind::root);
    const plan found = decompose_vertices(asked, {made});
    CHECK(last(found).algorithm == algorithm::master_worker);
    for (const algorithm other : {algorithm::c, algorithm::mn, algorithm::k}) {
        options forced = asked;
        forced.algorithm = other;
        CHECK(found.seconds() <= decompose_vertices(forced, {made}).seconds());
    }
    // Nothing to feed where every rank reads its part, or where messages cost more than arithmetic.
    CHECK(last(decompose_vertices(asked, {batch(source_kind::everywhere)})).algorithm != algorithm::master_worker);
    asked.machine.seconds_per_byte = 1e-7;
    CHECK(last(decompose_vertices(asked, {made})).work.ranks.size() == 1);
}
