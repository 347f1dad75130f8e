// Elements that are given to a run: written over where nobody reads them any more, and never where somebody does.

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <support/graphs.hpp>
#include <support/sentence_of.hpp>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace donation_test {

namespace ep = einparallel;

using namespace ep::testing;

namespace {

EINPARALLEL_LABELS(b, i, j, k);

using matrix = ep::tensor<double, 2>;

ep::array<double, 2> some(ep::index rows, ep::index columns, int salt) {
    ep::array<double, 2> made({rows, columns});
    for (ep::index at = 0; at < made.size(); ++at) {
        made.data()[at] = std::sin(double(7 * at + 13 * salt + 1));
    }
    return made;
}

bool equal(const ep::array<double, 2>& x, const ep::array<double, 2>& y) {
    return x.extents() == y.extents() && std::equal(x.data(), x.data() + x.size(), y.data());
}

/// A run in memory that is counted.
ep::results run(ep::context& world, const ep::plan& plan, const std::vector<ep::binding>& bound) {
    return ep::detail::carry_out(plan, world, bound, counted);
}

/// A new W from W, and another matrix that is made of it, or of both.
struct update {
    matrix W = ep::placeholder<double>({12, 12}).named("W");
    matrix made, beside;
    ep::plan plan;

    template <class Record>
    update(ep::context& world, const Record& record) {
        record(W, made, beside);
        plan = ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, beside, made);
    }
};

/// Steps with and without the elements given away have the same results; true where the memory was the same, too.
template <class Record>
bool is_in_place(ep::context& world, const Record& record) {
    const update given(world, record);
    const update kept(world, record);
    const ep::array<double, 2> start = some(12, 12, 1);
    ep::distributed<double, 2> mine;
    ep::distributed<double, 2> other;
    int same = 1;
    for (int step = 0; step < 4; ++step) {
        const double* const there = step < 2 ? nullptr : mine.local().data();
        const ep::results first =
            run(world, given.plan, {step == 0 ? ep::bind(given.W, start) : ep::bind(given.W, std::move(mine))});
        const ep::results second = kept.plan.run(world, step == 0 ? ep::bind(kept.W, start) : ep::bind(kept.W, other));
        mine = first.get(given.made);
        other = second.get(kept.made);
        CHECK(equal(mine.allgather(), other.allgather()));
        CHECK(equal(first.get(given.beside).allgather(), second.get(kept.beside).allgather()));
        same = same != 0 && (step < 2 || mine.local().data() == there) ? 1 : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return same != 0;
}

/// A step of least squares.
struct training {
    static constexpr ep::index rows = 9, width = 14, columns = 10;

    matrix X = ep::placeholder<double>({rows, width}).named("X");
    matrix W = ep::placeholder<double>({width, columns}).named("W");
    matrix made;
    ep::tensor<double, 0> loss;
    ep::array<double, 2> x = some(rows, width, 2);
    ep::array<double, 2> start = some(width, columns, 3);

    training() {
        matrix apart;
        apart(b, j) = X(b, i) * W(i, j) - 1.0;
        loss() = apart(b, j) * apart(b, j);
        const matrix dW = ep::gradient(loss, W);
        made(i, j) = W(i, j) - 0.01 * dW(i, j);
    }
};

}  // namespace

TEST_CASE("a loop that trains has its weights once, and allocates nothing") {
    ep::context world(MPI_COMM_WORLD);
    const training of;
    const ep::plan plan = ep::decompose({.processes = world.size()}, of.loss, of.made);
    const auto losses_of = [&](bool gives, std::size_t& held) {
        world.release_memory();
        std::vector<double> losses;
        ep::distributed<double, 2> w;
        int before = 0;
        for (int step = 0; step < 6; ++step) {
            before = step == 2 ? counted_space::allocations : before;
            const ep::results made = run(world, plan,
                                         {ep::bind(of.X, of.x), step == 0 ? ep::bind(of.W, of.start)
                                                                : gives   ? ep::bind(of.W, std::move(w))
                                                                          : ep::bind(of.W, w)});
            w = made.get(of.made);
            losses.push_back(made.get(of.loss).allgather().value());
            CHECK(made.extra_bytes_sent() == 0);
        }
        CHECK(counted_space::allocations == before);
        held = counted_space::held;
        return losses;
    };
    std::size_t once = 0;
    std::size_t twice = 0;
    const std::vector<double> given = losses_of(true, once);
    CHECK(given == losses_of(false, twice));
    CHECK(given.back() < given.front());
    CHECK(twice >= once + (world.rank() == 0 ? sizeof(double) : 0));
    if (world.size() == 1) {
        CHECK(twice == once + sizeof(double) * std::size_t(of.start.size()));
    }
}

TEST_CASE("what a step reads later, or at another place, is not written over") {
    ep::context world(MPI_COMM_WORLD);
    CHECK(is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        beside(i, k) = W(i, j) * W(k, j);
        made(i, j) = 0.5 * W(i, j) + 1.0;
    }));
    CHECK(is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        beside(i, j) = tanh(W(i, j));
        made(i, j) = W(i, j) - 0.1 * beside(i, j);
    }));
    // Each element read at another place, which several ranks may have brought elsewhere.
    const bool twice = is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        made(i, j) = 0.25 * W(i, j) + 0.5 * W(j, i);
        beside(i, j) = W(i, j) * 1.0;
    });
    const bool backwards = is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        made(i, j) = 0.5 * W(i, 11 - j) + 0.25;
        beside(i, j) = 2.0 * W(i, j);
    });
    if (world.size() == 1) {
        CHECK_FALSE(twice);
        CHECK_FALSE(backwards);
    }
    is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        made(j, i) = 0.5 * W(i, j);
        beside(i, j) = ep::cumsum(j, W(i, j));
    });
    is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        made(i, j) = ep::softmax(j, W(i, j));
        beside(i, k) = W(i, j) * made(j, k);
    });
    is_in_place(world, [](const matrix& W, matrix& made, matrix& beside) {
        beside(i, j) = W(j, i) * 0.5;
        made(i, k) = 0.1 * (beside(i, j) * W(j, k));
    });
}

