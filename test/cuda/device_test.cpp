// With CUDA's own runtime: on a machine with a GPU results are the host's; on one without, all ranks say so.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include "functor_results.hpp"
#include "functors.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

namespace ep = einparallel;

namespace device_test {

EINPARALLEL_LABELS(i, j, k);

/// f(); without a device it throws a sentence that says so.
template <class F>
void where_there_is_a_device(int rank, const F& f) {
    try {
        f();
    } catch (const ep::error& none) {
        const std::string words = none.what();
        CHECK(words.starts_with("run: "));
        const bool is_none = words.find("there is no CUDA device here") != std::string::npos ||
                             words.find("the driver of the device is for CUDA") != std::string::npos;
        CHECK_MESSAGE(is_none, words);
        if (rank == 0) {
            std::printf("no run on a device: %s\n", words.c_str());
        }
    }
}

TEST_CASE("a run on devices gives what the host does, or says that there is no device") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A = ep::generate<double>(
        {70, 90}, [](auto row, auto column) { return static_cast<double>((3 * row + 5 * column) % 7); });
    const ep::tensor<double, 2> B = ep::generate<double>(
        {90, 50}, [](auto row, auto column) { return static_cast<double>((2 * row + column) % 5); });
    ep::tensor<double, 2> C, Z;
    C(i, k) = A(i, j) * B(j, k);
    Z(k, i) = ep::tanh(0.01 * C(i, k));
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, C, Z);
    where_there_is_a_device(world.rank(), [&] {
        const ep::results there = plan.run(world, ep::on_device);
        const ep::results here = plan.run(world);
        const ep::array<double, 2> c = there.get(C).allgather(), z = there.get(Z).allgather();
        const ep::array<double, 2> c0 = here.get(C).allgather(), z0 = here.get(Z).allgather();
        for (ep::index at = 0; at < c.size(); ++at) {
            CHECK(c.data()[at] == c0.data()[at]);
            CHECK(std::abs(z.data()[at] - z0.data()[at]) < 1e-14);
        }
    });
}

TEST_CASE("functors of a unit that nvcc compiles run there") {
    ep::context world(MPI_COMM_WORLD);
    for (const functor_test::recorded& each : functor_test::recorded_for_devices(140, 9)) {
        CHECK(each.made->work->on_device() != nullptr);
        const ep::plan plan = ep::decompose(world, ep::tensor<double, 0>(each.made));
        where_there_is_a_device(world.rank(), [&] {
            const ep::results there = plan.run(world, ep::on_device);
            const ep::results here = plan.run(world);
            CHECK_MESSAGE(functor_test::distance(each, there, here) < 1e-6, each.name);
        });
    }
}

}  // namespace device_test
