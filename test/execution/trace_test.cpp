// What a run tells of itself: the trace, and the vertices as they begin.

#include <doctest/doctest.h>

#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>
#include <support/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace {

/// D = (A B) C with inputs that every rank computes.
struct chain {
    ep::tensor<double, 2> a = input(1);
    ep::tensor<double, 2> b = input(2);
    ep::tensor<double, 2> c = input(3);
    ep::tensor<double, 2> ab = ep::einsum<"ij,jk->ik">(a, b).named("AB");
    ep::tensor<double, 2> d = ep::einsum<"ij,jk->ik">(ab, c).named("D");

    static ep::tensor<double, 2> input(int factor) {
        return ep::generate<double>({24, 24}, [factor](auto i, auto j) { return double((factor * i + j) % 7); });
    }
};

}  // namespace

TEST_CASE("a trace counts the bytes that the plan foretold, vertex by vertex, and is Chrome's JSON") {
    ep::context world(MPI_COMM_WORLD);
    const chain graph;
    for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = forced}, graph.d);
        ep::trace seen;
        const ep::distributed<double, 2> expected = plan.run(world);
        for (int repetition = 0; repetition < 2; ++repetition) {
            const ep::distributed<double, 2> made = plan.run(world, seen);
            CHECK(made.allgather()(3, 5) == expected.allgather()(3, 5));
        }
        std::vector<std::size_t> of_vertex(plan.vertices().size(), 0);
        std::set<std::int64_t> computing;
        std::int64_t sent = 0;
        std::int64_t received = 0;
        bool in_order = true;
        double end = 0;
        for (const ep::trace_span& each : seen.spans()) {
            of_vertex[static_cast<std::size_t>(each.vertex)] += static_cast<std::size_t>(each.bytes);
            if (each.what == ep::activity::contract) {
                computing.insert(each.rank);
            }
            sent += each.bytes;
            received += each.received;
            in_order = in_order && each.begin <= each.end && (each.begin >= 0 || each.what == ep::activity::agree);
            end = std::max(end, each.end);
        }
        CHECK(in_order);
        CHECK(sent == received);
        CHECK(10 * computing.size() >= 9 * std::size_t(world.size()));
        for (std::size_t vertex = 0; vertex < of_vertex.size(); ++vertex) {
            CHECK(of_vertex[vertex] == plan.vertices()[vertex].bytes);
        }
        const json parsed = json::parse(seen.to_json());
        std::size_t spans = 0;
        for (const json& event : parsed["traceEvents"].items()) {
            spans += event["ph"].text() == "X" ? 1 : 0;
            in_order = in_order && (event["ph"].text() != "X" || event["ts"].number() >= 0);
        }
        CHECK(in_order);
        CHECK(spans == seen.spans().size());
        CHECK(same_everywhere(world, seen.summary()));
        CHECK(seen.summary().find("imbalance") != std::string::npos);
    }
    CHECK(ep::trace().summary() == "no run\n");
}

TEST_CASE("steps of a statement are told of with what they compute") {
    ep::context world(MPI_COMM_WORLD);
    EINPARALLEL_LABELS(i, j, k, l);
    const auto input = [](ep::index rows, ep::index columns, const char* name) {
        return ep::generate<double>({rows, columns}, [](auto, auto) { return 1.0; }).named(name);
    };
    const ep::tensor<double, 2> A = input(2, 3, "A"), B = input(3, 4, "B"), C = input(4, 50, "C");
    ep::tensor<double, 2> named, unnamed;
    named(i, l) = A(i, j) * B(j, k) * C(k, l);
    unnamed(i, k) = 0.5 * A(i, j) * ep::map([](double x) { return 2 * x; }, B(j, k));
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, named.named("Z"), unnamed);
    std::vector<std::string> begun;
    world.on_vertex([&](std::size_t, std::size_t, const std::string& name) { begun.push_back(name); });
    ep::trace seen;
    static_cast<void>(plan.run(world, seen));
    world.on_vertex(nullptr);
    CHECK(std::ranges::count(begun, "Z.1 = sum A*B") == 1);
    const int ranks = plan.vertices()[plan.outputs().front()].work.ranks.size();  // the others are idle there
    CHECK(std::ranges::count(begun, "Z") <= 1);
    CHECK((world.rank() >= ranks || std::ranges::count(begun, "Z") == 1));
    CHECK(std::ranges::count_if(begun, [](const std::string& name) {
              return name.starts_with("v") && name.ends_with(".1 = f(B)");
          }) == 1);
    CHECK(seen.summary().find("Z.1 = sum A*B ") != std::string::npos);
    CHECK(seen.to_json().find("\"Z.1 = sum A*B\"") != std::string::npos);
}

