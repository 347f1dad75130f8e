// Traces of runs on devices: work with the device's times, copies out and in on lanes of their own.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/on_device.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/schedule/program.hpp>

#include <support/json.hpp>

#include "standin.hpp"
#include "support.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace ep = einparallel;

namespace trace_test {

TEST_CASE("a trace of a run on devices has lanes for work, messages, and copies out and in") {
    EINPARALLEL_LABELS(i, j, k);
    for (const ep::algorithm wanted : {ep::algorithm::mn, ep::algorithm::k}) {
        for (unsigned seed = 0; seed < 3; ++seed) {
            standin::restart({.seed = seed});
            ep::context world(MPI_COMM_WORLD);
            const auto input = [](ep::index rows, ep::index columns) {
                return ep::generate<double>({rows, columns}, [](auto... at) { return double((... + at) % 5); });
            };
            ep::tensor<double, 2> Y, Z;
            Y(i, k) = input(24, 18)(i, j) * input(18, 12)(j, k);
            Z(i, k) = ep::tanh(Y(i, k));
            const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = wanted}, Z);
            static_cast<void>(plan.run(world, ep::on_device));
            CHECK(standin::timed_events() == 0);
            ep::trace seen;
            for (const bool stays : {false, true}) {
                const ep::device_run how{.results_stay = stays};
                const ep::distributed<double, 2> made = plan.run(world, how, seen);
                CHECK(device_runs::elements(made.allgather()) ==
                      device_runs::elements(ep::distributed<double, 2>(plan.run(world)).allgather()));
                for (int rank = 0; rank < world.size(); ++rank) {
                    std::size_t calls = 0, reads = 0;
                    for (const ep::step& each : plan.program_of(rank).steps) {
                        for (const ep::action& done : each.work) {
                            calls += std::holds_alternative<ep::contraction>(done) ? 1 : 0;
                        }
                    }
                    double end = 0;
                    std::size_t contracted = 0, out = 0, in = 0, sent = 0;
                    std::vector<ep::trace_span> work;
                    for (const ep::trace_span& each : seen.spans()) {
                        if (each.rank != rank) {
                            continue;
                        }
                        CHECK(each.begin <= each.end);
                        contracted += each.what == ep::activity::contract ? 1 : 0;
                        reads += each.what == ep::activity::read ? 1 : 0;
                        const auto bytes = static_cast<std::size_t>(each.bytes);
                        out += each.what == ep::activity::copy_out ? bytes : 0;
                        in += each.what == ep::activity::copy_in ? bytes : 0;
                        sent += each.what == ep::activity::transfer ? bytes : 0;
                        if (each.what < ep::activity::read) {
                            CHECK(each.begin >= end - 1e-9);  // one after the other
                            end = each.end;
                            work.push_back(each);
                        }
                    }
                    CHECK(contracted == calls);
                    CHECK(sent == plan.bytes_sent(rank));
                    const auto here = static_cast<std::size_t>(made.where().held_by(rank).size()) * sizeof(double);
                    CHECK(out == sent + (stays ? 0 : here));
                    CHECK((in > 0) == (reads > 0 || world.size() > 1));
                    for (const ep::trace_span& waited : seen.spans()) {
                        const auto lies_in = [&](const ep::trace_span& each) {
                            return each.rank == rank && each.what == ep::activity::transfer &&
                                   waited.begin >= each.begin && waited.end <= each.end;
                        };
                        const auto meets = [&](const ep::trace_span& each) {
                            return waited.begin < each.end - 1e-9 && each.begin + 1e-9 < waited.end;
                        };
                        const bool is_wait = waited.rank == rank && waited.what == ep::activity::wait;
                        CHECK((!is_wait || std::ranges::any_of(seen.spans(), lies_in)));
                        CHECK((!is_wait || std::ranges::none_of(work, meets)));
                    }
                }
                std::set<std::string> lanes;
                const auto parsed = ep::testing::json::parse(seen.to_json());
                for (const auto& event : parsed["traceEvents"].items()) {
                    if (event["name"].text() == "thread_name") {
                        lanes.insert(event["args"]["name"].text());
                    }
                }
                CHECK(lanes == std::set<std::string>{"arithmetic", "transfer", "waiting", "copies out", "copies in"});
                CHECK(seen.summary().find("% hidden") != std::string::npos);
            }
            standin::restart({.seed = seed});
            static_cast<void>(plan.run(world, ep::on_device));
            CHECK(standin::timed_events() == 0);
        }
    }
    standin::restart({});
}

TEST_CASE("the device's times in a trace begin when the work before the run is done") {
    EINPARALLEL_LABELS(i, j, k);
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A = ep::generate<double>({8, 8}, [](auto... at) { return double((... + at)); });
    ep::tensor<double, 2> Z;
    Z(i, k) = A(i, j) * A(j, k);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, Z);
    cudaStream_t mine = nullptr;
    cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
    constexpr double seconds = 0.02;
    standin::launch(mine, [=] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
    ep::trace seen;
    static_cast<void>(plan.run(world, ep::device_run{.stream = mine}, seen));
    for (const ep::trace_span& each : seen.spans()) {
        CHECK((each.what != ep::activity::contract || each.begin >= seconds / 2));
    }
    cudaStreamDestroy(mine);
}

TEST_CASE("a run that fails leaves nothing for the next trace") {
    EINPARALLEL_LABELS(i, j, k);
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A = ep::generate<double>({8, 8}, [](auto... at) { return double((... + at)); });
    ep::tensor<double, 2> Z;
    Z(i, k) = A(i, j) * A(j, k);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, Z);
    ep::trace seen;
    if (world.rank() == world.size() - 1) {
        standin::fail("cudaEventElapsedTime", 2, cudaErrorIllegalAddress);
    }
    device_runs::refused("cudaEventElapsedTime failed on the device",
                         [&] { static_cast<void>(plan.run(world, ep::on_device, seen)); });
    standin::restart({});
    static_cast<void>(plan.run(world, ep::on_device));
    CHECK(standin::timed_events() == 0);
}

}  // namespace trace_test
