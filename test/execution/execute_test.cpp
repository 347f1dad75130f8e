// Any plan on the ranks at hand: right results, exactly the bytes that the plan says, and nothing allocated twice.

#include <doctest/doctest.h>

#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/random.hpp>
#include <einparallel/run/decompose.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace execute_test {

namespace {

ep::results execute_counted(const ep::plan& plan, ep::context& world) {
    return ep::detail::carry_out(plan, world, {}, counted);
}

/// Bindings for the placeholders of a plan.
std::vector<ep::binding> bindings_for(const ep::plan& plan, const std::vector<ep::binding>& all) {
    std::vector<ep::binding> wanted;
    for (const ep::binding& each : all) {
        for (const ep::planned_vertex& planned : plan.vertices()) {
            if (planned.origin == each.placeholder) {
                wanted.push_back(each);
            }
        }
    }
    return wanted;
}

ep::results run(const ep::plan& plan, ep::context& world, const std::vector<ep::binding>& bound) {
    return ep::detail::carry_out(plan, world, bound);
}

}  // namespace

TEST_CASE("random graphs under every algorithm: results, bytes, and memory as the plan says") {
    ep::context world(MPI_COMM_WORLD);
    std::map<std::string, int> seen;
    std::map<int, int> algorithms;
    int wrong = 0;
    int other_bytes = 0;
    const int graphs = world.size() > 2 ? 14 : 60;
    for (int seed = 0; seed < graphs; ++seed) {
        random_graph graph(world, static_cast<unsigned>(seed));
        for (const auto& [what, count] : graph.seen) {
            seen[what] += count;
        }
        for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::c, ep::algorithm::mn,
                                           ep::algorithm::k, ep::algorithm::master_worker}) {
            ep::options asked;
            asked.processes = world.size();
            asked.algorithm = forced;
            asked.objective = seed % 3 == 0 ? ep::objective::paper : ep::objective::bytes;
            const ep::plan plan = ep::decompose_vertices(asked, graph.output_vertices());
            for (const ep::planned_vertex& each : plan.vertices()) {
                ++algorithms[static_cast<int>(each.algorithm)];
            }
            const std::vector<ep::binding> bound = bindings_for(plan, graph.bindings);
            for (int repetition = 0; repetition < 2; ++repetition) {
                const ep::results made = run(plan, world, bound);
                other_bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
                for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
                    wrong += wrong_elements(made, output, *graph.values[graph.outputs[output]]);
                }
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(other_bytes == 0);
    // The generator reaches what the executor distinguishes.
    for (const char* const kind : {"root", "resting", "placeholder", "in memory", "function", "bound distributed",
                                   "bound on a root", "einsum of 1", "einsum of 2", "einsum of 3"}) {
        CAPTURE(kind);
        CHECK(seen[kind] > 0);
    }
    if (world.size() > 1) {
        for (const ep::algorithm each :
             {ep::algorithm::c, ep::algorithm::mn, ep::algorithm::k, ep::algorithm::master_worker}) {
            CAPTURE(static_cast<int>(each));
            CHECK(algorithms[static_cast<int>(each)] > 0);
        }
    }
}

TEST_CASE("a contraction of the schedule is one call of the kernel") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(40 * world.size(), 12, 9);
    for (const ep::algorithm forced : {ep::algorithm::mn, ep::algorithm::k}) {
        ep::options asked{.processes = world.size(), .objective = ep::objective::bytes, .algorithm = forced};
        asked.machine.seconds_per_flop = 1;
        const ep::plan plan = ep::decompose(asked, graph.handle());
        int calls = 0;
        for (const ep::step& each : plan.program_of(world.rank()).steps) {
            for (const ep::action& done : each.work) {
                calls += std::holds_alternative<ep::contraction>(done) ? 1 : 0;
            }
        }
        graph.work->calls = 0;
        const ep::results made = ep::execute(plan, world);
        CHECK(graph.work->calls == calls);
        CHECK(wrong_elements(made, 0, *graph.z) == 0);
    }
}

TEST_CASE("a product in less and less memory") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(48, 48, 48);
    ep::options asked{.processes = world.size()};
    asked.machine.seconds_per_flop = 1e-6;
    for (bool found = true; found;) {
        try {
            const ep::plan plan = ep::decompose(asked, graph.handle());
            const ep::results made = ep::execute(plan, world);
            CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
            CHECK(wrong_elements(made, 0, *graph.z) == 0);
            asked.memory_limit = 0;
            for (int rank = 0; rank < world.size(); ++rank) {
                asked.memory_limit = std::max(asked.memory_limit, plan.peak_bytes(rank) - 1);
            }
        } catch (const ep::error&) {
            found = false;
        }
    }
}