TEST_CASE("a trace of a later run counts what that one moves") {
    ep::context world(MPI_COMM_WORLD);
    const chain graph;
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .runs = 10}, graph.d);
    ep::trace seen;
    for (const bool again : {false, true}) {
        static_cast<void>(plan.run(world, seen));
        std::vector<std::size_t> of_vertex(plan.vertices().size(), 0);
        for (const ep::trace_span& each : seen.spans()) {
            of_vertex[static_cast<std::size_t>(each.vertex)] += static_cast<std::size_t>(each.bytes);
        }
        for (std::size_t vertex = 0; vertex < of_vertex.size(); ++vertex) {
            const ep::planned_vertex& planned = plan.vertices()[vertex];
            CHECK(of_vertex[vertex] == (again ? planned.bytes_again : planned.bytes));
        }
    }
}

TEST_CASE("what a rank waits for is told of: others before and after a run") {
    ep::context world(MPI_COMM_WORLD);
    const chain graph;
    const int last = world.size() - 1;
    const auto sleep_on = [&](int rank) {
        std::this_thread::sleep_for(std::chrono::milliseconds(world.rank() == rank ? 50 : 0));
    };
    EINPARALLEL_LABELS(i, k);
    const ep::tensor<double, 2> X = ep::generate<double>({world.size(), 1}, [](auto row, auto) { return double(row); });
    ep::tensor<double, 2> slow;
    slow(i, k) = ep::map([&](double x) { return sleep_on(last), x; }, X(i, k));
    const ep::plan sleeping = ep::decompose(world, {.objective = ep::objective::bytes}, slow.named("Z"));
    sleep_on(last);
    ep::trace seen;
    static_cast<void>(sleeping.run(world, seen));
    std::vector<double> before(static_cast<std::size_t>(world.size())), after = before;
    for (const ep::trace_span& each : seen.spans()) {
        if (each.what == ep::activity::agree) {
            (each.begin < 0 ? before : after)[static_cast<std::size_t>(each.rank)] += each.end - each.begin;
        }
    }
    for (std::size_t rank = 0; rank + 1 < before.size(); ++rank) {
        CHECK(before[rank] > 0.03);
        CHECK(after[rank] > 0.03);
    }
    CHECK(seen.summary().find("; reading ") != std::string::npos);
    CHECK(seen.summary().find("; agreement ") != std::string::npos);
}

TEST_CASE("a trace that some ranks ask for only") {
    ep::context world(MPI_COMM_WORLD);
    const chain graph;
    const ep::plan plan = ep::decompose(world, graph.d);
    ep::trace seen;
    const std::string sentence =
        sentence_of([&] { static_cast<void>(world.rank() == 0 ? plan.run(world, seen) : plan.run(world)); });
    CHECK(sentence == (world.size() > 1 ? "run: a trace is asked for on some ranks only" : ""));
}

TEST_CASE("vertices are told of in their order, and what is thrown there is that rank's failure") {
    ep::context world(MPI_COMM_WORLD);
    const chain graph;
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, graph.d);
    std::vector<std::string> begun;
    const int culprit = world.size() - 1;
    bool armed = false;
    world.on_vertex([&](std::size_t number, std::size_t count, const std::string& name) {
        begun.push_back(std::to_string(number) + "/" + std::to_string(count) + " " + name);
        if (armed && number == 2 && world.rank() == culprit) {
            throw std::runtime_error("enough");
        }
    });
    static_cast<void>(plan.run(world));
    CHECK(begun == std::vector<std::string>{"1/2 AB", "2/2 D"});
    armed = true;
    CHECK(sentence_of([&] { static_cast<void>(plan.run(world)); }) ==
          "run: vertex 'D', rank " + std::to_string(culprit) + ": enough");
    begun.clear();
    world.on_vertex(nullptr);
    static_cast<void>(plan.run(world));
    CHECK(begun.empty());
    world.on_vertex([&](std::size_t, std::size_t, const std::string&) { world.release_memory(); });
    ep::trace seen;
    CHECK(sentence_of([&] { static_cast<void>(plan.run(world, seen)); }) ==
          "run: vertex 'AB', rank 0: release_memory: this context is in a collective call already: sources, functors, "
          "callbacks and other threads must not make another");
    world.on_vertex(nullptr);
    static_cast<void>(plan.run(world, seen));
    CHECK(!seen.spans().empty());
    const ep::array<double, 2> other({1, 1});
    CHECK(!sentence_of([&] { static_cast<void>(plan.run(world, seen, ep::bind(graph.d, other))); }).empty());
    CHECK(seen.spans().empty());
}
