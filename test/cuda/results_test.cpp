// Results that stay on the device, and results written to device memory of the application's.

#include <doctest/doctest.h>

#include <einparallel/cuda/memory.hpp>
#include <einparallel/data/device_view.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/files/save.hpp>
#include <einparallel/data/on_device.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/run/decompose.hpp>

#include "standin.hpp"
#include "support.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace results_test {

namespace {

using device_runs::anywhere, device_runs::elements, device_runs::refused;

EINPARALLEL_LABELS(i, j, k);

constexpr ep::device_run stays{.results_stay = true};
constexpr ep::device_run straight{.messages = ep::device_messages::direct, .results_stay = true};
constexpr ep::index rows = 13;
constexpr ep::index columns = 6;

/// Device memory of the application's.
struct device_doubles {
    double* data = nullptr;

    explicit device_doubles(ep::index count) {
        cudaMalloc(reinterpret_cast<void**>(&data), static_cast<std::size_t>(count) * sizeof(double));
    }
    device_doubles(const device_doubles&) = delete;
    device_doubles& operator=(const device_doubles&) = delete;
    ~device_doubles() { cudaFree(data); }
};

/// X -> Z, rows of both on the same ranks.
struct iteration {
    ep::context world{MPI_COMM_WORLD};
    ep::array<double, 2> x{{rows, columns}};
    ep::tensor<double, 2> X = ep::placeholder<double>({rows, columns});
    ep::tensor<double, 1> Y;
    ep::tensor<double, 2> Z;

    iteration() {
        for (ep::index at = 0; at < x.size(); ++at) {
            x.data()[at] = static_cast<double>(at % 9 - 4) / 8;
        }
        Y(i) = X(i, j) * X(i, j);
        Z(i, k) = ep::tanh(X(i, k) + Y(i));
        Z.pinned({{0, world.size()}});
        Y.pinned({{0, world.size()}});
        X.pinned({{0, world.size()}});
    }
    [[nodiscard]] ep::plan plan(std::size_t runs = 1) {
        return ep::decompose(world, {.objective = ep::objective::paper, .runs = runs}, Z);
    }
    /// The host's result of one step.
    [[nodiscard]] std::vector<double> expected(const ep::array<double, 2>& from) {
        return elements(ep::distributed<double, 2>(plan().run(world, ep::bind(X, from))).allgather());
    }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double most = a.size() == b.size() ? 0 : 1;
    for (std::size_t at = 0; at < a.size() && most < 1; ++at) {
        most = std::isnan(a[at]) ? 1 : std::max(most, std::abs(a[at] - b[at]));
    }
    return most;
}

}  // namespace

TEST_CASE("an iteration whose tensor stays on the device copies nothing to or from the host") {
    for (unsigned seed = 0; seed < 3; ++seed) {
        standin::restart({.seed = seed});
        iteration of;
        const ep::plan plan = of.plan();
        std::vector<double> expected = of.expected(of.x);
        ep::distributed<double, 2> z = plan.run(of.world, stays, ep::bind(of.X, of.x));
        std::size_t allocations = 0;
        for (int step = 0; step < 4; ++step) {
            CHECK(largest_difference(elements(z.allgather()), expected) < 1e-15);
            ep::array<double, 2> from({rows, columns});
            std::copy(expected.begin(), expected.end(), from.data());
            expected = of.expected(from);
            const std::size_t crossed = standin::crossed();
            const ep::results made = plan.run(of.world, stays, ep::bind(of.X, z));
            CHECK(made.extra_bytes_sent() == 0);
            CHECK(made.bytes_sent() == 0);
            CHECK(standin::crossed() == crossed);
            CHECK((step < 2 || standin::allocations() == allocations));
            allocations = standin::allocations();
            z = made;
        }
        CHECK(!z.held().empty());
        CHECK(ep::detail::owner_of_memory(ep::device_view<double, 2>(z).data()).kind ==
              ep::detail::memory_kind::device);
    }
}

