// Recorded einsums, statements and chains of them, run under every algorithm that applies on as many ranks as the
// program was started with, against scalar loops (oracle.hpp). The cases are written at build time by generate.cpp.
//
// EINPARALLEL_DIFFERENTIAL_CASES=N runs about N of them, from all parts: oversubscribed ranks busy-wait.
// EINPARALLEL_DIFFERENTIAL_DRAWS=N runs a case with at most N draws of extents and coefficients, others on other
// numbers of ranks. EINPARALLEL_TEST_PART=k/n runs every nth of them, from the kth on. Linked with CUDA all runs are on
// devices; with the stand-in for it in an order of streams that differs from run to run.

#include "coverage.hpp"
#include "deferred_ranks.hpp"
#include "profiled_bytes.hpp"

#include <doctest/doctest.h>
#include <einparallel.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/long_suite.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deferred_list.hpp"

#if defined(EINPARALLEL_TEST_STANDIN)
#include <cuda/standin.hpp>
#endif

using namespace differential;

// The handle's type does not matter to the planner, which asks it for its vertex: one type here spares the written
// units the planner, and has it compiled as the build says.
static ep::plan plan_for(const ep::context& world, const ep::options& asked,
                         const std::vector<std::shared_ptr<ep::vertex>>& outputs) {
    using handle = ep::tensor<double, 0>;
    return outputs.size() == 1 ? ep::decompose(world, asked, handle(outputs[0]))
                               : ep::decompose(world, asked, handle(outputs[0]), handle(outputs[1]));
}

ep::results differential::evaluated(ep::context& world, const std::shared_ptr<ep::vertex>& made) {
    return plan_for(world, {.objective = ep::objective::bytes}, {made}).run(world);
}

