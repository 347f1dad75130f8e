// Calls of CUDA that fail, one after the other: all ranks say the same, nothing is lost, and the next run is right.

#include <doctest/doctest.h>

#include <einparallel/data/device_view.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/on_device.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/run/trace.hpp>

#include "standin.hpp"
#include "support.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace failure_test {

namespace {

using device_runs::anywhere, device_runs::elements, device_runs::refused, device_runs::same_everywhere,
    ep::testing::sentence_of;

EINPARALLEL_LABELS(a, b, c, d, i, j, k);

constexpr std::array calls{"cudaGetDevice",
                           "cudaSetDevice",
                           "cudaMalloc",
                           "cudaHostAlloc",
                           "cudaMemGetInfo",
                           "cudaPointerGetAttributes",
                           "cudaStreamIsCapturing",
                           "cudaStreamCreateWithFlags",
                           "cudaStreamWaitEvent",
                           "cudaEventCreateWithFlags",
                           "cudaEventRecord",
                           "cudaEventQuery",
                           "cudaEventSynchronize",
                           "cudaMemcpyAsync",
                           "cudaEventElapsedTime",
                           "launch",
                           "gemm",
                           "cublasCreate",
                           "cublasSetStream",
                           "cublasSetWorkspace"};

/// X -> Z by a ring, a product with transpositions, and a map.
struct work {
    ep::array<double, 2> x{{11, 6}};
    ep::tensor<double, 2> X = ep::placeholder<double>({11, 6});
    ep::tensor<double, 2> Z;
    std::vector<double> expected;

    work() {
        const auto number = [](auto... at) { return static_cast<double>((... + at) % 7 - 3); };
        for (ep::index at = 0; at < x.size(); ++at) {
            x.data()[at] = static_cast<double>(at % 9 - 4);
        }
        const ep::tensor<double, 4> A = ep::generate<double>({2, 6, 3, 4}, number);
        const ep::tensor<double, 2> B = ep::from_root(x, 0);
        ep::tensor<double, 3> Y;
        Y(c, i, b) = X(i, a) * A(k, a, b, c);
        Z(i, c) = ep::abs(Y(c, i, b)) + ep::sum(X(i, j) * B(i, j));
    }
    [[nodiscard]] ep::plan plan(ep::context& world) const {
        return ep::decompose(world, {.objective = ep::objective::paper}, Z);
    }
};

}  // namespace

TEST_CASE("whichever call fails, all ranks say the same, and the next run is right") {
    standin::restart({});
    ep::context host(MPI_COMM_WORLD);
    const work of;
    const std::vector<double> expected =
        elements(ep::distributed<double, 2>(of.plan(host).run(host, ep::bind(of.X, of.x))).allgather());
    const std::size_t allocated = standin::allocated(), pinned = standin::pinned(), handles = standin::handles();
    std::size_t failed = 0;
    for (const char* const call : calls) {
        for (const bool sticks : {false, true}) {
            bool reached = true;
            // On more ranks than cores each call takes long: every one of them there, but fewer of its places.
            for (int number = 1; reached; number += 1 + (host.size() < 3 ? number / 3 : 4 * number)) {
                {
                    standin::restart({.seed = static_cast<unsigned>(number), .devices = 2});
                    ep::context world(MPI_COMM_WORLD);
                    const ep::plan plan = of.plan(world);
                    const bool traced = number % 2 == 1;
                    const ep::device_run how{.device = 1, .results_stay = number % 4 == 1};
                    ep::trace seen;
                    const auto run = [&] {
                        return ep::distributed<double, 2>(traced ? plan.run(world, how, seen, ep::bind(of.X, of.x))
                                                                 : plan.run(world, how, ep::bind(of.X, of.x)));
                    };
                    const bool later = number % 3 == 0;  // in a run that is not the first
                    if (later) {
                        CHECK(sentence_of([&] { static_cast<void>(run()); }).empty());
                    }
                    if (world.rank() == world.size() - 1) {
                        standin::fail(call, number, cudaErrorIllegalAddress, sticks);
                    }
                    const std::string said = sentence_of([&] { static_cast<void>(run()); });
                    reached = anywhere(world.rank() == world.size() - 1 && standin::has_failed());
                    CHECK_MESSAGE(same_everywhere(said), call, " number ", number, ": ", said);
                    const bool is_fit = said.find("device") != std::string::npos && said.starts_with("run: ");
                    CHECK_MESSAGE((said.empty() || is_fit), call, " number ", number, ": ", said);
                    failed += said.empty() ? 0 : 1;
                    int current = -1;
                    static_cast<void>(cudaGetDevice(&current));
                    CHECK_MESSAGE((current == 0 || sticks || call == calls[1]), call, " number ", number);
                    standin::restart({.seed = static_cast<unsigned>(number), .devices = 2});
                    CHECK_MESSAGE(elements(run().allgather()) == expected, call, " number ", number);
                }
                CHECK_MESSAGE(standin::allocated() == allocated, call, " number ", number);
                CHECK_MESSAGE(standin::pinned() == pinned, call, " number ", number);
                CHECK_MESSAGE(standin::handles() == handles, call, " number ", number);
            }
        }
    }
    CHECK(failed > (host.size() < 3 ? 100 : 50));
    standin::restart({});
}

