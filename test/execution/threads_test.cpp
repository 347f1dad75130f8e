// Contexts and threads, at the level of threads that MPI was initialised with (EINPARALLEL_TEST_THREADS): what the
// level takes is right, what it does not take is refused before MPI is called.

#include <doctest/doctest.h>

#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>

#include <support/graphs.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ep = einparallel;
using ep::testing::same_everywhere;
using ep::testing::sentence_of;

namespace threads_test {

namespace {

EINPARALLEL_LABELS(i, j, k);

int level() {
    int provided = 0;
    MPI_Query_thread(&provided);
    return provided;
}

/// f() on another thread, which ends before this one goes on.
void on_another_thread(const auto& f) {
    std::thread other(f);
    other.join();
}

/// Z(i, k) = Σ_j A(i, j) · X(j, k), of which A is made by a source.
struct product {
    ep::index n;
    ep::tensor<double, 2> X = ep::placeholder<double>({n, n}), Z;

    explicit product(ep::index extent) : n(extent) {
        const ep::tensor<double, 2> A =
            ep::generate<double>({n, n}, [](auto row, auto at) { return double(row - at); });
        Z(i, k) = A(i, j) * X(j, k);
    }
    ep::array<double, 2> values(int seed) const {
        ep::array<double, 2> made({n, n});
        for (ep::index at = 0; at < made.size(); ++at) {
            made.data()[at] = double((at * 7 + seed) % 11);
        }
        return made;
    }
    /// Elements of the result that are wrong here.
    int wrong(ep::context& world, const ep::plan& plan, int seed) const {
        const ep::array<double, 2> x = values(seed);
        const ep::distributed<double, 2> z = plan.run(world, ep::bind(X, x));
        int found = 0;
        z.for_each_local([&](const auto& at, double element) {
            double sum = 0;
            for (ep::index term = 0; term < n; ++term) {
                sum += double(at[0] - term) * x(term, at[1]);
            }
            found += element == sum ? 0 : 1;
        });
        return found;
    }
};

const ep::options by_bytes{.objective = ep::objective::bytes};

}  // namespace

TEST_CASE("other threads than MPI's main one, below MPI_THREAD_SERIALIZED") {
    if (level() >= MPI_THREAD_SERIALIZED) {
        return;
    }
    const std::string because =
        std::string(": this thread is not MPI's main one, and MPI was initialised with MPI_THREAD_") +
        (level() == MPI_THREAD_SINGLE ? "SINGLE" : "FUNNELED") +
        ": another thread needs MPI_THREAD_SERIALIZED, several at the same time need MPI_THREAD_MULTIPLE";
    ep::context world(MPI_COMM_WORLD);
    const product of(6);
    const ep::plan plan = ep::decompose(world, by_bytes, of.Z);
    std::array<std::string, 4> said;
    on_another_thread([&] {
        said[0] = sentence_of([&] { static_cast<void>(ep::context(MPI_COMM_WORLD)); });
        said[1] = sentence_of([&] { static_cast<void>(of.wrong(world, plan, 1)); });
        said[2] = sentence_of([&] { static_cast<void>(ep::decompose(world, of.Z)); });
        said[3] = sentence_of([&] { world.release_memory(); });
    });
    CHECK(said[0] == "context" + because);
    CHECK(said[1] == "run" + because);
    CHECK(said[2] == "decompose" + because);
    CHECK(said[3] == "release_memory" + because);
    CHECK(of.wrong(world, plan, 2) == 0);
}

TEST_CASE("threads that take turns, from MPI_THREAD_SERIALIZED on") {
    if (level() < MPI_THREAD_SERIALIZED) {
        return;
    }
    const product of(7);
    std::optional<ep::context> world;
    std::optional<ep::plan> plan;
    int wrong = 0;
    on_another_thread([&] { world.emplace(MPI_COMM_WORLD); });
    on_another_thread([&] { plan.emplace(ep::decompose(*world, by_bytes, of.Z)); });
    for (int turn = 0; turn < 6; ++turn) {
        turn % 2 == 0 ? void(wrong += of.wrong(*world, *plan, turn))
                      : on_another_thread([&] { wrong += of.wrong(*world, *plan, turn); });
    }
    CHECK(wrong == 0);
    on_another_thread([&] { world.reset(); });
}

TEST_CASE("calls at the same time: one context never, two contexts at MPI_THREAD_MULTIPLE") {
    if (level() < MPI_THREAD_SERIALIZED) {
        return;
    }
    ep::context world(MPI_COMM_WORLD);
    ep::context second(MPI_COMM_WORLD);
    const product of(5);
    const ep::plan plan = ep::decompose(second, by_bytes, of.Z);
    int wrong = 0;
    std::string same, other, nested;
    // A source of every rank's, called in the middle of a run.
    const ep::tensor<double, 1> watched = ep::generate<double>({world.size()}, [&](auto) {
        on_another_thread([&] {
            same = sentence_of([&] { world.release_memory(); });
            other = sentence_of([&] { second.release_memory(); });
        });
        nested = sentence_of([&] { second.release_memory(); });  // a call inside of a call
        return 1.0;
    });
    ep::tensor<double, 1> made;
    made(i) = 2.0 * watched(i);
    made.pinned({{"i", world.size()}});
    static_cast<void>(ep::evaluate(world, made));
    const bool is_multiple = level() == MPI_THREAD_MULTIPLE;
    const std::string busy =
        "release_memory: this context is in a collective call already: sources, functors, callbacks and other threads "
        "must not make another";
    const std::string serialized =
        "release_memory: another thread is in a call of the library, and MPI was initialised with "
        "MPI_THREAD_SERIALIZED: calls at the same time need MPI_THREAD_MULTIPLE";
    CHECK(same == (is_multiple ? busy : serialized));
    CHECK(other == (is_multiple ? "" : serialized));
    CHECK(nested.empty());
    // and nothing is left behind
    on_another_thread([&] { wrong += of.wrong(second, plan, 3); });
    wrong += of.wrong(second, plan, 4);
    CHECK(wrong == 0);
}

TEST_CASE("threads with a context each run plans at the same time, of their own and one for all") {
    if (level() < MPI_THREAD_MULTIPLE) {
        return;
    }
    constexpr int threads = 3;
    constexpr int turns = 12;
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const product shared(8);
    const ep::plan for_all = ep::decompose({.processes = size, .objective = ep::objective::bytes, .runs = 3}, shared.Z);
    std::array<MPI_Comm, threads> ranks{};
    for (int thread = 0; thread < threads; ++thread) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, thread % 2 == 0 ? rank : -rank, &ranks[std::size_t(thread)]);
    }
    std::array<int, threads> wrong{};
    std::array<std::string, threads> said;
    const auto work = [&](std::size_t thread) {
        ep::context world(ranks[thread]);  // at the same time, of a communicator each
        const product own(5 + ep::index(thread));
        const ep::plan plan = ep::decompose(world, by_bytes, own.Z);
        for (int turn = 0; turn < turns; ++turn) {
            wrong[thread] += own.wrong(world, plan, turn);
            wrong[thread] += shared.wrong(world, for_all, turn + int(thread));
            if (turn % 5 == int(thread)) {
                world.release_memory();
            }
            // some thread's run fails, which is nobody else's business
            const ep::tensor<double, 1> fails = ep::generate<double>(
                {4}, [&](auto) -> double { throw std::runtime_error("thread " + std::to_string(thread)); });
            said[thread] = sentence_of([&] { static_cast<void>(ep::evaluate(world, fails)); });
        }
    };
    std::vector<std::thread> all;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] { work(thread); });
    }
    for (std::thread& each : all) {
        each.join();
    }
    for (std::size_t thread = 0; thread < threads; ++thread) {
        CHECK(wrong[thread] == 0);
        CHECK(said[thread].find("thread " + std::to_string(thread)) != std::string::npos);
        MPI_Comm_free(&ranks[thread]);
    }
}