namespace {

/// doctest shows a pointer to characters as an address.
std::string describe(const test_case<deferred_room>& one, int draw, const std::string& truth) {
    return "case " + std::to_string(one.number) + ", draw " + std::to_string(draw) + ", " + one.written + " with " +
           one.extents + ", elements " + one.types + ", that is " + truth;
}

constexpr std::size_t most_bindings = 8;

template <std::size_t... Position>
ep::results run_with(const ep::plan& plan, ep::context& world, const std::vector<ep::binding>& bound,
                     std::index_sequence<Position...> /*all*/) {
#if defined(EINPARALLEL_TEST_STANDIN)
    static unsigned seed = 0;
    standin::restart({.seed = seed++ + static_cast<unsigned>(world.rank())});
#endif
#if defined(EINPARALLEL_HAS_CUDA)
    static unsigned number = 0;
    return plan.run(world, ep::device_run{.results_stay = ++number % 2 == 0}, bound[Position]...);
#else
    return plan.run(world, bound[Position]...);
#endif
}

/// plan.run() takes as many bindings as it is given; here their number is known at run time.
template <std::size_t Count = 0>
ep::results run(const ep::plan& plan, ep::context& world, const std::vector<ep::binding>& bound) {
    if constexpr (Count < most_bindings) {
        if (bound.size() > Count) {
            return run<Count + 1>(plan, world, bound);
        }
    }
    return run_with(plan, world, bound, std::make_index_sequence<Count>{});
}

/// Devices share no memory between ranks, and call functors of units for devices only.
#if defined(EINPARALLEL_HAS_CUDA)
constexpr bool is_on_device = true;
#else
constexpr bool is_on_device = false;
#endif

bool calls_functor(const ep::plan& plan, bool of_device) {
    return std::any_of(plan.vertices().begin(), plan.vertices().end(), [&](const ep::planned_vertex& each) {
        const ep::kernel* const work = each.origin->work.get();
        return work != nullptr && !work->replaces() && work->program().is_opaque() &&
               (work->on_device() != nullptr) == of_device;
    });
}

bool has(const std::vector<ep::label_id>& labels, ep::label_id label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string word_of(ep::algorithm kind) {
    return kind == ep::algorithm::c    ? "c"
           : kind == ep::algorithm::mn ? "mn"
           : kind == ep::algorithm::k  ? "k"
                                       : "master_worker";
}

/// What the plans of a case had in common with awkward shapes, to be counted once for each case.
struct awkwardness {
    bool uneven = false;  ///< blocks of different sizes
    bool tiny = false;    ///< an extent below the number of ranks
};

/// What a plan really does, vertex by vertex.
void count_plan(const ep::plan& plan, coverage& seen, awkwardness& of_case) {
    for (const ep::planned_vertex& each : plan.vertices()) {
        if (each.is_input()) {
            continue;
        }
        seen.count("vertex run as", word_of(each.algorithm));
        seen.count("vertex", "fell back to automatic", each.fell_back ? 1 : 0);
        seen.count("vertex", "on fewer ranks", each.work.ranks.size() < plan.processes() ? 1 : 0);
        const bool k_ring = each.work.travelling == ep::output_travels;
        seen.count("moved by", "m/n ring", each.work.travelling >= 0 ? 1 : 0);
        seen.count("moved by", "k ring", k_ring ? 1 : 0);
        seen.count("moved by", "reduction", each.work.output.replication() > 1 && !k_ring ? 1 : 0);
        for (std::size_t operand = 0; operand < each.work.operands.size(); ++operand) {
            const bool gathered = each.work.operands[operand].replication() > 1 && !each.work.travels(operand);
            seen.count("moved by", "gather", gathered ? 1 : 0);
            const ep::planned_vertex& made_by = plan.vertices()[each.inputs[operand]];
            const bool moves = !made_by.is_input() && made_by.resting != each.work.operands[operand];
            seen.count("moved by", "redistribution", moves ? 1 : 0);
        }
        int axes = 0;
        bool uneven = false;
        for (const ep::mesh_axis& axis : each.work.ranks.axes) {
            const auto label = static_cast<std::size_t>(axis.label);
            axes += axis.parts > 1 ? 1 : 0;
            uneven = uneven || each.work.extents[label] % axis.parts != 0;
            if (axis.parts > 1 && each.work.form.operands.size() == 2) {
                seen.count("label class cut", class_of(has(each.work.form.operands[0], axis.label),
                                                       has(each.work.form.operands[1], axis.label),
                                                       has(each.work.form.output, axis.label)));
            }
        }
        seen.count("vertex", "several axes", axes > 1 ? 1 : 0);
        seen.count("vertex", "uneven blocks", uneven ? 1 : 0);
        const bool tiny = std::any_of(each.work.extents.begin(), each.work.extents.end(),
                                      [&](ep::index extent) { return extent < plan.processes(); });
        seen.count("vertex", "an extent below p", tiny ? 1 : 0);
        of_case.uneven = of_case.uneven || uneven;
        of_case.tiny = of_case.tiny || tiny;
    }
}

std::vector<std::pair<std::string, ep::options>> trials(int number, int ranks) {
    std::vector<std::pair<std::string, ep::options>> all;
    const auto objective = [&](int turn) {
        return (number + turn) % 2 == 0 ? ep::objective::bytes : ep::objective::paper;
    };
    all.push_back({"automatic", {.objective = objective(0)}});
    if (ranks > 1) {
        all.push_back({"c", {.objective = objective(1), .algorithm = ep::algorithm::c}});
        all.push_back({"mn", {.objective = objective(0), .algorithm = ep::algorithm::mn}});
        all.push_back({"k", {.objective = objective(1), .algorithm = ep::algorithm::k}});
        all.push_back({"master_worker", {.objective = objective(0), .algorithm = ep::algorithm::master_worker}});
    }
    if (number % 4 == 0) {
        all.push_back({"linearized", {.objective = ep::objective::paper, .method = ep::method::linearized}});
    }
    if (number % 4 == 1 && (ranks & (ranks - 1)) == 0) {
        all.push_back({"powers of two", {.objective = objective(1), .powers_of_two = true}});
    }
    if (number % 4 == 2) {
        all.push_back({"time", {.objective = ep::objective::time}});
    }
    if (number % 4 == 3) {
        all.push_back(
            {"many runs", {.objective = number % 8 == 3 ? ep::objective::bytes : ep::objective::time, .runs = 100}});
    }
    for (auto& [name, asked] : all) {
        asked.effort = ep::testing::short_search;
    }
    return all;
}

/// Plans, runs, compares elements and bytes under all options that apply.
class trying {
public:
    explicit trying(coverage& seen) : seen_(seen) {}

    void operator()(deferred_ranks& room, const std::vector<std::shared_ptr<ep::vertex>>& outputs,
                    const deferred_ranks::comparison& compare) {
        ep::context& world = room.world();
        for (const auto& [name, asked] : trials(room.number(), world.size())) {
            const ep::plan plan = plan_for(world, asked, outputs);
            const auto applies = [](const ep::planned_vertex& each) { return !each.is_input() && !each.fell_back; };
            if (asked.algorithm != ep::algorithm::automatic &&
                std::none_of(plan.vertices().begin(), plan.vertices().end(), applies)) {
                seen_.count("asked for", name + " (applies nowhere)");
                continue;
            }
            if (is_on_device && calls_functor(plan, false)) {
                seen_.count("refused", "a functor");
                continue;
            }
            seen_.count("functors", "called on a device", calls_functor(plan, true) ? 1 : 0);
            seen_.count("asked for", name);
            count_plan(plan, seen_, awkward_);
            const int runs = asked.runs > 1 ? 3 : room.number() % 5 == 0 ? 2 : 1;
            const int rank = world.rank();
            for (int number = 0; number < runs; ++number) {
                seen_.count("runs", number == 0 ? "first" : "again");
                const std::size_t before = profiled_bytes();
                const ep::results made = run(plan, world, room.bindings());
                const std::size_t sent = profiled_bytes() - before;
                const std::size_t told = number == 0 ? plan.bytes_sent(rank) : plan.bytes_sent_again(rank);
                seen_.count("later runs", told < plan.bytes_sent(rank) ? "send less" : "send as much");
                std::string said = compare(made);
                if (made.bytes_sent() != told) {
                    said +=
                        " sent " + std::to_string(made.bytes_sent()) + " bytes, the plan says " + std::to_string(told);
                }
                if (is_profiled() && sent != made.bytes_sent() + made.extra_bytes_sent()) {
                    said += " MPI was given " + std::to_string(sent) + " bytes, the run says " +
                            std::to_string(made.bytes_sent()) + " and " + std::to_string(made.extra_bytes_sent());
                }
                if (!said.empty()) {
                    verdict_ += " [" + name + ", run " + std::to_string(number) + "] " + said;
                }
                bytes_ += made.bytes_sent();
            }
        }
        seen_.count("case", "with uneven blocks", awkward_.uneven ? 1 : 0);
        seen_.count("case", "with an extent below p", awkward_.tiny ? 1 : 0);
        finished_ = true;
    }

    [[nodiscard]] std::string verdict() const { return finished_ ? verdict_ : verdict_ + " not finished"; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    coverage& seen_;
    awkwardness awkward_;
    std::string verdict_;
    std::size_t bytes_ = 0;
    bool finished_ = false;
};

void require_all(coverage& seen, int ranks) {
    seen.require("kind", {"einsum", "statement", "several statements"});
    seen.require("operands", {"1", "2", "3", "4", "5", "6"});
    seen.require("rank of operand", {"0", "1", "2", "3", "4", "5", "6"});
    seen.require("type", {"double", "float", "complex<double>", "int", "bool", "float16", "bfloat16"});
    seen.require("label class", {"c", "m", "n", "k", "x_only", "y_only"});
    seen.require("input",
                 {"generate", "from_root", "bind array", "bind distributed", "from_distributed", "earlier result"});
    seen.require("vertex run as", {"c"});
    if (ranks > 1) {
        seen.require("vertex run as", {"mn", "k", "master_worker"});
        seen.require("label class cut", {"c", "m", "n", "k", "x_only", "y_only"});
        seen.require("moved by", {"m/n ring", "k ring", "gather", "reduction", "redistribution"});
        seen.require("case", {"with uneven blocks", "with an extent below p"});
        seen.require("vertex", {"uneven blocks", "an extent below p", "fell back to automatic"});
        seen.require("asked for", {"automatic", "c", "mn", "k", "master_worker", "linearized", "time", "many runs"});
    }
    if (ranks > 3) {
        seen.require("vertex", {"several axes"});
    }
#if defined(EINPARALLEL_TEST_STANDIN)
    seen.require("functors", {"called on a device"});
#endif
}

}  // namespace

TEST_CASE("recorded einsums, statements and chains agree with scalar loops under every algorithm that applies") {
    const auto start = std::chrono::steady_clock::now();
    ep::context world{MPI_COMM_WORLD};
    const char* const wanted_draws = std::getenv("EINPARALLEL_DIFFERENTIAL_DRAWS");
    const int most_draws = wanted_draws == nullptr ? 1000 : std::max(1, std::atoi(wanted_draws));
    int all = 0;
    for (const test_part<deferred_room>& part : deferred_parts()) {
        for (int number = 0; number < part.count; ++number) {
            all += std::min(part.first[number].draws, most_draws);
        }
    }
    const char* const wanted = std::getenv("EINPARALLEL_DIFFERENTIAL_CASES");
    const int some = wanted == nullptr ? all : std::max(1, std::min(std::atoi(wanted), all));
    int part = 1;
    int parts = 1;
    if (const char* const said = std::getenv("EINPARALLEL_TEST_PART"); said != nullptr) {
        REQUIRE(std::sscanf(said, "%d/%d", &part, &parts) == 2);
    }
    coverage seen;
    if (some == all) {
        require_all(seen, world.size());
        if (parts == 1) {
            seen.require_indices();
        }
    } else if (world.size() > 1) {
        seen.require("vertex run as", {"c", "mn", "k"});
    }

    static const char* const names[] = {"generate",         "from_root",        "bind array",
                                        "bind distributed", "from_distributed", "earlier result"};
    int position = 0;
    std::size_t bytes = 0;
    for (const test_part<deferred_room>& written : deferred_parts()) {
        for (int number = 0, draw = 0; number < written.count; ++position) {
            const test_case<deferred_room>& one = written.first[number];
            const int now = (draw + world.size()) % one.draws;
            draw = draw + 1 < std::min(one.draws, most_draws) ? draw + 1 : 0;
            number += draw == 0 ? 1 : 0;
            if (position * some / all == (position + 1) * some / all || position % parts + 1 != part) {
                continue;
            }
            trying tries(seen);
            std::string verdict;
            std::string truth = one.truth;
            try {
                deferred_ranks room(one, now, world, [&tries](auto&... arguments) { tries(arguments...); });
                truth = room.worked().truth;
                seen.count_case(truth, one.extents, one.types, one.notes);
                one.run(room);
                verdict = tries.verdict();
                for (const char kind : room.kinds()) {
                    seen.count("input", names[kind - '0']);
                }
            } catch (const std::exception& error) {
                verdict = tries.verdict() + ", threw: " + error.what();
            }
            bytes += tries.bytes();
            CHECK_MESSAGE(verdict.empty(), describe(one, now, truth), ": ", verdict);
        }
    }
    CHECK_MESSAGE(seen.missing().empty(), "not covered: ", seen.missing());
    if (some == all) {
        CHECK(seen.at("kind", "einsum") >= 300 / written_every / parts);
        CHECK(seen.at("kind", "at indices") >= 36 * std::min(most_draws, 18) / written_every / parts - 18);
    }
    CHECK((bytes > 0) == (world.size() > 1));
    if (world.rank() == 0) {
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::printf("deferred, %d ranks, compared with scalar loops (%zu bytes sent by rank 0, %.1f s):\n%s",
                    world.size(), bytes, seconds.count(), seen.table().c_str());
        std::fflush(stdout);
    }
}