TEST_CASE("what has stayed on a device reaches the host by copies, and never by its address") {
    standin::restart({.seed = 2});
    iteration of;
    const ep::plan plan = of.plan();
    const std::vector<double> expected = of.expected(of.x);
    const ep::distributed<double, 2> z = plan.run(of.world, stays, ep::bind(of.X, of.x));
    CHECK(largest_difference(elements(z.allgather()), expected) < 1e-15);
    const ep::array<double, 2> whole = z.gather(of.world.size() - 1);
    CHECK((of.world.rank() + 1 < of.world.size() || largest_difference(elements(whole), expected) < 1e-15));
    const ep::array<double, 2> part = z.fetch({of.world.rank(), 1}, {7, 3});
    CHECK(std::abs(part(2, 1) - expected[static_cast<std::size_t>((2 + of.world.rank()) * columns + 2)]) < 1e-15);
    std::vector<double> room(rows * columns, -1);
    z.fetch_into({0, 0}, ep::view<double, 2>(room.data(), {rows, columns}));
    CHECK(largest_difference(room, expected) < 1e-15);
    double sum = 0;
    z.for_each_local([&](const auto& at, double& value) {
        sum += std::abs(value - expected[static_cast<std::size_t>(at[0] * columns + at[1])]);
        value += 1;
    });
    CHECK(sum < 1e-14);
    CHECK(std::abs(z.allgather()(3, 4) - expected[3 * columns + 4] - 1) < 1e-15);  // f has written
    z.for_each_local([](const auto&, double& value) { value -= 1; });
    std::ostringstream printed;
    printed << z;
    CHECK(printed.str().find(" of 13 x 6") != std::string::npos);
    CHECK(printed.str().find("nan") == std::string::npos);
    CHECK(z.pin().size() <= 2);
    refused("local() needs elements on the host", [&] { static_cast<void>(z.local()); });
    const std::string path = "results_test.np" + std::to_string(of.world.size()) + ".npy";
    ep::save_npy(path, z);
    std::vector<double> saved(rows * columns);
    ep::npy_file(path).read_box(ep::whole_box({rows, columns}), saved.data());
    CHECK(largest_difference(saved, expected) < 1e-14);
    MPI_Barrier(MPI_COMM_WORLD);
    std::remove(path.c_str());
    // The host's runs refuse it, bound or as an input, wherever it is wanted.
    refused("in a device's memory", [&] { static_cast<void>(plan.run(of.world, ep::bind(of.X, z))); });
    const ep::tensor<double, 2> fixed = ep::from_distributed(z);
    ep::tensor<double, 2> turned;
    turned(k, i) = 2.0 * fixed(i, k);
    const ep::plan on_fixed = ep::decompose(of.world, turned);
    refused("in a device's memory", [&] { static_cast<void>(on_fixed.run(of.world)); });
    const ep::distributed<double, 2> t = on_fixed.run(of.world, ep::on_device);
    CHECK(std::abs(t.allgather()(4, 3) - 2 * expected[3 * columns + 4]) < 1e-14);
    const ep::plan checked = ep::decompose(of.world, {.objective = ep::objective::paper, .check_inputs = true}, of.Z);
    const device_doubles all(rows * columns);
    refused("options.check_inputs can compare values on the host only", [&] {
        static_cast<void>(
            checked.run(of.world, stays, ep::bind(of.X, ep::device_view<double, 2>(all.data, {rows, columns}))));
    });
    if (of.world.size() > 1) {
        refused("results stay on the device on some ranks only", [&] {
            static_cast<void>(
                plan.run(of.world, ep::device_run{.results_stay = of.world.rank() > 0}, ep::bind(of.X, of.x)));
        });
    }
    standin::restart({.seed = 2, .devices = 2});
    refused("memory of device 0, and the run is on device 1",
            [&] { static_cast<void>(plan.run(of.world, ep::device_run{.device = 1}, ep::bind(of.X, z))); });
    standin::restart({});
}

