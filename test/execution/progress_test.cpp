// Progress from inside contractions: messages that travel meanwhile, and the application's own function.

#include <doctest/doctest.h>

#include <einparallel/array/einsum.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace ep = einparallel;
using namespace ep::testing;

namespace {

/// Z(i,k) = A(i,j) B(j,k) of small integers, large enough that a ring's steps take milliseconds.
struct large_product {
    static constexpr ep::index side = 600;

    ep::array<double, 2> a{{side, side}};
    ep::array<double, 2> b{{side, side}};
    ep::array<double, 2> expected;
    ep::tensor<double, 2> x = ep::placeholder<double>({side, side});
    ep::tensor<double, 2> y = ep::placeholder<double>({side, side});
    ep::tensor<double, 2> z;

    large_product() {
        for (ep::index i = 0; i < side; ++i) {
            for (ep::index j = 0; j < side; ++j) {
                a(i, j) = static_cast<double>((3 * i + 5 * j) % 11 - 5);
                b(i, j) = static_cast<double>((7 * i + 2 * j) % 13 - 6);
            }
        }
        expected = ep::einsum<"ij,jk->ik">(a, b);
        z = ep::einsum<"ij,jk->ik">(x, y).named("Z");
    }

    [[nodiscard]] bool is_right(const ep::array<double, 2>& made) const {
        return std::equal(made.data(), made.data() + made.size(), expected.data(), expected.data() + expected.size());
    }
};

/// How many ranks multiply, the first ones: twelve are cut into eleven parts along one label.
int workers(const ep::plan& plan) {
    return plan.vertices()[plan.outputs().front()].work.ranks.size();
}

}  // namespace

TEST_CASE("the application's progress function is called from inside contractions, under every algorithm") {
    ep::context world(MPI_COMM_WORLD);
    const large_product product;
    int calls = 0;
    world.on_progress([&] { ++calls; });
    for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = forced}, product.z);
        calls = 0;
        const ep::distributed<double, 2> z =
            plan.run(world, ep::bind(product.x, product.a), ep::bind(product.y, product.b));
        CHECK((calls > 0 || world.rank() >= workers(plan)));
        CHECK(product.is_right(z.allgather()));
    }
    world.on_progress(nullptr);
    calls = 0;
    const ep::plan plan = ep::decompose(world, product.z);
    const ep::distributed<double, 2> z =
        plan.run(world, ep::bind(product.x, product.a), ep::bind(product.y, product.b));
    CHECK(calls == 0);
    CHECK(product.is_right(z.allgather()));
}

TEST_CASE("a progress function that throws on one rank") {
    ep::context world(MPI_COMM_WORLD);
    const large_product product;
    int culprit = 0;
    bool armed = true;
    bool refused = false;
    world.on_progress([&] {
        try {
            world.on_progress(nullptr);  // it would destroy what is running
        } catch (const ep::error&) {
            refused = true;
        }
        if (armed && world.rank() == culprit) {
            throw std::runtime_error("this function was told to throw");
        }
    });
    for (const ep::algorithm forced : {ep::algorithm::mn, ep::algorithm::k}) {
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = forced}, product.z);
        const auto run = [&] {
            return plan.run(world, ep::bind(product.x, product.a), ep::bind(product.y, product.b));
        };
        armed = true;
        culprit = workers(plan) - 1;
        CHECK(sentence_of([&] { static_cast<void>(run()); }) ==
              "run: vertex 'Z', rank " + std::to_string(culprit) + ": this function was told to throw");
        CHECK(refused);
        armed = false;
        const ep::distributed<double, 2> z = run();
        CHECK(product.is_right(z.allgather()));
    }
}
