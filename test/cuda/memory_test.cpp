// What runs on devices need: foretold and counted; too little of it; memory of the application's.

#include <doctest/doctest.h>

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

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace memory_test {

namespace {

using device_runs::elements, device_runs::refused, device_runs::same_everywhere;

EINPARALLEL_LABELS(a, b, c, d, i, j, k);

template <class... Extents>
ep::tensor<double, sizeof...(Extents)> input(Extents... extents) {
    return ep::generate<double>({extents...}, [](auto... at) { return static_cast<double>((... + at) % 7 - 3); });
}

/// Plans with rings, sums over ranks, tensors that are transposed, several outputs, and something kept.
std::vector<ep::plan> plans(ep::context& world) {
    std::vector<ep::plan> made;
    ep::array<double, 2> on_one({23, 17});
    for (ep::index at = 0; at < on_one.size(); ++at) {
        on_one.data()[at] = static_cast<double>(at % 11 - 5);
    }
    for (const ep::algorithm wanted : {ep::algorithm::mn, ep::algorithm::k}) {
        ep::tensor<double, 2> Z;
        Z(i, k) = input(23, 17)(i, j) * input(17, 9)(j, k);
        made.push_back(ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = wanted}, Z.named("Z")));
    }
    ep::tensor<double, 4> T;
    ep::tensor<double, 2> S;
    ep::tensor<double, 1> R;
    T(a, b, c, d) = input(6, 5, 4, 7)(a, i, b, j) * input(5, 6, 7, 8)(i, c, j, d);
    S(d, a) = T(a, b, c, d);
    R(a) = ep::max(S(d, a));
    made.push_back(ep::decompose(world, {.objective = ep::objective::paper}, T.named("T"), R.named("R"), S.named("S")));
    made.push_back(ep::decompose(world, {.objective = ep::objective::paper, .runs = 5}, S.named("S")));
    ep::tensor<double, 2> D;  // the other ranks begin by receiving
    D(i, j) = ep::from_root(on_one, 0)(i, j) - 2.0 * ep::from_root(on_one, 0)(i, j);
    made.push_back(ep::decompose(world, {.objective = ep::objective::paper}, D.named("D")));
    ep::tensor<double, 0> M;
    M() = ep::max(input(300, 200)(i, j));
    made.push_back(ep::decompose(world, {.objective = ep::objective::paper}, M.named("M")));
    ep::tensor<double, 2> W;
    W(j, i) = softmax(j, input(24, 31)(i, j));
    made.push_back(ep::decompose(world, {.objective = ep::objective::bytes}, W.named("W")));
    return made;
}

}  // namespace

TEST_CASE("what a run on a device needs is what it is said to need") {
    standin::restart({.seed = 1});
    const std::size_t device = standin::allocated(), pinned = standin::pinned();
    std::size_t workspace = 0;
    for (const bool stay : {true, false}) {
        for (std::size_t number = 0; number < 7; ++number) {
            ep::context world(MPI_COMM_WORLD);
            const ep::plan plan = plans(world)[number];
            const ep::device_run how{.results_stay = stay};
            const ep::device_need need = ep::need_on_device(plan, world.rank(), how);
            CHECK(need.tensors == plan.peak_bytes(world.rank()));
            workspace += need.workspace;
            for (int run = 0; run < 2; ++run) {
                const ep::results made = plan.run(world, how);
                CHECK(standin::allocated() - device == need.on_device());
                CHECK(standin::pinned() - pinned == need.pinned);
            }
            world.release_memory();
            CHECK(standin::allocated() - device == need.products);
        }
        CHECK(standin::allocated() == device);
        CHECK(standin::pinned() == pinned);
    }
    CHECK(workspace > 0);
}

