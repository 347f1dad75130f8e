// What goes wrong on one rank becomes the same sentence on all, and the next run is as if nothing had been.

#include <doctest/doctest.h>

#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>

#include <support/graphs.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace failure_test {

namespace {

/// Host memory that runs out on the last rank.
struct scarce_space final : ep::host_space {
    static inline bool exhausted = false;

    [[nodiscard]] void* allocate(std::size_t bytes) const override {
        if (exhausted) {
            throw std::bad_alloc();
        }
        return ep::host_space::allocate(bytes);
    }
};
const scarce_space scarce;

}  // namespace

TEST_CASE("a source or a kernel that throws on one rank only") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
        const ep::index extent = 2 * world.size();  // so that few ranks are idle
        const product graph(extent, extent, extent);
        const ep::plan plan = ep::decompose(
            {.processes = world.size(), .objective = ep::objective::bytes, .algorithm = forced}, graph.handle());
        const int culprit = plan.vertices().back().work.ranks.size() - 1;  // the last one that computes
        const bool here = world.rank() == culprit;
        graph.b_source->throws = here;
        const std::string of_source = sentence_of([&] { ep::execute(plan, world); });
        CHECK(of_source == "run: vertex 'B', rank " + std::to_string(culprit) + ": this source was told to throw");
        graph.b_source->throws = false;
        graph.work->throws = here;
        const std::string of_kernel = sentence_of([&] { ep::execute(plan, world); });
        CHECK(of_kernel == "run: vertex 'Z', rank " + std::to_string(culprit) + ": this kernel was told to throw");
        graph.a_source->throws = true;  // everywhere: the lowest rank speaks
        const std::string of_all = sentence_of([&] { ep::execute(plan, world); });
        CHECK(of_all == "run: vertex 'A', rank 0: this source was told to throw");
        graph.a_source->throws = false;
        graph.work->throws = false;
        CHECK(wrong_elements(ep::execute(plan, world), 0, *graph.z) == 0);
    }
}

TEST_CASE("a source that runs a plan on the context that is reading it") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(2 * world.size(), 6, 6);
    const ep::plan inner = ep::decompose({.processes = world.size()}, graph.handle());
    const bool here = world.rank() == 0;  // the others would wait for it, or for nothing
    const ep::tensor<double, 1> nested = ep::generate<double>({2 * world.size()}, [&](auto i) {
        if (here) {
            static_cast<void>(inner.run(world));
        }
        return static_cast<double>(i);
    });
    CHECK(sentence_of([&] {
              static_cast<void>(ep::evaluate(world, {.objective = ep::objective::bytes}, nested));
          }).find("rank 0: run: this context is in a collective call already") != std::string::npos);
    CHECK(wrong_elements(ep::execute(inner, world), 0, *graph.z) == 0);
}

TEST_CASE("memory that runs out on one rank, before anything has moved") {
    ep::context world(MPI_COMM_WORLD);
    const int culprit = world.size() - 1;
    const product graph(2 * world.size(), 7, 8);
    const ep::plan plan = ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, graph.handle());
    scarce_space::exhausted = world.rank() == culprit;
    const std::string sentence = sentence_of([&] { ep::detail::carry_out(plan, world, {}, scarce); });
    CHECK(sentence == "run: rank " + std::to_string(culprit) + ": out of memory");
    CHECK(graph.work->calls == 0);
    scarce_space::exhausted = false;
    CHECK(wrong_elements(ep::detail::carry_out(plan, world, {}, scarce), 0, *graph.z) == 0);
}

