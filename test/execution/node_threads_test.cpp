// Threads of ranks that share a node, in a program that links OpenMP.

#include <einparallel.hpp>
#include <einparallel/run/node_threads.hpp>

#include <doctest/doctest.h>

#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ep = einparallel;
using ep::detail::fair_share;

TEST_CASE("processes share the processors that they meet on") {
    const std::array<std::int64_t, 2> all_of_them{0xff, 0};
    const std::array<std::int64_t, 2> lower{0x0f, 0};
    CHECK(fair_share(all_of_them, std::vector<std::int64_t>{0xff, 0}) == 8);
    CHECK(fair_share(all_of_them, std::vector<std::int64_t>{0xff, 0, 0xff, 0}) == 4);
    CHECK(fair_share(all_of_them, std::vector<std::int64_t>{0xff, 0, 0xff, 0, 0xff, 0}) == 2);
    CHECK(fair_share(lower, std::vector<std::int64_t>{0x0f, 0, 0xf0, 0}) == 4);  // bound apart
    CHECK(fair_share(lower, std::vector<std::int64_t>{0x0f, 0, 0, 0x0f}) == 4);  // on another word
    CHECK(fair_share(lower, std::vector<std::int64_t>(20, 0x0f)) == 1);          // more processes than cores
    CHECK(fair_share(std::array<std::int64_t, 2>{}, std::vector<std::int64_t>{0, 0}) == 1);  // not known
}

TEST_CASE("ranks of a node use its processors once, unless OpenMP was told otherwise") {
    const bool told = std::getenv("OMP_NUM_THREADS") != nullptr;
    const int before = omp_get_max_threads();
    const ep::context world(MPI_COMM_WORLD);
    if (told) {
        CHECK(ep::detail::available_threads() == before);
    } else {
        const ep::detail::processor_set mine = ep::detail::own_processors();
        std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(world.size()));
        ep::allgather(world.control(), mine, all);  // the ranks of this test are on one node
        CHECK(ep::detail::thread_limit().load() == fair_share(mine, all));
        CHECK(ep::detail::available_threads() == std::min(before, ep::detail::thread_limit().load()));
    }
    omp_set_num_threads(before + 3);
    CHECK(ep::detail::available_threads() == before + 3);
    omp_set_num_threads(before);
}

TEST_CASE("with other threads than before it is decided anew how a plan's calls are computed") {
    EINPARALLEL_LABELS(i, j, k);
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A =
        ep::generate<double>({96, 96}, [](ep::index row, ep::index column) { return double((row + 3 * column) % 5); });
    ep::tensor<double, 2> C;
    C(i, k) = A(i, j) * A(j, k);
    const ep::plan plan = ep::decompose({.processes = world.size()}, C);
    const int before = omp_get_max_threads();
    ep::array<double, 2> first;
    for (const int threads : {before, before, before + 2, before + 2, before}) {
        const bool is_other = threads != omp_get_max_threads() || first.size() == 0;
        omp_set_num_threads(threads);
        const std::uint64_t decided = ep::detail::decisions_made();
        const ep::results made = plan.run(world);
        CHECK((ep::detail::decisions_made() != decided) == is_other);
        const ep::array<double, 2> found = made.get(C).allgather();
        first = first.size() == 0 ? found : first;
        CHECK(std::equal(found.data(), found.data() + found.size(), first.data()));
    }
}