TEST_CASE("an output is written where the application wants it on the device") {
    for (unsigned seed = 0; seed < 3; ++seed) {
        standin::restart({.seed = seed});
        iteration of;
        const ep::plan plan = of.plan();
        const std::vector<double> expected = of.expected(of.x);
        ep::distributed<double, 2> first = plan.run(of.world, stays, ep::bind(of.X, of.x));
        const ep::interval mine = first.held().sides[0];
        const auto run = [&](const ep::device_run& how, const ep::distributed<double, 2>& from,
                             const ep::distributed<double, 2>& to) {
            return plan.run(of.world, how, ep::bind(of.X, from), ep::into(of.Z, to));
        };
        const auto rows_at = [&](double* data, std::optional<ep::index> stride = std::nullopt) {
            const ep::device_view<double, 2> seen =
                stride ? ep::device_view<double, 2>(data, {mine.size(), columns}, {*stride, 1})
                       : ep::device_view<double, 2>(data, {mine.size(), columns});
            return seen.distributed_over(of.world, {rows, columns}, {mine.begin, 0});
        };
        const device_doubles here(rows * columns), strided(rows * 8), input(rows * columns);
        const ep::distributed<double, 2> x = rows_at(input.data);
        x.for_each_local([&](const auto& at, double& value) { value = of.x(at[0], at[1]); });
        for (const bool is_strided : {false, true}) {
            const ep::distributed<double, 2> to = is_strided ? rows_at(strided.data, 8) : rows_at(here.data);
            const std::size_t crossed = standin::crossed();
            for (const ep::device_run& how : {stays, ep::on_device, straight}) {
                const ep::results made = run(how, x, to);
                CHECK(standin::crossed() == crossed);  // in place
                CHECK(made.get(of.Z).local_tensor().elements.data == to.local_tensor().elements.data);
            }
            CHECK(largest_difference(elements(to.allgather()), expected) < 1e-15);
        }
        // In other blocks: through the host, whether the results stay or not.
        const ep::index each = columns / of.world.size();
        const ep::index begin = each * of.world.rank();
        const ep::index count = of.world.rank() + 1 == of.world.size() ? columns - begin : each;
        for (const ep::device_run& how : {stays, ep::on_device, straight}) {
            const device_doubles turned(rows * columns);
            const ep::distributed<double, 2> by_columns =
                ep::device_view<double, 2>(turned.data, {rows, count}, {1, rows})
                    .distributed_over(of.world, {rows, columns}, {0, begin});
            static_cast<void>(run(how, x, by_columns));
            CHECK(largest_difference(elements(by_columns.allgather()), expected) < 1e-15);
            x.fetch_into(by_columns);
            CHECK(by_columns.allgather()(2, 3) == of.x(2, 3));
            // Read from other blocks than the plan wants.
            const ep::results made = plan.run(of.world, how, ep::bind(of.X, by_columns));
            CHECK(largest_difference(elements(made.get(of.Z).allgather()), expected) < 1e-15);
            CHECK((made.extra_bytes_sent() > 0) == (of.world.size() > 1));
            by_columns.fetch_into(x);
            // To the host, in the same blocks and in others.
            for (const bool is_same : {true, false}) {
                std::vector<double> memory(rows * columns, -1);
                const ep::distributed<double, 2> to =
                    is_same ? ep::distributed<double, 2>(of.world, {rows, columns}, {mine.begin, 0},
                                                         ep::view<double, 2>(memory.data(), {mine.size(), columns}))
                            : ep::distributed<double, 2>(of.world, {rows, columns}, {0, begin},
                                                         ep::view<double, 2>(memory.data(), {rows, count}));
                static_cast<void>(run(how, x, to));
                CHECK(largest_difference(elements(to.allgather()), expected) < 1e-15);
            }
        }
        // Where the input lies.
        static_cast<void>(run(stays, x, x));
        CHECK(largest_difference(elements(x.allgather()), expected) < 1e-15);
    }
    standin::restart({});
    iteration of;
    const ep::plan plan = of.plan();
    const ep::distributed<double, 2> z = plan.run(of.world, stays, ep::bind(of.X, of.x));
    std::vector<double> memory(rows * columns);
    const ep::distributed<double, 2> wrong =
        ep::device_view<double, 2>(memory.data(), {z.held().sides[0].size(), columns})
            .distributed_over(of.world, {rows, columns}, {z.held().sides[0].begin, 0});
    refused("a host pointer where a device pointer is expected",
            [&] { static_cast<void>(plan.run(of.world, stays, ep::bind(of.X, of.x), ep::into(of.Z, wrong))); });
    refused("a host pointer where a device pointer is expected",
            [&] { static_cast<void>(plan.run(of.world, stays, ep::bind(of.X, wrong))); });
    refused("in a device's memory",
            [&] { static_cast<void>(plan.run(of.world, ep::bind(of.X, of.x), ep::into(of.Z, z))); });
}

TEST_CASE("results outlive their context, on the device and on the host") {
    standin::restart({.seed = 1});
    const std::size_t allocated = standin::allocated(), pinned = standin::pinned();
    {
        std::optional<iteration> of(std::in_place);
        const ep::plan plan = of->plan();
        const std::vector<double> expected = of->expected(of->x);
        ep::distributed<double, 2> z = plan.run(of->world, stays, ep::bind(of->X, of->x));
        const ep::distributed<double, 2> h = plan.run(of->world, ep::on_device, ep::bind(of->X, of->x));
        of.reset();
        double sum = 0;
        h.for_each_local([&](const auto& at, double value) {
            sum += std::abs(value - expected[static_cast<std::size_t>(at[0] * columns + at[1])]);
        });
        CHECK(sum < 1e-14);
        refused("the context is gone", [&] { z.for_each_local([](const auto&, double&) {}); });
        z = {};
    }
    CHECK(standin::allocated() == allocated);
    CHECK(standin::pinned() == pinned);
}

}  // namespace results_test
