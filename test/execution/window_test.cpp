// Ranks of a node that read each other's blocks in place (options.ranks_per_node).

#include <doctest/doctest.h>

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/run/execute.hpp>

#include "graphs.hpp"

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace window_test {

namespace {

ep::options asked_of(const ep::context& world, ep::algorithm forced, int ranks_per_node) {
    return {.processes = world.size(),
            .objective = ep::objective::bytes,
            .algorithm = forced,
            .ranks_per_node = ranks_per_node};
}

/// Pages that the process holds, and mappings that it has.
std::vector<std::size_t> memory_of_process() {
    std::size_t whole = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> whole >> resident;
    std::size_t mappings = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        ++mappings;
    }
    return {resident, mappings};
}

}  // namespace

TEST_CASE("what a node shares is read, not sent, with the same elements") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(8 * world.size() + 1, 6 * world.size() + 1, 5);
    for (const int ranks_per_node : nodes_to_try(world)) {
        for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
            const ep::plan plan = ep::decompose(world, asked_of(world, forced, ranks_per_node), graph.handle());
            CHECK(plan.asked().ranks_per_node == ranks_per_node);
            for (int repetition = 0; repetition < 3; ++repetition) {
                const ep::results made = ep::execute(plan, world);
                CHECK(wrong_elements(made, 0, *graph.z) == 0);
                CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
                CHECK(made.bytes_read() == plan.bytes_read(world.rank()));
            }
            CHECK(plan.bytes_sent() == (ranks_per_node > 1 ? 0 : plan.bytes_moved()));
            CHECK(plan.bytes_read() == plan.bytes_moved() - plan.bytes_sent());
        }
    }
}

TEST_CASE("a plan made elsewhere finds its memory at its first run, and the largest plan's stays") {
    for (const int ranks_per_node : nodes_to_try(ep::context(MPI_COMM_WORLD))) {
        ep::context world(MPI_COMM_WORLD);
        for (const ep::index extent : {3, 20, 7, 45, 20}) {
            const product graph(extent * world.size(), extent, extent);
            const ep::plan plan = ep::decompose(asked_of(world, ep::algorithm::mn, ranks_per_node), graph.handle());
            CHECK(wrong_elements(ep::execute(plan, world), 0, *graph.z) == 0);
            world.release_memory();
            CHECK(wrong_elements(ep::execute(plan, world), 0, *graph.z) == 0);
        }
    }
}

TEST_CASE("ranks that share no memory, or too little, send messages") {
    ep::context world(MPI_COMM_WORLD);
    const bool shares = nodes_to_try(world).back() > 1;
    // Half a terabyte per rank.
    const ep::index side = ep::index{1} << 18;
    const ep::tensor<double, 2> a = ep::placeholder<double>({side, side});
    const ep::tensor<double, 2> b = ep::placeholder<double>({side, side});
    const ep::tensor<double, 2> large = ep::einsum<"ij,jk->ik">(a, b);
    const ep::plan refused = ep::decompose(world, asked_of(world, ep::algorithm::mn, 2), large);
    if (world.size() > 1) {  // one rank needs no window, whatever it asks for
        CHECK(refused.asked().ranks_per_node == 1);
        CHECK(refused == ep::decompose(world, asked_of(world, ep::algorithm::mn, 1), large));
    }
    CHECK(refused.bytes_read() == 0);
    const product graph(8, 6, 5);
    const ep::plan small = ep::decompose(world, asked_of(world, ep::algorithm::mn, world.size()), graph.handle());
    CHECK(small.asked().ranks_per_node == (shares ? world.size() : 1));
    CHECK(wrong_elements(ep::execute(small, world), 0, *graph.z) == 0);
    if (!shares && world.size() > 1) {
        const ep::plan elsewhere = ep::decompose(asked_of(world, ep::algorithm::mn, world.size()), graph.handle());
        CHECK(sentence_of([&] { ep::execute(elsewhere, world); }).find("ranks do not share memory") !=
              std::string::npos);
    }
}

TEST_CASE("a thousand runs take no more memory and no more mappings than the first ones") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(4 * world.size(), 12, 9);
    for (const int ranks_per_node : nodes_to_try(world)) {
        const ep::plan ring = ep::decompose(world, asked_of(world, ep::algorithm::mn, ranks_per_node), graph.handle());
        const ep::plan sums = ep::decompose(world, asked_of(world, ep::algorithm::k, ranks_per_node), graph.handle());
        int wrong = 0;
        std::vector<std::size_t> before;
        const int runs = world.size() > 2 ? 60 : 1000;  // ranks that share a core take turns
        for (int repetition = 0; repetition < runs; ++repetition) {
            if (repetition == runs / 2) {
                before = memory_of_process();
            }
            wrong += wrong_elements(ep::execute(repetition % 2 == 0 ? ring : sums, world), 0, *graph.z);
        }
        CHECK(wrong == 0);
        const std::vector<std::size_t> after = memory_of_process();
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
        CHECK(after[0] <= before[0] + 128);
        CHECK(after[1] <= before[1] + 2);
#endif
    }
}

TEST_CASE("contexts that an agreed error ends let go of what their ranks share") {
    const int size = ep::context(MPI_COMM_WORLD).size();
    const int contexts = size > 2 ? 9 : 60;  // ranks that share a core take turns
    const product graph(4 * size, 12, 9);
    const ep::tensor<double, 2> failing = ep::generate<double>(
        {8, 8}, [](auto i, auto j) -> double { return i + j > 13 ? throw std::runtime_error("enough") : 1.0; });
    for (const int ranks_per_node : nodes_to_try(ep::context(MPI_COMM_WORLD))) {
        std::size_t before = 0;
        for (int repetition = 0; repetition < contexts; ++repetition) {
            const std::string sentence = sentence_of([&] {
                ep::context world(MPI_COMM_WORLD);
                const ep::options asked = asked_of(world, ep::algorithm::mn, ranks_per_node);
                ep::execute(ep::decompose(world, asked, graph.handle()), world);
                if (repetition % 2 == 0) {
                    static_cast<void>(ep::decompose(world, {.processes = size + 1}, graph.handle()));
                }
                ep::execute(ep::decompose(world, ep::einsum<"ij,jk->ik">(failing, failing)), world);
            });
            CHECK(!sentence.empty());
            before = repetition == contexts / 3 ? memory_of_process()[1] : before;
        }
        CHECK(memory_of_process()[1] <= before + 2);
    }
}

TEST_CASE("a context that another error ends on one rank waits for nobody") {
    const auto end_context = [](int ranks_per_node) {
        ep::context world(MPI_COMM_WORLD);
        const product graph(4 * world.size(), 12, 9);
        ep::execute(ep::decompose(world, asked_of(world, ep::algorithm::mn, ranks_per_node), graph.handle()), world);
        CHECK(!sentence_of([&] {
                   static_cast<void>(ep::decompose(world, {.processes = world.size() + 1}, graph.handle()));
               }).empty());
        if (world.rank() > 0) {
            MPI_Recv(nullptr, 0, MPI_BYTE, world.rank() - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        throw std::runtime_error("of this rank's");
    };
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const int ranks_per_node : nodes_to_try(ep::context(MPI_COMM_WORLD))) {
        CHECK_THROWS_AS(end_context(ranks_per_node), std::runtime_error);
        if (int size = 0; MPI_Comm_size(MPI_COMM_WORLD, &size), rank + 1 < size) {
            MPI_Send(nullptr, 0, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
        }
    }
}

}  // namespace window_test
