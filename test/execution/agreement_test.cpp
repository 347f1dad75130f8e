#include <doctest/doctest.h>

#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/shape.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ep = einparallel;
using namespace ep::testing;

namespace agreement_test {

static_assert(!std::is_copy_constructible_v<ep::context>);
static_assert(std::is_nothrow_move_constructible_v<ep::context>);
static_assert(!std::is_convertible_v<MPI_Comm, ep::context>);

TEST_CASE("nobody fails, some fail, all fail") {
    ep::context world(MPI_COMM_WORLD);
    const int rank = world.rank();
    CHECK(sentence_of([&] { ep::detail::agree(world.control(), ""); }).empty());
    for (int first = 0; first < world.size(); ++first) {
        const std::string mine = rank >= first ? "rank " + std::to_string(rank) + " failed" : "";
        CHECK(sentence_of([&] { ep::detail::agree(world.control(), mine); }) ==
              "rank " + std::to_string(first) + " failed");
    }
    CHECK(sentence_of([&] { ep::detail::agree(world.control(), ""); }).empty());
}

TEST_CASE("a sentence of any length arrives, cut where it is too long") {
    ep::context world(MPI_COMM_WORLD);
    const std::string mine = world.rank() == world.size() - 1 ? std::string(5000, 'x') : "";
    const std::string got = sentence_of([&] { ep::detail::agree(world.control(), mine); });
    CHECK(got == std::string(ep::detail::longest_sentence - 1, 'x') + ep::testing::only_last(world));
}

TEST_CASE("numbers that are the same everywhere, and numbers that are not") {
    ep::context world(MPI_COMM_WORLD);
    const auto agree_on = [&](std::uint64_t a, std::uint64_t b, const std::string& failure = "") {
        return sentence_of([&] { ep::detail::agree(world.control(), failure, {{a, "a differs"}, {b, "b differs"}}); });
    };
    const std::uint64_t rank = static_cast<std::uint64_t>(world.rank());
    const bool several = world.size() > 1;
    CHECK(agree_on(0, ~std::uint64_t{0}).empty());
    CHECK(agree_on(5, 7).empty());
    CHECK(agree_on(5, rank) == (several ? "b differs" : ""));
    CHECK(agree_on(rank, rank) == (several ? "a differs" : ""));
    // A failure goes first: its rank's numbers mean nothing.
    CHECK(agree_on(rank, 0, world.rank() == world.size() - 1 ? "failed" : "") ==
          "failed" + ep::testing::only_last(world));
}

TEST_CASE("what a call throws, as a sentence") {
    using ep::detail::failure_of;
    CHECK(failure_of("run", [] {}).empty());
    CHECK(failure_of("run", [] { throw ep::error("a sentence"); }) == "a sentence");
    CHECK(failure_of("run", [] { throw std::runtime_error("words"); }) == "run: words");
    CHECK(failure_of("run", [] { throw std::bad_alloc(); }) == "run: out of memory");
    CHECK(failure_of("run", [] { throw ep::error(""); }) == "run: an error without a text was thrown");
    CHECK(failure_of("run", [] { throw 5; }) == "run: an exception that is no std::exception was thrown");
}

TEST_CASE("what one rank throws all ranks throw") {
    ep::context world(MPI_COMM_WORLD);
    const auto call = [&](bool throws) {
        return sentence_of([&] {
            ep::detail::agree(world.control(), ep::detail::failure_of("call", [&] {
                                  if (throws) {
                                      throw std::runtime_error("not here");
                                  }
                              }));
        });
    };
    CHECK(call(false).empty());
    CHECK(call(world.rank() == world.size() - 1) == "call: not here" + ep::testing::only_last(world));
}

TEST_CASE("fingerprints tell sequences apart") {
    using ep::detail::fingerprint;
    const auto of = [](auto... parts) {
        fingerprint made;
        (made.add(parts), ...);
        return made.value();
    };
    CHECK(of(1, 2) == of(1, 2));
    CHECK(of(1, 2) != of(2, 1));
    CHECK(of(std::string_view("ab"), std::string_view("c")) != of(std::string_view("a"), std::string_view("bc")));
    CHECK(of(ep::box{{{0, 2}, {1, 3}}}) != of(ep::box{{{0, 2}, {1, 4}}}));
    // empty boxes are alike
    CHECK(of(ep::box{{{0, 0}, {1, 3}}}) == of(ep::no_box(2)));
    // distributions by who holds what
    const ep::box upper{{{0, 2}}}, lower{{{2, 4}}};
    const auto lies = [&](std::vector<ep::box> boxes) { return of(ep::distribution({4}, std::move(boxes))); };
    CHECK(lies({upper, lower}) == lies({upper, lower, ep::no_box(1), ep::box{{{4, 4}}}}));
    CHECK(lies({upper, lower}) == of(ep::cut_along({4}, {{{0, 2}}})));
    CHECK(lies({upper, lower}) != lies({lower, upper}));
    CHECK(lies({upper, lower}) != lies({upper, ep::no_box(1), lower}));
}

TEST_CASE("a context: its ranks, a name that was moved from, communicators of a part of the world") {
    ep::context world(MPI_COMM_WORLD);
    int rank = -1;
    int size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(world.rank() == rank);
    CHECK(world.size() == size);
    CHECK(world.payload().native() != world.control().native());
    CHECK(world.payload().native() != MPI_COMM_WORLD);

    ep::context moved = std::move(world);
    CHECK(moved.size() == size);
    CHECK(sentence_of([&] { static_cast<void>(world.size()); }) == "context: this context was moved from");
    CHECK_THROWS_AS(ep::context(MPI_COMM_NULL), ep::error);

    // Each half of the world computes for itself, numbered backwards.
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    {
        ep::context ours(half);
        const product graph(5, 4, 3, static_cast<unsigned>(rank % 2));
        const ep::plan plan =
            ep::decompose({.processes = ours.size(), .objective = ep::objective::bytes}, graph.handle());
        CHECK(wrong_elements(ep::execute(plan, ours), 0, *graph.z) == 0);
    }
    MPI_Comm_free(&half);
}

TEST_CASE("ranks in different collective calls, or with another plan of the same shape, say so") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 2> A = ep::generate<double>({6, 6}, [](auto i, auto j) { return double(i) - 2.0 * double(j); });
    ep::tensor<double, 2> B = ep::generate<double>({6, 6}, [](auto i, auto j) { return double(i * j % 5); });
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, B);
    const ep::tensor<double, 2> Y = ep::einsum<"ij,jk->ik">(B, A);
    const ep::options asked{.objective = ep::objective::bytes, .runs = 3};
    const ep::plan forward = ep::decompose(world, asked, Z);
    const ep::plan backward = ep::decompose(world, asked, Y);
    const bool first = world.rank() == 0;
    const std::string other = sentence_of([&] { static_cast<void>((first ? backward : forward).run(world)); });
    CHECK(other == (world.size() == 1 ? "" : "run: the plan is not the same on all ranks"));
    const std::string calls =
        sentence_of([&] { first ? forward.release(world) : static_cast<void>(forward.run(world)); });
    CHECK(calls == (world.size() == 1 ? ""
                                      : "the ranks of a context are in different collective calls, release and run: "
                                        "all ranks must make the same calls in the same order"));
    const std::string plans = sentence_of(
        [&] { first ? static_cast<void>(ep::decompose(world, asked, Z)) : static_cast<void>(forward.run(world)); });
    CHECK(plans.find(world.size() == 1
                         ? ""
                         : "the ranks of a context are in different collective calls, decompose and run: ") == 0);
    CHECK(sentence_of([&] { static_cast<void>(forward.run(world)); }).empty());
}