TEST_CASE("what rests in short runs elsewhere arrives, packed on the way") {
    ep::context world(MPI_COMM_WORLD);
    constexpr ep::index rows = 6000;
    constexpr ep::index columns = 24;
    const ep::tensor<double, 2> x = ep::placeholder<double>({rows, columns});
    const ep::tensor<double, 2> z = ep::einsum<"ij->ij">(x);
    for (const ep::objective wanted : {ep::objective::time, ep::objective::bytes}) {
        const ep::plan plan = ep::decompose(world, {.objective = wanted}, z);
        for (const bool by_rows : {false, true}) {
            const ep::interval mine = ep::block_of({0, by_rows ? rows : columns}, world.size(), world.rank());
            ep::array<double, 2> part({by_rows ? mine.size() : rows, by_rows ? columns : mine.size()});
            const ep::index first_row = by_rows ? mine.begin : 0;
            const ep::index first_column = by_rows ? 0 : mine.begin;
            for (ep::index row = 0; row < part.extents()[0]; ++row) {
                for (ep::index column = 0; column < part.extents()[1]; ++column) {
                    part(row, column) = static_cast<double>((first_row + row) * columns + first_column + column);
                }
            }
            const ep::distributed<double, 2> bound(world, {rows, columns}, {first_row, first_column},
                                                   ep::view<double, 2>(part));
            for (int run = 0; run < 2; ++run) {
                int wrong = 0;
                const ep::distributed<double, 2> made = plan.run(world, ep::bind(x, bound));
                made.for_each_local([&](auto at, double value) {
                    wrong += value == static_cast<double>(at[0] * columns + at[1]) ? 0 : 1;
                });
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE("element-wise vertices in turn are computed in place of each other, and are right") {
    EINPARALLEL_LABELS(i, j);
    constexpr ep::index rows = 150, columns = 70;
    ep::context world(MPI_COMM_WORLD);
    const auto u = [](ep::index row) { return 2 * ep::uniform(5)(row, 0) - 1; };
    const auto v = [](ep::index column) { return 0.5 + static_cast<double>(column % 7); };
    const ep::tensor<double, 1> U = ep::generate<double>({rows}, u);
    const ep::tensor<double, 1> V = ep::generate<double>({columns}, v);
    ep::tensor<double, 2> A, B, C, D, E, F, G;
    ep::tensor<double, 1> z;
    A(i, j) = 0.2 * U(i) * V(j);
    B(i, j) = ep::exp(A(i, j));
    C(i, j) = B(i, j) * V(j);
    D(i, j) = ep::silu(C(i, j));
    E(i, j) = ep::softmax(j, D(i, j));
    F(i, j) = ep::join([](double each, double by) { return each * each + by; }, E(i, j), V(j));
    G(i, j) = F(i, j) - V(j);
    z(i) = ep::sum(j, G(i, j));
    for (const ep::objective wanted : {ep::objective::time, ep::objective::bytes}) {
        const ep::plan plan = ep::decompose({.processes = world.size(), .objective = wanted}, z);
        CHECK(2 * plan.peak_bytes(world.rank()) < 3 * rows * columns * sizeof(double));
        world.release_memory();
        counted_space::most_held = 0;
        for (int run = 0; run < 2; ++run) {
            const ep::distributed<double, 1> made = execute_counted(plan, world);
            int wrong = 0;
            made.for_each_local([&](auto at, double sum) {
                std::vector<double> d;
                double largest = -1;
                for (ep::index column = 0; column < columns; ++column) {
                    const double c = std::exp(0.2 * u(at[0]) * v(column)) * v(column);
                    d.push_back(c / (1 + std::exp(-c)));
                    largest = std::max(largest, d.back());
                }
                double all = 0;
                for (const double each : d) {
                    all += std::exp(each - largest);
                }
                double expected = 0;
                for (const double each : d) {
                    const double e = std::exp(each - largest) / all;
                    expected += e * e;
                }
                wrong += std::abs(sum - expected) < 1e-11 ? 0 : 1;
            });
            CHECK(wrong == 0);
        }
        CHECK(counted_space::most_held <= plan.peak_bytes(world.rank()));
    }
}

TEST_CASE("a plan runs again without allocating, and its memory is what the plan says") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(13, 8, 11);
    for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
        const ep::plan plan = ep::decompose(
            {.processes = world.size(), .objective = ep::objective::bytes, .algorithm = forced}, graph.handle());
        world.release_memory();
        CHECK(counted_space::held == 0);
        counted_space::most_held = 0;
        int after_first = 0;
        int wrong = 0;
        for (int repetition = 0; repetition < 4; ++repetition) {
            const ep::distributed<double, 2> z = execute_counted(plan, world);
            if (repetition == 0) {
                after_first = counted_space::allocations;
                CHECK(counted_space::most_held == plan.peak_bytes(world.rank()));
            }
            wrong += z.extents()[0] == 13 ? 0 : 1;
        }
        CHECK(wrong == 0);
        CHECK(counted_space::allocations == after_first);

        // Kept until the next one is there: two results in turn, then no more.
        ep::distributed<double, 2> z = execute_counted(plan, world);
        z = execute_counted(plan, world);
        const int after_second = counted_space::allocations;
        for (int repetition = 0; repetition < 5; ++repetition) {
            z = execute_counted(plan, world);
        }
        CHECK(counted_space::allocations == after_second);

        // A result that is kept is not written by later runs.
        const ep::distributed<double, 2> kept = z;
        kept.for_each_local([](auto, double& element) { element = 777; });
        const ep::distributed<double, 2> next = execute_counted(plan, world);
        int changed = 0;
        kept.for_each_local([&](auto, const double& element) { changed += element == 777 ? 0 : 1; });
        next.for_each_local([&](auto at, const double& element) {
            changed += element == graph.z->at({at[0], at[1]}) ? 0 : 1;
        });
        CHECK(changed == 0);
    }
    world.release_memory();
    CHECK(counted_space::held == 0);
}

TEST_CASE("plans in turn share scratch memory, and a plan nobody can ask for any more goes") {
    ep::context world(MPI_COMM_WORLD);
    counted_space::allocations = 0;
    std::size_t held_with_both = 0;
    {
        const product first(12, 9, 10, 1);
        const product second(9, 12, 7, 2);
        const ep::plan a =
            ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, first.handle());
        const ep::plan b =
            ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, second.handle());
        int after = 0;
        for (int repetition = 0; repetition < 3; ++repetition) {
            CHECK(wrong_elements(execute_counted(a, world), 0, *first.z) == 0);
            CHECK(wrong_elements(execute_counted(b, world), 0, *second.z) == 0);
            // A plan made anew for the same graph is the same plan.
            const ep::plan again =
                ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, first.handle());
            CHECK(wrong_elements(execute_counted(again, world), 0, *first.z) == 0);
            if (repetition == 0) {
                after = counted_space::allocations;
            }
        }
        CHECK(counted_space::allocations == after);
        held_with_both = counted_space::held;
    }
    const product third(2, 2, 2, 3);
    const ep::plan c = ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, third.handle());
    CHECK(wrong_elements(execute_counted(c, world), 0, *third.z) == 0);
    int less = counted_space::held < held_with_both ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &less, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(less == 1);
    world.release_memory();
    CHECK(counted_space::held == 0);
}

