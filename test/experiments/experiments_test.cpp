// Small instances of the experiments' graphs run and are right, planned by EinDecomp and by every rival.

#include "inputs.hpp"
#include "reference.hpp"
#include "small_graphs.hpp"

#include <einparallel/data/execute.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/run/context.hpp>

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace experiments;
namespace rivals = ep::rivals;

/// Plans to try: without a rule EinDecomp's own.
struct way {
    std::string name;
    ep::cutting_rule rule;
};
using ways = std::vector<way>;

template <class... Outputs>
ep::plan planned(const ep::context& world, const ep::cutting_rule& rule, const Outputs&... outputs) {
    // Every simulated rank plans, one after the other.
    const ep::options asked{.processes = world.size(), .objective = ep::objective::bytes, .effort = 400'000};
    return rule ? ep::plan_with(asked, rule, outputs...) : ep::decompose(asked, outputs...);
}

/// max |made − expected| / max |expected|. Collective.
template <std::size_t Rank>
double difference(const ep::results& run, const ep::tensor<double, Rank>& made, const row_major& expected) {
    const ep::array<double, Rank> values = run.get(made).allgather();
    if (static_cast<std::size_t>(values.size()) != expected.size()) {
        return 1;
    }
    double largest = 0;
    double worst = 0;
    for (std::size_t at = 0; at < expected.size(); ++at) {
        largest = std::max(largest, std::abs(expected[at]));
        worst = std::max(worst, std::abs(values.data()[at] - expected[at]));
    }
    return std::isnan(worst) || largest == 0 ? 1 : worst / largest;
}

/// Σ of an output times numbers("w"). Collective.
template <std::size_t Rank>
double weighted(const ep::results& run, const ep::tensor<double, Rank>& made) {
    const ep::array<double, Rank> values = run.get(made).allgather();
    double sum = 0;
    for (ep::index at = 0; at < values.size(); ++at) {
        std::array<ep::index, Rank> place{};
        for (ep::index dimension = Rank, rest = at; dimension-- > 0;) {
            const ep::index extent = values.extent(static_cast<std::size_t>(dimension));
            place[static_cast<std::size_t>(dimension)] = rest % extent;
            rest /= extent;
        }
        sum += values.data()[at] * std::apply(numbers("w"), place);
    }
    return sum;
}

void check_bytes(const ep::context& world, const ep::plan& plan, const ep::results& run) {
    CHECK(run.bytes_sent() == plan.bytes_sent(world.rank()));
}

}  // namespace

TEST_CASE("matrix chain") {
    ep::context world(MPI_COMM_WORLD);
    for (const matrix_chain_sizes& n : {square_chain(12), skewed_chain(20), matrix_chain_sizes{5, 3, 2, 7, 9}}) {
        const matrix_chain<double> graph = small_matrix_chain(n);
        const row_major expected = reference_chain(n);
        for (const way& each : ways{{"EinDecomp", {}}, {"sqrt", rivals::sqrt()}, {"rows", rivals::along("i")}}) {
            CAPTURE(each.name);
            const ep::plan plan = planned(world, each.rule, graph.Z);
            const ep::results run = plan.run(world);
            CHECK(difference(run, graph.Z, expected) < 1e-13);
            check_bytes(world, plan, run);
        }
    }
}

TEST_CASE("a training step of the classifier") {
    ep::context world(MPI_COMM_WORLD);
    const classifier_sizes n{6, 11, 5, 7};
    const classifier<double> graph = small_classifier(n);
    const classifier_reference expected = reference_classifier(n);
    for (const way& each : ways{{"EinDecomp", {}},
                                {"sqrt", rivals::sqrt()},
                                {"data parallel", rivals::data_parallel("b")},
                                {"model parallel", rivals::megatron({{"h"}, "", "b"})}}) {
        CAPTURE(each.name);
        const ep::plan plan = planned(world, each.rule, graph.loss, graph.dW1, graph.dW2);
        const ep::results run = plan.run(world);
        CHECK(difference(run, graph.loss, {expected.loss}) < 1e-12);
        CHECK(difference(run, graph.dW1, expected.dW1) < 1e-8);
        CHECK(difference(run, graph.dW2, expected.dW2) < 1e-8);
        check_bytes(world, plan, run);
    }
}

TEST_CASE("prefill of a small LLaMA") {
    ep::context world(MPI_COMM_WORLD);
    const llama_sizes n{3, 5, 2, 10, 4, 4, 9, 8};
    const llama<double> graph = small_llama(n);
    const row_major expected = reference_llama(n);
    const int pairs = world.size() % 2 == 0 ? 2 : 1;
    for (const way& each : ways{{"EinDecomp", {}},
                                {"sqrt", rivals::sqrt()},
                                {"data parallel", rivals::data_parallel("b")},
                                {"Megatron", rivals::megatron({{"h", "f", "v"}, "b", "s"})},
                                {"Megatron in pairs", rivals::megatron({{"h", "f", "v"}, "b", "s", pairs})},
                                {"sequence", rivals::sequence("s")},
                                {"attention heads", rivals::attention_heads("h", "b", "s")}}) {
        CAPTURE(each.name);
        const ep::plan plan = planned(world, each.rule, graph.logits);
        const ep::results run = plan.run(world);
        CHECK(difference(run, graph.logits, expected) < 1e-12);
        check_bytes(world, plan, run);
    }
}

TEST_CASE("an iteration of CCSD") {
    ep::context world(MPI_COMM_WORLD);
    const ccsd<double> graph = small_ccsd({3, 4});
    const ep::plan plan = planned(world, {}, graph.t1, graph.t2, graph.E);
    const ep::results run = plan.run(world);
    // PySCF 2.14, pyscf.cc.rccsd.update_amps() and energy(), with the same numbers.
    CHECK(run.get(graph.E).allgather().value() == doctest::Approx(14.4693035647629).epsilon(1e-12));
    CHECK(weighted(run, graph.t1) == doctest::Approx(-1.66199585633213).epsilon(1e-12));
    CHECK(weighted(run, graph.t2) == doctest::Approx(0.49295180356894).epsilon(1e-12));
    check_bytes(world, plan, run);
}