TEST_CASE("numbers and indices that stand in a view are the same on all ranks") {
    ep::context world(MPI_COMM_WORLD);
    const bool is_last = world.rank() > 0 && world.rank() == world.size() - 1;
    ep::label<'i'> i;
    ep::label<'j'> j;
    const auto start = [] { return ep::generate<double>({3, 4}, [](auto a, auto b) { return double(10 * a + b); }); };
    const auto planned = [&](const ep::tensor<double, 2>& made) {
        return sentence_of([&] { static_cast<void>(ep::decompose(world, made)); });
    };
    const auto agreed = [&](const std::string& sentence, const std::string& wanted) {
        INFO(sentence);
        CHECK((world.size() == 1 ? sentence.empty() : sentence.find(wanted) != std::string::npos));
    };
    ep::tensor<double, 2> A = start(), padded;
    padded(i, j) = ep::padded(A, {1, 0}, {0, 0}, is_last ? 7.0 : 5.0)(i, j);
    agreed(planned(padded), "number 5 on rank 0 and 7 on rank");
    ep::tensor<double, 2> written = start();
    written(is_last ? 1 : 0, j) = -1.0 * A(2, j);
    agreed(planned(written), "what is read");
    ep::tensor<double, 2> same = start();
    same(1, j) = ep::padded(A, {1, 0}, {0, 0}, 5.0)(0, j);
    CHECK(planned(same).empty());
}

}  // namespace agreement_test