TEST_CASE("a run for which device memory runs out leaves what there was, and others run") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const auto largest_of = [&](ep::index rows, ep::index columns) {
        ep::tensor<double, 0> largest;
        largest() = ep::max(ep::generate<double>(
            {rows, columns}, [](auto row, auto column) { return static_cast<double>(7 * row + column); })(i, j));
        return ep::decompose(world, {.objective = ep::objective::paper}, largest);
    };
    const ep::device_run stays{.results_stay = true};
    const ep::plan small = largest_of(200, 300);
    const ep::plan large = largest_of(600, 300);  // with more workspace, too
    const std::size_t workspace = ep::need_on_device(small, 0).workspace;
    CHECK(workspace > 0);
    CHECK(ep::need_on_device(large, 0).workspace > workspace);
    const ep::distributed<double, 0> kept = small.run(world, stays);
    const auto is_there = [](const ep::distributed<double, 0>& result) { return *result.allgather().data() == 1692; };
    CHECK(is_there(kept));
    const bool last = world.rank() == world.size() - 1;
    for (const std::size_t room : {std::size_t{0}, workspace, 2 * workspace, std::size_t{1} << 16}) {
        if (last) {
            standin::restart({.bytes = standin::allocated() + room});
        }
        refused("run: too little device memory: ", [&] { static_cast<void>(large.run(world, stays)); });
        CHECK(is_there(kept));
        standin::restart({});
        CHECK(is_there(small.run(world, stays)));
    }
    CHECK(*ep::distributed<double, 0>(large.run(world, stays)).allgather().data() == 4492);
    CHECK(is_there(kept));
}

TEST_CASE("runs again and again take no more memory, streams or events") {
    standin::restart({.seed = 4});
    ep::context world(MPI_COMM_WORLD);
    const work of;
    const ep::plan plan = of.plan(world);
    std::size_t allocated = 0, pinned = 0, handles = 0;
    ep::distributed<double, 2> kept;
    for (int step = 0; step < 12; ++step) {
        const ep::device_run how{.results_stay = step % 2 == 0};
        kept = plan.run(world, how, ep::bind(of.X, of.x));
        if (step >= 4) {
            CHECK(standin::allocated() == allocated);
            CHECK(standin::pinned() == pinned);
            CHECK(standin::handles() == handles);
        }
        allocated = standin::allocated();
        pinned = standin::pinned();
        handles = standin::handles();
    }
    standin::restart({});
}

TEST_CASE("a memory limit counts what a device needs besides tensors") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const work of;
    const auto with = [&](std::size_t limit) {
        return ep::decompose(world, {.objective = ep::objective::paper, .memory_limit = limit}, of.Z);
    };
    std::size_t most = ep::need_on_device(with(std::size_t{1} << 40), world.rank()).on_device();
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    const auto is_prepared = [&](const ep::plan& plan) {
        return ep::detail::is_prepared(*world.state(), *world.state()->spaces.back(), plan);
    };
    const ep::plan enough = with(most);
    const std::vector<double> expected =
        elements(ep::distributed<double, 2>(enough.run(world, ep::on_device, ep::bind(of.X, of.x))).allgather());
    CHECK(is_prepared(enough));  // later runs do not count it again
    CHECK(elements(ep::distributed<double, 2>(of.plan(world).run(world, ep::bind(of.X, of.x))).allgather()) ==
          expected);
    const ep::plan limited = with(most - 1);
    refused(" bytes of device memory, ",
            [&] { static_cast<void>(limited.run(world, ep::on_device, ep::bind(of.X, of.x))); });
    CHECK(!is_prepared(limited));
    refused("options.memory_limit is " + std::to_string(most - 1),
            [&] { static_cast<void>(limited.run(world, ep::on_device, ep::bind(of.X, of.x))); });
    CHECK(elements(ep::distributed<double, 2>(limited.run(world, ep::bind(of.X, of.x))).allgather()) == expected);
}

}  // namespace failure_test
