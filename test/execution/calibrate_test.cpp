// Constants of the time model, measured: what they are depends on the day, that they are the same on all ranks does
// not.

#include <doctest/doctest.h>

#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/run/calibrate.hpp>

#include <support/graphs.hpp>
#include <support/shared_folder.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace calibrate_test {

namespace {

bool same_bits_everywhere(const ep::context& world, const ep::machine& measured) {
    const std::array<std::int64_t, 4> mine{std::bit_cast<std::int64_t>(measured.seconds_per_message),
                                           std::bit_cast<std::int64_t>(measured.seconds_per_byte),
                                           std::bit_cast<std::int64_t>(measured.seconds_per_flop),
                                           std::bit_cast<std::int64_t>(measured.exposed)};
    std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(world.size()));
    ep::allgather(world.control(), mine, all);
    bool same = true;
    for (std::size_t number = 0; number < all.size(); ++number) {
        same = same && all[number] == mine[number % mine.size()];
    }
    return same;
}

}  // namespace

TEST_CASE("the largest of all ranks' figures, the same on each") {
    ep::context world(MPI_COMM_WORLD);
    const double rank = world.rank();
    const double nothing = world.rank() == 0 ? std::nan("") : -1.0;
    std::array<double, 4> figures{1e-9 * (1 + rank), 1e300 / (1 + rank), nothing,
                                  world.rank() == 0 ? 0.25 : std::nan("")};
    ep::detail::allreduce_largest(world.control(), figures);
    CHECK(figures[0] == 1e-9 * world.size());
    CHECK(figures[1] == 1e300);
    CHECK(figures[2] == 0);
    CHECK(figures[3] == 0.25);
}

TEST_CASE("measured constants are the same bits on all ranks, finite and positive, and plans with them are right") {
    ep::context world(MPI_COMM_WORLD);
    const ep::machine built_in;
    for (const double seconds : {1e-9, 0.02}) {
        const ep::machine measured = world.calibrate(seconds);
        CHECK(same_bits_everywhere(world, measured));
        for (const double constant :
             {measured.seconds_per_message, measured.seconds_per_byte, measured.seconds_per_flop, measured.exposed}) {
            CHECK(std::isfinite(constant));
            CHECK(constant > 0);
        }
        CHECK(measured.exposed <= 1);
        if (world.size() == 1) {
            CHECK(measured.seconds_per_message == built_in.seconds_per_message);
            CHECK(measured.seconds_per_byte == built_in.seconds_per_byte);
            CHECK(measured.exposed == built_in.exposed);
        }
        const product graph(7, 5, 6);
        const ep::plan plan = ep::decompose(world, {.machine = measured}, graph.handle());
        CHECK(plan.asked().machine == measured);
        CHECK(wrong_elements(ep::execute(plan, world), 0, *graph.z) == 0);
    }
}

TEST_CASE("messages of the application's that are under way are left alone") {
    ep::context world(MPI_COMM_WORLD);
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    double sent = 10.0 + world.rank();
    double received = 0;
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(&received, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, &requests[0]);
    static_cast<void>(world.calibrate(1e-3));
    MPI_Isend(&sent, 1, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    CHECK(received == 10.0 + previous);
}

TEST_CASE("calibrations that are refused") {
    ep::context world(MPI_COMM_WORLD);
    const bool last = world.rank() == world.size() - 1;
    for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        CHECK(sentence_of([&] { static_cast<void>(world.calibrate(last ? seconds : 1e-3)); }) ==
              "calibrate: the seconds to spend must be positive and finite" + ep::testing::only_last(world));
    }
    CHECK(sentence_of([&] { static_cast<void>(world.calibrate(last ? 2e-3 : 1e-3)); }) ==
          (world.size() > 1 ? "calibrate: the seconds to spend are not the same on all ranks" : ""));

    // In a source: the others would wait for it, or for nothing.
    const bool here = world.rank() == 0;
    const ep::tensor<double, 1> nested = ep::generate<double>({2 * world.size()}, [&](auto i) {
        return static_cast<double>(i) * (here ? world.calibrate(1e-3).exposed : 1.0);
    });
    CHECK(sentence_of([&] {
              static_cast<void>(ep::evaluate(world, {.objective = ep::objective::bytes}, nested));
          }).find("rank 0: calibrate: this context is in a collective call already") != std::string::npos);
    const ep::tensor<double, 1> planning = ep::generate<double>({2 * world.size()}, [&](auto i) {
        return static_cast<double>(i) * (here ? ep::decompose(world, nested).cost() : 1.0);
    });
    CHECK(sentence_of([&] {
              static_cast<void>(ep::evaluate(world, {.objective = ep::objective::bytes}, planning));
          }).find("rank 0: decompose: this context is in a collective call already") != std::string::npos);
    CHECK(sentence_of([&] { static_cast<void>(world.calibrate(1e-3)); }).empty());
}

TEST_CASE("constants that make no sense are refused, on one rank too") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(7, 5, 6);
    for (const double constant : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        for (double ep::machine::*which : {&ep::machine::seconds_per_message, &ep::machine::seconds_per_byte,
                                           &ep::machine::seconds_per_flop, &ep::machine::exposed}) {
            ep::machine given;
            given.*which = constant;
            CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, {.machine = given}, graph.handle())); }) ==
                  "decompose: every constant of options.machine must be finite and not negative");
        }
    }
    ep::machine given;
    given.seconds_per_flop = world.rank() == world.size() - 1 ? -1.0 : given.seconds_per_flop;
    const std::string got =
        sentence_of([&] { static_cast<void>(ep::decompose(world, {.machine = given}, graph.handle())); });
    CHECK(!got.empty());
    CHECK(same_everywhere(world, got));
}

TEST_CASE("who computes plain products stays chosen, and is not timed where no BLAS is linked") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::gemm_choice choice : {ep::gemm_choice::own, ep::gemm_choice::automatic}) {
        ep::use_gemm(choice);
        static_cast<void>(world.calibrate(1e-3));
        CHECK(ep::detail::chosen_gemm().load() == choice);
    }
}

TEST_CASE("storage is measured in a folder, the same bits on all ranks") {
    const ep::context world(MPI_COMM_WORLD);
    const ep::testing::shared_folder folder(world);
    const ep::machine found = world.calibrate(folder.path, 1e-3);
    CHECK(found.seconds_per_stored_byte > 1e-12);  // a thousand GB/s
    CHECK(found.seconds_per_stored_byte < 1e-4);
    double least = found.seconds_per_stored_byte, most = least;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least == most);
    CHECK(folder.is_empty());
    CHECK(sentence_of([&] {
              static_cast<void>(world.calibrate("/nowhere at all", 1e-3));
          }).find("'/nowhere at all' cannot hold scratch files") != std::string::npos);
    CHECK(sentence_of([&] { static_cast<void>(world.calibrate("", 1e-3)); }) == "calibrate: the folder has no name");
}

}  // namespace calibrate_test
