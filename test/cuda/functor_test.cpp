// Functors of the application's on devices: those of units for devices run there, those of others are refused.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/on_device.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/run/decompose.hpp>

#include "functor_results.hpp"
#include "functors.hpp"
#include "standin.hpp"
#include "support.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace functor_test {

namespace {

struct unit;

ep::plan plan_for(ep::context& world, const ep::options& asked, const recorded& of) {
    return ep::decompose(world, asked, ep::tensor<double, 0>(of.made));
}

}  // namespace

std::vector<recorded> recorded_on_host(ep::index rows, ep::index columns) {
    return record<unit>(rows, columns);
}

TEST_CASE("functors of a unit for devices run there, and give what they give on the host") {
    ep::context world(MPI_COMM_WORLD);
    for (const ep::index rows : {0, 1, 19, 140}) {
        const ep::index columns = rows == 140 ? 3 : 17;
        const std::vector<recorded> there = recorded_for_devices(rows, columns);
        const std::vector<recorded> here = recorded_on_host(rows, columns);
        REQUIRE(there.size() >= here.size());
        for (std::size_t number = 0; number < there.size(); ++number) {
            CHECK(there[number].made->work->on_device() != nullptr);
            unsigned seed = 0;
            for (const ep::algorithm wanted :
                 {ep::algorithm::automatic, ep::algorithm::c, ep::algorithm::mn, ep::algorithm::k}) {
                const ep::options asked{.objective = ep::objective::bytes, .algorithm = wanted};
                // The functor of a unit for devices can be called on the host as well.
                const recorded& known = number < here.size() ? here[number] : there[number];
                standin::restart({.seed = seed++});
                const double error = distance(known, plan_for(world, asked, known).run(world),
                                              plan_for(world, asked, there[number]).run(world, ep::on_device));
                CHECK_MESSAGE(error < 1e-13, there[number].name, " of ", rows, " x ", columns);
            }
        }
    }
    standin::restart({});
}

TEST_CASE("long sums by a functor are taken in pieces") {
    ep::context world(MPI_COMM_WORLD);
    for (const bool of_rows : {true, false}) {
        standin::restart({.seed = 3});
        const ep::index rows = of_rows ? 2 : 30000, columns = of_rows ? 30000 : 2;
        for (const std::size_t number : {std::size_t{3}, std::size_t{4}}) {  // max, and a ⊕ of the application's
            const recorded there = recorded_for_devices(rows, columns)[number];
            const recorded here = recorded_on_host(rows, columns)[number];
            const ep::plan plan = plan_for(world, {.objective = ep::objective::paper}, there);
            CHECK(distance(here, plan_for(world, {}, here).run(world), plan.run(world, ep::on_device)) == 0);
            CHECK((world.size() > 1 || (number == 4) != of_rows || ep::need_on_device(plan, 0).workspace > 0));
        }
    }
    standin::restart({});
}

TEST_CASE("a functor that only the host can call is refused, with its vertex") {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    for (const recorded& each : recorded_on_host(5, 4)) {
        CHECK(each.made->work->on_device() == nullptr);
        const ep::plan plan = plan_for(world, {}, each);
        device_runs::refused("run: vertex '" + (each.name == "several" ? std::string("map") : each.name) +
                                 "' calls a functor of the application's, which is not compiled for devices",
                             [&] { static_cast<void>(plan.run(world, ep::on_device)); });
    }
    const ep::plan listed = plan_for(world, {}, {"listed", recorded_with_a_list()});
    device_runs::refused("run: vertex 'listed' calls a functor",
                         [&] { static_cast<void>(listed.run(world, ep::on_device)); });
    // Equal functors, recorded by both kinds of units: each vertex has its own.
    const recorded there = recorded_for_devices(5, 4)[0];
    const recorded here = recorded_on_host(5, 4)[0];
    ep::tensor<double, 2> more;
    EINPARALLEL_LABELS(i, k);
    more(i, k) = 2.0 * ep::tensor<double, 2>(there.made)(k, i);
    const ep::plan plan = ep::decompose(world, ep::tensor<double, 2>(there.made), more);
    CHECK(device_runs::elements(plan.run(world, ep::on_device).get(more).allgather()) ==
          device_runs::elements(plan.run(world).get(more).allgather()));
    const ep::plan both =
        ep::decompose(world, ep::tensor<double, 2>(there.made), ep::tensor<double, 2>(here.made).named("here"));
    device_runs::refused("run: vertex 'here' calls a functor",
                         [&] { static_cast<void>(both.run(world, ep::on_device)); });
}

}  // namespace functor_test
