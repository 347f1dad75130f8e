// Plans whose tensors wait, on devices: in pinned memory of the host, in files behind it, and in both.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/on_device.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/gradient.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/run/decompose.hpp>

#include "standin.hpp"
#include "support.hpp"

#include <support/long_suite.hpp>
#include <support/most_of.hpp>
#include <support/sentence_of.hpp>
#include <support/shared_folder.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace device_paging_test {

namespace {

EINPARALLEL_LABELS(i, j, k, l);

using device_runs::elements, device_runs::refused, ep::testing::most_of, ep::testing::sentence_of,
    ep::testing::shared_folder;

double small(ep::index row, ep::index column) {
    return static_cast<double>((5 * row + 3 * column) % 7 - 3);
}

/// Bytes of a rank's tensors that wait.
std::size_t waiting(const ep::plan& plan, int rank) {
    std::size_t bytes = 0;
    for (const ep::stored_tensor& each : plan.program_of(rank).stored) {
        bytes += each.is_scratch() ? each.bytes() : 0;
    }
    return bytes;
}

/// A chain with its gradient, and matrices from a file.
struct chain {
    static constexpr ep::index n = 24;
    ep::tensor<double, 2> A, X, dA, dX;
    ep::tensor<double, 0> s;

    explicit chain(const std::string& file) : A(ep::load_npy<double, 2>(file)), X(ep::generate<double>({n, n}, small)) {
        ep::tensor<double, 2> Y, Z, W, V;
        Y(i, k) = A(i, j) * X(j, k);
        Z(i, k) = ep::max(ep::abs(Y(i, j) - X(j, k)));
        W(i, k) = Z(i, j) * Y(k, j) + A(i, k);
        V(k, i) = W(i, k) + 2.0 * Y(i, k);
        s() = V(i, j) * X(j, i);
        auto [first, second] = ep::gradient(s, A, X);
        dA = first;
        dX = second;
    }
    [[nodiscard]] std::vector<std::vector<double>> of(const ep::results& found) const {
        return {elements(found.get(dA).allgather()), elements(found.get(dX).allgather())};
    }
};

}  // namespace

TEST_CASE("tensors of a device wait on the host, in files behind it, or in both") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    const std::string file = folder.path + "/a.npy";
    if (world.rank() == 0) {
        ep::array<double, 2> a({chain::n, chain::n});
        for (ep::index row = 0; row < chain::n; ++row) {
            for (ep::index column = 0; column < chain::n; ++column) {
                a(row, column) = small(column, row);
            }
        }
        ep::write_npy(file, a);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const chain made(file);
    const ep::options plain{.effort = ep::testing::short_search};
    const ep::plan whole = ep::decompose(world, plain, made.s, made.dA, made.dX);
    const std::vector<std::vector<double>> expected = made.of(whole.run(world));
    const std::size_t most = most_of(whole);
    int waited = 0;
    unsigned seed = 0;
    for (const int percent : {80, 60, 45, 35, 25}) {
        ep::options asked = plain;
        asked.memory_limit = most * static_cast<std::size_t>(percent) / 100;
        asked.paging = true;
        ep::plan plan;
        if (!sentence_of([&] { plan = ep::decompose(world, asked, made.s, made.dA, made.dX); }).empty()) {
            continue;
        }
        const std::size_t here = waiting(plan, world.rank());
        waited += device_runs::anywhere(here > 0) ? 1 : 0;
        for (const std::size_t on_host : {std::size_t(-1), here / 2, std::size_t{0}}) {
            for (int turn = 0; turn < 3; ++turn) {
                standin::restart({.seed = 7 * ++seed + static_cast<unsigned>(world.rank())});
                const ep::device_run how{.host_limit = on_host};
                const std::size_t before = standin::pinned();
                const ep::results found =
                    on_host > here ? plan.run(world, how) : plan.run(world, how, ep::scratch(folder.path));
                INFO(percent << " %, " << here << " bytes wait, host_limit " << on_host);
                CHECK(made.of(found) == expected);
                CHECK(found.bytes_paged() == plan.bytes_paged(world.rank()));
                CHECK(standin::pinned() - std::min(before, standin::pinned()) <=
                      ep::need_on_device(plan, world.rank(), how).pinned);
            }
        }
    }
    CHECK((waited > 0 || world.size() > 3));
    standin::restart({});
}

TEST_CASE("too little memory of the host, and no folder, is one sentence on all ranks") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A = ep::generate<double>({32, 32}, small);
    ep::tensor<double, 2> B, C, D;
    B(i, k) = A(i, j) * A(j, k);
    C(i, k) = B(i, j) * A(k, j);
    D(i, k) = C(i, j) * C(j, k);
    ep::tensor<double, 0> s;
    s() = B(i, j) * D(i, j);
    ep::options asked{.effort = ep::testing::short_search};
    const std::size_t most = most_of(ep::decompose(world, asked, s));
    asked.paging = true;
    ep::plan plan;
    bool waits = false;
    for (std::size_t tenths = 6; tenths > 2 && !waits; --tenths) {
        asked.memory_limit = most * tenths / 10;
        plan = ep::decompose(world, asked, s);
        for (int rank = 0; rank < world.size(); ++rank) {
            waits = waits || waiting(plan, rank) > 0;
        }
    }
    REQUIRE(waits);
    refused("no folder is given", [&] { plan.run(world, ep::device_run{.host_limit = 0}); });
    standin::fail("cudaHostAlloc", 1, cudaErrorMemoryAllocation);
    const std::string said = sentence_of([&] { plan.run(world, ep::on_device); });
    CHECK(device_runs::same_everywhere(said));
    standin::restart({});
    CHECK(sentence_of([&] { plan.run(world, ep::on_device); }).empty());
}

}  // namespace device_paging_test
