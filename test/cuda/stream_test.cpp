// What a run does for the application around it: begins when its stream is done, calls its progress function.

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

#include "standin.hpp"
#include "support.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

namespace ep = einparallel;

namespace stream_test {

namespace {

EINPARALLEL_LABELS(i);

/// A stream of the application's, and doubles in its device memory and in its pinned memory.
struct application {
    ep::index count;
    cudaStream_t stream = nullptr;
    double* there = nullptr;
    double* pinned = nullptr;

    explicit application(ep::index many) : count(many) {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaMalloc(reinterpret_cast<void**>(&there), bytes);
        cudaHostAlloc(reinterpret_cast<void**>(&pinned), bytes, cudaHostAllocDefault);
    }
    application(const application&) = delete;
    application& operator=(const application&) = delete;
    ~application() {
        cudaStreamDestroy(stream);
        cudaFree(there);
        cudaFreeHost(pinned);
    }
    void fill(double device, double host) const {
        std::fill_n(there, count, device);
        std::fill_n(pinned, count, host);
    }
    /// Elements `begin` to `end` of `all` on this rank.
    [[nodiscard]] ep::distributed<double, 1> part(ep::context& world, ep::index all, ep::index begin,
                                                  ep::index end) const {
        return ep::device_view<double, 1>(begin < end ? there : nullptr, {end - begin})
            .distributed_over(world, {all}, {begin});
    }
};

bool all_are(double value, const double* begin, ep::index count) {
    return std::all_of(begin, begin + count, [&](double each) { return each == value; });
}

}  // namespace

TEST_CASE("a run begins when what the application has given to its stream is done, and keeps nothing of the stream") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const ep::index count = 6;
    const ep::index begin = count * world.rank() / world.size();
    const ep::index end = count * (world.rank() + 1) / world.size();
    const ep::tensor<double, 1> X = ep::placeholder<double>({count});
    ep::tensor<double, 1> Z;
    Z(i) = ep::abs(X(i));
    Z.pinned({{0, world.size()}});
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, Z);
    for (const ep::device_messages messages : {ep::device_messages::staged, ep::device_messages::direct}) {
        std::size_t allocated = 0;
        std::size_t handles = 0;
        for (unsigned seed = 0; seed < 24; ++seed) {
            standin::restart({.seed = seed + static_cast<unsigned>(world.rank())});
            const application source(count), target(count);
            const bool has_all = world.rank() == static_cast<int>(seed) % world.size();
            const ep::distributed<double, 1> from = source.part(world, count, 0, has_all ? count : 0);
            const ep::distributed<double, 1> to = target.part(world, count, begin, end);
            source.fill(1, -3);
            target.fill(5, 0);
            standin::launch(source.stream, [&] { std::copy_n(source.pinned, count, source.there); });
            standin::launch(source.stream, [&] { std::copy_n(target.there, count, target.pinned); });
            static_cast<void>(plan.run(world, ep::device_run{.stream = source.stream, .messages = messages},
                                       ep::bind(X, from), ep::into(Z, to)));
            CHECK(all_are(3, target.there, end - begin));
            cudaStreamSynchronize(source.stream);
            CHECK(all_are(5, target.pinned, count));
            CHECK(all_are(3, target.there, end - begin));
            CHECK((seed < 3 || allocated == standin::allocated()));
            CHECK((seed < 3 || handles == standin::handles()));
            allocated = standin::allocated();
            handles = standin::handles();
        }
    }
    standin::restart({});
}

TEST_CASE("the application's progress function is called between contractions, and may throw") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 1> X = ep::generate<double>({12}, [](auto row) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return static_cast<double>(row);
    });
    ep::tensor<double, 1> Y, Z;
    Y(i) = ep::abs(X(i));
    Z(i) = ep::exp(Y(i));
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, Y.named("Y"), Z);
    int calls = 0;
    const bool last = world.rank() == world.size() - 1;
    world.on_progress([&] { ++calls; });
    static_cast<void>(plan.run(world, ep::on_device));
    CHECK(calls > 0);
    world.on_progress([&] {
        if (last) {
            throw std::runtime_error("this function was told to throw");
        }
    });
    device_runs::refused("run: vertex 'Y', rank " + std::to_string(world.size() - 1) + ": this function was told to",
                         [&] { static_cast<void>(plan.run(world, ep::on_device)); });
    world.on_progress(nullptr);
    CHECK(ep::testing::sentence_of([&] { static_cast<void>(plan.run(world, ep::on_device)); }).empty());
}

}  // namespace stream_test