TEST_CASE("a result of some ranks that all want") {
    ep::context world(MPI_COMM_WORLD);
    for (int members = 1; members <= world.size(); ++members) {
        MPI_Comm some = MPI_COMM_NULL;
        const bool is_member = world.rank() >= world.size() - members;  // the last ones, backwards
        MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, -world.rank(), &some);
        ep::distributed<double, 2> z;
        std::optional<ep::context> theirs;
        const product of(6);
        const ep::array<double, 2> x = of.values(members);
        if (is_member) {
            theirs.emplace(some);
            z = ep::evaluate(*theirs, by_bytes, of.Z, ep::bind(of.X, x));
        }
        const auto mine = z.local();
        std::array<ep::index, 2> first{};
        for (std::size_t side = 0; side < 2 && mine.size() > 0; ++side) {
            first[side] = z.held().sides[side].begin;
        }
        const ep::distributed<double, 2> here(world, {of.n, of.n}, first, mine);
        const ep::array<double, 2> whole = here.allgather();
        ep::array<double, 2> wanted;
        ep::array<double, 2> a({of.n, of.n});
        for (ep::index row = 0; row < of.n; ++row) {
            for (ep::index at = 0; at < of.n; ++at) {
                a(row, at) = double(row - at);
            }
        }
        wanted(i, k) = a(i, j) * x(j, k);
        CHECK(std::equal(whole.data(), whole.data() + whole.size(), wanted.data()));
        // and as the input of a plan of all
        const ep::tensor<double, 2> Z = ep::from_distributed(here);
        ep::tensor<double, 0> total;
        total() = ep::sum(Z(i, k));
        double sum = 0;
        for (ep::index at = 0; at < wanted.size(); ++at) {
            sum += wanted.data()[at];
        }
        CHECK(ep::evaluate(world, total).allgather().value() == sum);
        theirs.reset();
        if (some != MPI_COMM_NULL) {
            MPI_Comm_free(&some);
        }
    }
}

}  // namespace threads_test