TEST_CASE("inputs are used where they lie, and never written") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(5);
    const auto values = small_integers({12, 6}, random);
    const auto other = small_integers({6, 12}, random);
    const std::vector<double> before = values->elements;
    const auto A = input_vertex({12, 6}, source_in_memory(*values, std::nullopt), "A");
    const auto B = input_vertex({6, 12}, source_in_memory(*other, std::nullopt), "B");
    const ep::einsum_form form{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    const auto work = std::make_shared<told_kernel>(played_operators::sum_of_products, 2);
    const auto Z = einsum_vertex(form, {12, 6, 12}, {A, B}, work, "Z");
    const auto z = einsum_of(form, {12, 6, 12}, played_operators::sum_of_products, {values, other});
    const ep::plan plan =
        ep::decompose_vertices({.processes = world.size(), .objective = ep::objective::bytes}, {Z, A});
    world.release_memory();
    counted_space::most_held = counted_space::held;
    const std::size_t at_start = counted_space::held;
    const ep::results made = execute_counted(plan, world);
    if (world.size() == 1) {
        // Z and the copy of A that is a result; B is not copied.
        CHECK(counted_space::most_held - at_start == (12 * 12 + 12 * 6) * sizeof(double));
    }
    CHECK(wrong_elements(made, 0, *z) == 0);
    CHECK(wrong_elements(made, 1, *values) == 0);
    // The result that is an input is a copy: the application may write to it.
    made.at<double, 2>(1).for_each_local([](auto, double& element) { element = -1; });
    CHECK(values->elements == before);
    CHECK(wrong_elements(execute_counted(plan, world), 0, *z) == 0);
}