TEST_CASE("too little device memory is one sentence, with the vertex that needs most") {
    for (const std::size_t number : {std::size_t{0}, std::size_t{2}}) {
        for (const bool lacks_a_byte : {true, false}) {
            standin::restart({});
            ep::context world(MPI_COMM_WORLD);
            const ep::plan plan = plans(world)[number];
            const ep::device_need need = ep::need_on_device(plan, world.rank());
            const bool last = world.rank() == world.size() - 1;
            const std::size_t missing = !last ? 0 : lacks_a_byte ? 1 : need.tensors;
            standin::restart({.bytes = standin::allocated() + need.on_device() - missing});
            const std::string said =
                ep::testing::sentence_of([&] { static_cast<void>(plan.run(world, ep::on_device)); });
            CHECK_MESSAGE(said.starts_with("run: too little device memory: "), said);
            CHECK(said.find(" bytes are asked for, ") != std::string::npos);
            CHECK(said.find(" are free; vertex '") != std::string::npos);
            CHECK(said.find("' needs the most: ") != std::string::npos);
            CHECK((!last || said.find("vertex '" + need.vertex + "'") != std::string::npos));
            CHECK(same_everywhere(said));
            standin::restart({.bytes = standin::allocated() + need.on_device()});  // with enough it runs
            CHECK(ep::testing::sentence_of([&] { static_cast<void>(plan.run(world, ep::on_device)); }).empty());
        }
    }
}

namespace {

std::size_t taken = 0;
std::size_t calls = 0;
std::size_t most_taken = ~std::size_t{0};

void* take(std::size_t bytes, CUstream_st* stream) {
    CHECK(stream != nullptr);
    ++calls;
    void* made = nullptr;
    if (taken + bytes > most_taken) {
        return nullptr;
    }
    cudaMalloc(&made, bytes);
    // As cudaMallocAsync's: it may be touched when the stream has come here.
    standin::launch(stream, [=] { std::memset(made, 0xff, bytes); });
    taken += bytes;
    return made;
}

void give_back(void* memory, std::size_t bytes, CUstream_st* stream) {
    CHECK(stream != nullptr);
    taken -= bytes;
    cudaFree(memory);
}

}  // namespace

TEST_CASE("device memory comes from the application where it gives functions") {
    taken = calls = 0;
    const ep::device_run how{.results_stay = true, .allocate = &take, .release = &give_back};
    for (std::size_t number = 0; number < 6; ++number) {
        // The others receive into new memory first, in an order in which what arrives is copied before all else.
        const unsigned seed = number == 4 ? 8 : static_cast<unsigned>(number);
        standin::restart({.seed = seed});
        ep::context world(MPI_COMM_WORLD);
        const ep::plan plan = plans(world)[number];
        const ep::results there = plan.run(world, how);
        const ep::results here = plan.run(world);
        if (number == 2) {
            CHECK(elements(there.at<double, 4>(0).allgather()) == elements(here.at<double, 4>(0).allgather()));
        } else if (number == 5) {
            CHECK(elements(there.at<double, 0>(0).allgather()) == elements(here.at<double, 0>(0).allgather()));
        } else {
            CHECK(elements(there.at<double, 2>(0).allgather()) == elements(here.at<double, 2>(0).allgather()));
        }
        CHECK(taken == standin::allocated());
    }
    CHECK(taken == 0);
    {
        ep::context world(MPI_COMM_WORLD);
        const ep::plan again = plans(world)[0];
        ep::distributed<double, 2> kept = again.run(world, how);
        kept = again.run(world, how);
        const std::size_t before = calls;
        for (int step = 0; step < 3; ++step) {
            kept = again.run(world, how);
        }
        CHECK(calls == before);
        refused("device_run.release together",
                [&] { static_cast<void>(again.run(world, ep::device_run{.allocate = &take})); });
        most_taken = world.rank() == world.size() - 1 ? taken : ~std::size_t{0};
        refused("too little device memory", [&] { static_cast<void>(plans(world)[2].run(world, how)); });
        most_taken = ~std::size_t{0};
    }
    CHECK(taken == 0);
    standin::restart({});
}

}  // namespace memory_test
