// Ranks on several nodes: simulated ones, of four ranks each, in order or in turns. Elsewhere all ranks are on one
// node.

#include <doctest/doctest.h>

#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/plan/machine_text.hpp>
#include <einparallel/run/calibrate.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/run/nodes.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/schedule/program.hpp>

#include <support/counted_beyond.hpp>
#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace execution_levels_test {

namespace {

// As test/execution/CMakeLists.txt describes the simulated machine. Its nodes may have any equal number of ranks.
constexpr double node_bytes = 25e9;
constexpr double node_latency = 0.5e-6;
constexpr double link_bytes = 12.5e9;
constexpr double link_latency = 2e-6;

/// By rank: a number of its node, by the name of its processor.
std::vector<int> named_nodes(const ep::context& world) {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    std::int64_t hash = 17;
    for (int at = 0; at < length; ++at) {
        hash = (hash * 31 + name[static_cast<std::size_t>(at)]) % 1'000'000'007;
    }
    std::vector<std::int64_t> all(static_cast<std::size_t>(world.size()));
    const std::array<std::int64_t, 1> mine{hash};
    ep::allgather(world.control(), mine, all);
    std::vector<int> nodes;
    for (const std::int64_t each : all) {
        nodes.push_back(static_cast<int>(std::ranges::find(all, each) - all.begin()));
    }
    return nodes;
}

/// Ranks of each node; where all are on one node, of nodes that a plan is made for.
int ranks_of_one(const std::vector<int>& nodes) {
    const auto first = static_cast<int>(std::ranges::count(nodes, 0));
    return first < static_cast<int>(nodes.size()) ? first : 4;
}

}  // namespace

TEST_CASE("the nodes are found, and each level is measured by itself") {
    ep::context world(MPI_COMM_WORLD);
    const std::vector<int> nodes = ep::detail::nodes_of(world.control());
    const std::vector<int> named = named_nodes(world);
    for (std::size_t one = 0; one < nodes.size(); ++one) {
        for (std::size_t other = 0; other < one; ++other) {
            CHECK((nodes[one] == nodes[other]) == (named[one] == named[other]));
        }
    }
    const ep::machine measured = world.calibrate(0.05);
    const int ranks_of_node = ranks_of_one(nodes);
    const int count = *std::ranges::max_element(nodes) + 1;
    if (count == 1 || count == world.size()) {
        CHECK(!measured.levels.front().is_given());
        CHECK(measured.node_of_rank.empty());
        return;
    }
    REQUIRE(ep::count_of(measured.levels) == 2);
    const auto close = [](double value, double expected) { return value > 0.8 * expected && value < 1.2 * expected; };
    const ep::machine_level& inner = measured.levels[0];
    const ep::machine_level& outer = measured.levels[1];
    INFO(measured);
    CHECK(inner.ranks == ranks_of_node);
    CHECK(close(inner.seconds_per_byte, 1 / node_bytes));
    CHECK(close(inner.seconds_per_message, node_latency));
    CHECK(close(outer.seconds_per_byte, 1 / link_bytes));
    CHECK(close(outer.seconds_per_message, link_latency));
    CHECK(close(outer.transfers, 1));
    CHECK(measured.node_of_rank.empty() == std::ranges::is_sorted(nodes));
    CHECK(ep::machine_from_json(ep::to_json(measured)) == measured);
}

TEST_CASE("a plan knows where the context's ranks are, and sends between nodes what it says") {
    ep::context world(MPI_COMM_WORLD);
    const std::vector<int> nodes = named_nodes(world);
    const int ranks_of_node = ranks_of_one(nodes);
    ep::machine on;
    on.levels[0] = {ranks_of_node, node_latency, 1 / node_bytes, 1, {}};
    on.levels[1] = {0, link_latency, 1 / link_bytes, 1, {}};
    if (world.size() % ranks_of_node != 0) {
        return;
    }
    const product graph(36, 28, 44);
    for (const int level : {-1, 0}) {
        const ep::plan plan =
            ep::decompose(world, {.objective = ep::objective::bytes, .machine = on, .effort = 200'000, .level = level},
                          graph.handle());
        const bool in_turns = !std::ranges::is_sorted(nodes);
        CHECK(plan.asked().machine.node_of_rank.empty() == !in_turns);
        CHECK(wrong_elements(ep::execute(plan, world), 0, *graph.z) == 0);
        // Where all ranks are on one node the plan is for nodes all the same.
        CHECK(plan.bytes_between(0) ==
              counted_beyond(
                  plan, ep::rank_groups(on.levels, *std::ranges::max_element(nodes) > 0 ? nodes : std::vector<int>()),
                  0));
    }
}

TEST_CASE("a trace says where the plan was made for ranks that lie otherwise on nodes") {
    ep::context world(MPI_COMM_WORLD);
    const std::vector<int> nodes = named_nodes(world);
    const int ranks_of_node = ranks_of_one(nodes);
    if (world.size() % ranks_of_node != 0) {
        return;
    }
    const bool has_nodes = *std::ranges::max_element(nodes) > 0 || world.size() == ranks_of_node;
    const product graph(12, 14, 16);
    ep::trace seen;  // of several runs
    const auto is_said = [&](const ep::plan& plan) {
        ep::execute(plan, world, seen);
        const bool said = seen.summary().find("lie otherwise on nodes") != std::string::npos;
        CHECK(said == (seen.to_json().find("otherwise on nodes than planned") != std::string::npos));
        return said;
    };
    ep::options asked{.processes = world.size()};
    CHECK(!is_said(ep::decompose(asked, graph.handle())));  // it knows no nodes
    asked.machine.levels[0] = {ranks_of_node, node_latency, 1 / node_bytes, 1, {}};
    asked.machine.levels[1] = {0, link_latency, 1 / link_bytes, 1, {}};
    CHECK(is_said(ep::decompose(asked, graph.handle())) == !(has_nodes && std::ranges::is_sorted(nodes)));
    CHECK(is_said(ep::decompose(world, asked, graph.handle())) == !has_nodes);
    asked.machine = {};
    CHECK(!is_said(ep::decompose(asked, graph.handle())));
}

}  // namespace execution_levels_test