TEST_CASE("results are inputs of later runs, wherever they rest") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(7, 10, 9);
    for (const ep::algorithm forced : {ep::algorithm::mn, ep::algorithm::k}) {
        const ep::plan plan = ep::decompose(
            {.processes = world.size(), .objective = ep::objective::bytes, .algorithm = forced}, graph.handle());
        ep::distributed<double, 2> z = plan.run(world);
        // Y(k, i) = 2-fold use of Z: Z(i, k) Z(i, k), transposed
        const ep::tensor<double, 2> handle = ep::from_distributed(z);
        const ep::einsum_form form{{"i", "k"}, {{0, 1}, {0, 1}}, {1, 0}};
        const auto work = std::make_shared<told_kernel>(played_operators::sum_of_products, 2);
        const auto Y = einsum_vertex(form, {7, 9}, {handle.node(), handle.node()}, work);
        const auto y = einsum_of(form, {7, 9}, played_operators::sum_of_products, {graph.z, graph.z});
        const ep::plan next =
            ep::decompose_vertices({.processes = world.size(), .objective = ep::objective::bytes}, {Y});
        const ep::results first = ep::execute(next, world);
        CHECK(wrong_elements(first, 0, *y) == 0);
        z = plan.run(world);  // the input keeps what it was made from
        CHECK(wrong_elements(ep::execute(next, world), 0, *y) == 0);
    }
}

TEST_CASE("placeholders: bound to other values at each run, from wherever they lie") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(9);
    const auto X = input_vertex({8, 5}, std::make_shared<ep::detail::function_source>("placeholder"), "X");
    const ep::einsum_form form{{"i", "j"}, {{0, 1}}, {1}};
    const auto Z =
        einsum_vertex(form, {8, 5}, {X}, std::make_shared<told_kernel>(played_operators::sum_of_products, 1));
    const ep::plan plan = ep::decompose_vertices({.processes = world.size(), .objective = ep::objective::bytes}, {Z});
    const ep::tensor<double, 2> handle(X);
    std::size_t extra = 0;
    for (int repetition = 0; repetition < 3; ++repetition) {
        const auto value = small_integers({8, 5}, random);
        const auto wanted = einsum_of(form, {8, 5}, played_operators::sum_of_products, {value});
        ep::array<double, 2> given({8, 5});
        std::copy(value->elements.begin(), value->elements.end(), given.data());
        CHECK(wrong_elements(ep::execute(plan, world, ep::bind(handle, given)), 0, *wanted) == 0);
        const ep::view<double, 2> looked_at = given;
        CHECK(wrong_elements(ep::execute(plan, world, ep::bind(handle, looked_at)), 0, *wanted) == 0);
        CHECK(wrong_elements(ep::execute(plan, world, ep::bind(handle, ep::array<double, 2>(given))), 0, *wanted) == 0);
        // the transpose of the transpose, strided
        ep::array<double, 2> turned({5, 8});
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < 5; ++j) {
                turned.data()[8 * j + i] = given.data()[5 * i + j];
            }
        }
        const ep::view<double, 2> strided(turned.data(), {8, 5}, {1, 8});
        CHECK(wrong_elements(ep::execute(plan, world, ep::bind(handle, strided)), 0, *wanted) == 0);

        const auto part = part_of(*value, random_slabs({8, 5}, world.size(), random), world);
        const ep::distributed<double, 2> spread(part->part);
        const ep::results made = plan.run(world, ep::bind(handle, spread));
        CHECK(wrong_elements(made, 0, *wanted) == 0);
        CHECK(made.bytes_sent() == plan.bytes_sent(world.rank()));
        extra += made.extra_bytes_sent();
    }
    std::uint64_t most = ~static_cast<std::uint64_t>(extra);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    CHECK((~most > 0) == (world.size() > 1));
}

TEST_CASE("the application goes on using its communicator, with the same tags") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(9, 9, 9);
    const ep::plan plan = ep::decompose(
        {.processes = world.size(), .objective = ep::objective::bytes, .algorithm = ep::algorithm::k}, graph.handle());
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    int got = -1;
    int from_any = -1;
    MPI_Request requests[3];
    MPI_Irecv(&got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&from_any, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    const ep::results made = ep::execute(plan, world);
    const int sent[2] = {100 + world.rank(), 200 + world.rank()};
    MPI_Send(&sent[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    MPI_Isend(&sent[1], 1, MPI_INT, next, 7, MPI_COMM_WORLD, &requests[2]);
    CHECK(wrong_elements(made, 0, *graph.z) == 0);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(got == 100 + previous);
    CHECK(from_any == 200 + previous);
}

}  // namespace execute_test