TEST_CASE("elements that others have a handle on stay as they are") {
    ep::context world(MPI_COMM_WORLD);
    const training of;
    const ep::plan plan = ep::decompose({.processes = world.size()}, of.loss, of.made);
    ep::results made = plan.run(world, ep::bind(of.X, of.x), ep::bind(of.W, of.start));
    ep::distributed<double, 2> w = made.get(of.made);
    const ep::array<double, 2> there = w.allgather();
    const ep::distributed<double, 2> best = w;
    const ep::results next = plan.run(world, ep::bind(of.X, of.x), ep::bind(of.W, std::move(w)));
    CHECK(equal(best.allgather(), there));
    CHECK(equal(made.get(of.made).allgather(), there));
    CHECK_FALSE(equal(next.get(of.made).allgather(), there));

    // Two inputs with the same elements.
    matrix A = ep::placeholder<double>({12, 12}).named("A");
    matrix B = ep::placeholder<double>({12, 12}).named("B");
    matrix sum, product;
    sum(i, j) = A(i, j) + 1.0;
    product(i, k) = sum(i, j) * B(j, k);
    const ep::plan both = ep::decompose({.processes = world.size()}, sum, product);
    const ep::array<double, 2> start = some(12, 12, 4);
    const auto once = [&](const ep::binding& a, const ep::binding& c) { return both.run(world, a, c); };
    ep::distributed<double, 2> a = once(ep::bind(A, start), ep::bind(B, start)).get(sum);
    const ep::array<double, 2> here = a.allgather();
    ep::binding first = ep::bind(A, std::move(a));
    const ep::results twice = once(first, ep::bind(B, std::move(a)));
    const ep::results wanted = once(ep::bind(A, here), ep::bind(B, here));
    CHECK(equal(twice.get(product).allgather(), wanted.get(product).allgather()));
}

TEST_CASE(
    "a handle whose elements were given away says so once the ranks have begun, and errors say what became of them") {
    ep::context world(MPI_COMM_WORLD);
    const training of;
    bool fails = false;
    matrix checked;
    checked(i, j) = ep::map(
        [&fails](double x) {
            if (fails) {
                throw std::runtime_error("no more");
            }
            return x;
        },
        of.made(i, j));
    const ep::plan plan = ep::decompose({.processes = world.size()}, of.made, checked);
    const auto step = [&](const ep::binding& W) { return plan.run(world, ep::bind(of.X, of.x), W).get(of.made); };
    ep::distributed<double, 2> w = step(ep::bind(of.W, of.start));
    const ep::array<double, 2> there = w.allgather();

    // Before the ranks begin.
    const std::string early = sentence_of([&] { plan.run(world, ep::bind(of.W, std::move(w))); });
    CHECK(early ==
          "run: no value is bound to placeholder 'X'; the elements given for 'W' still belong to their handle");
    CHECK(equal(w.allgather(), there));
    { const ep::binding never_run = ep::bind(of.W, std::move(w)); }
    CHECK(equal(w.allgather(), there));

    // Meanwhile.
    fails = true;
    const std::string late = sentence_of([&] { step(ep::bind(of.W, std::move(w))); });
    CHECK(late.find("no more; the elements given for 'W' no longer belong to their handle, and only copies of the "
                    "handle keep them") != std::string::npos);
    fails = false;
    w = step(ep::bind(of.W, of.start));
    const ep::distributed<double, 2> copy = w;
    fails = true;
    CHECK(sentence_of([&] { step(ep::bind(of.W, std::move(w))); }).ends_with("only copies of the handle keep them"));
    CHECK(equal(copy.allgather(), there));
    fails = false;
    const std::string gone =
        "distributed: the elements of this handle were given to a run by ep::bind(W, std::move(w)): bind the result of "
        "the run, or, if it failed, a copy that was kept";
    CHECK(sentence_of([&] { static_cast<void>(w.local()); }) == gone);
    CHECK(sentence_of([&] { static_cast<void>(w.held()); }) == gone);
    CHECK(sentence_of([&] { static_cast<void>(w.extents()); }) == gone);
    CHECK(sentence_of([&] { static_cast<void>(w.allgather()); }) == gone);
    CHECK(sentence_of([&] { w.for_each_local([](auto, double&) {}); }) == gone);
    CHECK(sentence_of([&] { static_cast<void>(ep::bind(of.W, w)); }) == gone);
    CHECK(sentence_of([&] { static_cast<void>(ep::from_distributed(w)); }) == gone);

    // And where all is well: the handle may have what the run returns, the binding serves once.
    w = step(ep::bind(of.W, of.start));
    CHECK(equal(w.allgather(), there));
    const ep::binding given = ep::bind(of.W, std::move(w));
    w = step(given);
    CHECK_FALSE(equal(w.allgather(), there));
    const std::string again = sentence_of([&] { step(given); });
    CHECK(again ==
          "run: the value bound to placeholder 'W' was given to an earlier run, which has written over it: bind the "
          "result of that run; the elements given for 'W' still belong to their handle");
}

}  // namespace donation_test