TEST_CASE("placeholders: unbound, bound twice, bound to the wrong thing, bound on some ranks only") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> X(
        input_vertex({4, 6}, std::make_shared<ep::detail::function_source>("placeholder"), "X"));
    const ep::tensor<double, 2> other(
        input_vertex({4, 6}, std::make_shared<ep::detail::function_source>("placeholder"), "W"));
    const ep::einsum_form form{{"i", "j"}, {{0, 1}}, {1}};
    const auto Z = einsum_vertex(form, {4, 6}, {X.node()},
                                 std::make_shared<told_kernel>(played_operators::sum_of_products, 1), "Z");
    const ep::plan plan = ep::decompose_vertices({.processes = world.size(), .objective = ep::objective::bytes}, {Z});
    const ep::array<double, 2> good({4, 6});
    const ep::array<double, 2> short_one({4, 5});
    const bool last = world.rank() == world.size() - 1;
    const std::string on_last = world.size() == 1 ? "" : " (on rank " + std::to_string(world.size() - 1) + ")";

    CHECK(sentence_of([&] { ep::execute(plan, world); }) == "run: no value is bound to placeholder 'X'");
    CHECK(sentence_of([&] { ep::execute(plan, world, ep::bind(X, good), ep::bind(X, good)); }) ==
          "run: two values are bound to placeholder 'X'");
    CHECK(sentence_of([&] { ep::execute(plan, world, ep::bind(X, good), ep::bind(other, good)); }) ==
          "run: a value is bound to 'W', which is no placeholder of this plan");
    CHECK(sentence_of([&] { ep::execute(plan, world, ep::bind(X, last ? short_one : good)); }) ==
          "run: the value bound to placeholder 'X' does not fit: the value is double, 4 x 5; the placeholder is "
          "double, 4 x 6" +
              on_last);
    CHECK(sentence_of([&] { last ? ep::execute(plan, world) : ep::execute(plan, world, ep::bind(X, good)); }) ==
          "run: no value is bound to placeholder 'X'" + on_last);
    ep::binding wrong_type = ep::bind(X, good);
    wrong_type.value->element = ep::element_type_of<float>();
    CHECK(
        sentence_of([&] { ep::execute(plan, world, wrong_type); }) ==
        "run: the value bound to placeholder 'X' does not fit: the value is float, 4 x 6; the placeholder is double, 4 "
        "x 6");

    // An array here, a distributed tensor there: refused before anybody waits for a message.
    std::mt19937 random(4);
    const auto values = small_integers({4, 6}, random);
    const auto part = part_of(*values, random_slabs({4, 6}, world.size(), random), world);
    const ep::distributed<double, 2> spread(part->part);
    const std::string mixed =
        sentence_of([&] { ep::execute(plan, world, last ? ep::bind(X, spread) : ep::bind(X, good)); });
    CHECK(mixed == (world.size() > 1
                        ? "run: what is bound to placeholder 'X', or where it rests, is not the same on all ranks"
                        : ""));
    CHECK(sentence_of([&] { ep::execute(plan, world, ep::bind(X, last ? ep::distributed<double, 2>() : spread)); }) ==
          "run: the value bound to placeholder 'X' is an empty handle" + on_last);
    CHECK(sentence_of([&] { ep::execute(plan, world, ep::bind(X, good)); }).empty());
}

TEST_CASE("plans that do not fit the context or each other") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(6, 6, 6);
    const ep::plan larger = ep::decompose({.processes = world.size() + 1}, graph.handle());
    CHECK(sentence_of([&] { ep::execute(larger, world); }) ==
          "run: the plan is for " + std::to_string(world.size() + 1) + " ranks, the context has " +
              std::to_string(world.size()) + ": start the program on as many (mpiexec -n " +
              std::to_string(world.size() + 1) + "), or plan with ep::decompose(world, …), which counts them");

    const product other(7, 6, 6);
    const bool last = world.rank() == world.size() - 1;
    const ep::plan plan = ep::decompose({.processes = world.size(), .objective = ep::objective::bytes},
                                        last ? other.handle() : graph.handle());
    const std::string sentence = sentence_of([&] { ep::execute(plan, world); });
    CHECK(sentence == (world.size() > 1 ? "run: the plan is not the same on all ranks" : ""));
}

TEST_CASE("plans that are cut alike, and run otherwise on one rank") {
    ep::context world(MPI_COMM_WORLD);
    const bool last = world.rank() == world.size() - 1;
    const ep::tensor<double, 2> X(
        input_vertex({6, 6}, std::make_shared<ep::detail::function_source>("placeholder"), "X"));
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(X, X);
    const ep::array<double, 2> value({6, 6});
    ep::options checking{.processes = world.size(), .objective = ep::objective::bytes};
    checking.check_inputs = last;  // a comparison that the others take no part in
    ep::options limited{.processes = world.size(), .objective = ep::objective::bytes};
    limited.memory_limit = last ? std::size_t{1} << 40U : 0;  // messages that are packed on the others, in other phases
    for (const ep::options& asked : {checking, limited}) {
        const ep::plan plan = ep::decompose(asked, Z);
        CHECK(sentence_of([&] { ep::execute(plan, world, ep::bind(X, value)); }) ==
              (world.size() > 1 ? "run: the plan is not the same on all ranks" : ""));
    }
}

TEST_CASE("results say what they do not have") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(6, 6, 6);
    const ep::plan plan = ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, graph.handle(),
                                        ep::tensor<double, 2>(graph.A));
    const ep::results made = ep::execute(plan, world);
    CHECK(made.size() == 2);
    CHECK(made.get(graph.handle()).extents()[0] == 6);
    CHECK(sentence_of([&] { static_cast<void>(made.get(ep::tensor<double, 2>(graph.B))); }) ==
          "results: 'B' is not an output of the plan that ran");
    CHECK(sentence_of([&] { static_cast<void>(made.get(ep::tensor<double, 2>())); }) ==
          "results: this tensor is not an output of the plan that ran");
    CHECK(sentence_of([&] { const ep::distributed<double, 2> one = made; }) ==
          "results: the plan has 2 outputs, choose one with get()");
    CHECK(sentence_of([&] { static_cast<void>(made.at<float, 2>(0)); }) ==
          "results: the output has elements of type double, not float");
    CHECK(sentence_of([&] { static_cast<void>(made.at<double, 3>(0)); }) ==
          "results: the output has 2 dimensions, not 3");
    CHECK(sentence_of([&] { static_cast<void>(made.at<double, 2>(2)); }) ==
          "results: there is no output 2, the plan has 2");
}

}  // namespace failure_test
