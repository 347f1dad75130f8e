// What is brought and computed once over the runs of a plan (options.runs): the right results in every run, the bytes
// that the plan says, and what is kept, for as long as it should be.

#include <doctest/doctest.h>

#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <support/blocks.hpp>
#include <support/graphs.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace runs_test {

namespace {

/// Sums over all ranks.
std::size_t over_ranks(const ep::context& world, std::size_t mine) {
    std::uint64_t sum = mine;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, world.control().native());
    return static_cast<std::size_t>(sum);
}

/// 1 where a run moved other bytes than the plan says of a first or later run.
int other_bytes(const ep::plan& plan, const ep::context& world, const ep::results& made, bool again) {
    const int rank = world.rank();
    return made.bytes_sent() == (again ? plan.bytes_sent_again(rank) : plan.bytes_sent(rank)) ? 0 : 1;
}

/// y = (A B + C) x, the matrices lasting: how often their sources are read, and how often AB + C is computed.
struct powers {
    std::shared_ptr<whole_tensor> a, b, c, m;
    std::shared_ptr<table_source> c_source;
    std::shared_ptr<told_kernel> product_work, sum_work, apply_work;
    std::shared_ptr<ep::vertex> X, M, Y;
    ep::einsum_form apply{{"i", "j"}, {{0, 1}, {1}}, {0}};
    ep::index rows, columns;

    powers(ep::index m_rows, ep::index k, ep::index n, int root) : rows(m_rows), columns(n) {
        std::mt19937 random(4);
        a = small_integers({m_rows, k}, random);
        b = small_integers({k, n}, random);
        c = small_integers({m_rows, n}, random);
        c_source = std::make_shared<table_source>(c);
        const auto A = input_vertex({m_rows, k}, source_in_memory(*a, root, a), "A");
        const auto B = input_vertex({k, n}, std::make_shared<table_source>(b), "B");
        const auto C = input_vertex({m_rows, n}, c_source, "C");
        X = input_vertex({n}, std::make_shared<ep::detail::function_source>("placeholder"), "X");
        product_work = std::make_shared<told_kernel>(played_operators::sum_of_products, 2);
        sum_work = std::make_shared<told_kernel>(played_operators::sum_of_sums, 2);
        apply_work = std::make_shared<told_kernel>(played_operators::sum_of_products, 2);
        const ep::einsum_form product{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
        const ep::einsum_form sum{{"i", "j"}, {{0, 1}, {0, 1}}, {0, 1}};
        const auto P = einsum_vertex(product, {m_rows, k, n}, {A, B}, product_work, "P");
        M = einsum_vertex(sum, {m_rows, n}, {P, C}, sum_work, "M");
        Y = einsum_vertex(apply, {m_rows, n}, {M, X}, apply_work, "Y");
        m = einsum_of(sum, {m_rows, n}, played_operators::sum_of_sums,
                      {einsum_of(product, {m_rows, k, n}, played_operators::sum_of_products, {a, b}), c});
    }

    /// Runs a plan with another x each time; elements that are wrong.
    template <class Run>
    int wrong(std::size_t output, const Run& run, ep::results* kept = nullptr) {
        const auto x = small_integers({columns}, random_);
        ep::array<double, 1> given({columns});
        std::copy(x->elements.begin(), x->elements.end(), given.data());
        const ep::results made = run(ep::bind(ep::tensor<double, 1>(X), given));
        if (kept != nullptr) {
            *kept = made;
        }
        const auto y = einsum_of(apply, {rows, columns}, played_operators::sum_of_products, {m, x});
        return wrong_elements(made, output, *y);
    }

private:
    std::mt19937 random_{17};
};

ep::options asked_of(const ep::context& world, std::size_t runs) {
    return {.processes = world.size(), .objective = ep::objective::bytes, .runs = runs};
}

}  // namespace

TEST_CASE("random graphs in several runs, released in between: results, and bytes of first and later runs") {
    ep::context world(MPI_COMM_WORLD);
    int wrong = 0;
    int others = 0;
    std::size_t less = 0;
    const int graphs = world.size() > 2 ? 20 : 60;
    for (int seed = 0; seed < graphs; ++seed) {
        random_graph graph(world, static_cast<unsigned>(seed) + 500);
        for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::mn, ep::algorithm::k}) {
            ep::options asked = asked_of(world, seed % 2 == 0 ? 2 : 50);
            asked.algorithm = forced;
            asked.objective = static_cast<ep::objective>(seed % 3);
            asked.machine.seconds_per_flop = 1e-6;
            const ep::plan plan = ep::decompose_vertices(asked, graph.output_vertices());
            std::vector<ep::binding> bound;
            for (const ep::binding& each : graph.bindings) {
                if (std::ranges::any_of(plan.vertices(),
                                        [&](const auto& planned) { return planned.origin == each.placeholder; })) {
                    bound.push_back(each);
                }
            }
            for (int repetition = 0; repetition < 5; ++repetition) {
                if (repetition == 3) {
                    plan.release(world);
                }
                const ep::results made = ep::detail::carry_out(plan, world, bound);
                others += other_bytes(plan, world, made, repetition % 3 != 0);
                for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
                    wrong += wrong_elements(made, output, *graph.values[graph.outputs[output]]);
                }
            }
            less += plan.bytes_sent_again(world.rank()) < plan.bytes_sent(world.rank()) ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
    CHECK(others == 0);
    CHECK((over_ranks(world, less) > 0) == (world.size() > 1));
}

TEST_CASE("what depends on lasting inputs alone is computed in the first run, whatever is bound to the others") {
    ep::context world(MPI_COMM_WORLD);
    const ep::index p = world.size();
    for (const ep::index extent : {5 * p + 1, p == 1 ? 1 : p - 1}) {
        powers graph(extent, 3, extent + 2, static_cast<int>(p) - 1);
        const ep::plan plan = ep::decompose_vertices(asked_of(world, 10), {graph.Y});
        const ep::plan copy = plan;
        int wrong = 0;
        int others = 0;
        for (int repetition = 0; repetition < 4; ++repetition) {
            graph.sum_work->calls = graph.product_work->calls = 0;
            graph.c_source->throws = repetition > 0;
            wrong += graph.wrong(0, [&](const ep::binding& x) {
                const ep::results made = (repetition % 2 == 0 ? plan : copy).run(world, x);
                others += other_bytes(plan, world, made, repetition > 0);
                return made;
            });
            CHECK((repetition == 0 || graph.sum_work->calls + graph.product_work->calls == 0));
            CHECK(graph.apply_work->calls > 0);
        }
        CHECK(wrong == 0);
        CHECK(others == 0);
        plan.release(world);
        plan.release(world);  // nothing is kept any more, and nobody minds
        graph.c_source->throws = false;
        wrong += graph.wrong(0, [&](const ep::binding& x) {
            const ep::results made = plan.run(world, x);
            others += other_bytes(plan, world, made, false);
            return made;
        });
        CHECK(wrong == 0);
        CHECK(others == 0);
    }
}

TEST_CASE("any algorithm over many runs, from uneven blocks into uneven blocks, gives what scalar loops give") {
    ep::context world(MPI_COMM_WORLD);
    EINPARALLEL_LABELS(i, j, k);
    constexpr ep::index inner = 6, columns = 4;
    const int last = world.size() - 1;
    int wrong = 0;
    int others = 0;
    int fed = 0;
    const auto check = [&](const ep::options& asked, ep::index gap, bool lies, bool pinned) {
        uneven_rows own(world, inner, gap);
        uneven_rows target(world, columns, gap);
        own.fill(left_at);
        ep::array<double, 2> whole({own.all, inner});
        for (ep::index at = 0; at < whole.size(); ++at) {
            whole.data()[at] = left_at(at / inner, at % inner);
        }
        const ep::tensor<double, 2> A = lies ? ep::from_distributed(own.on(world)) : ep::from_root(whole, last);
        const ep::tensor<double, 2> X = ep::placeholder<double>({inner, columns});
        ep::tensor<double, 2> B, Y;
        B(i, j) = 2 * A(i, j);
        Y(i, k) = B(i, j) * X(j, k);
        const ep::distributed<double, 2> into = target.on(world);
        if (pinned) {
            Y.pinned(into.pin());
        }
        const ep::plan plan = ep::decompose(world, asked, Y);
        fed += plan.vertices().back().work.travelling == ep::all_travel ? 1 : 0;
        for (ep::index run = 0; run < 6; ++run) {
            ep::array<double, 2> x({inner, columns});
            for (ep::index at = 0; at < x.size(); ++at) {
                x.data()[at] = right_at(at / columns + run, at % columns);
            }
            const auto x_on_last = [&, mine = world.rank() == last ? inner : 0] {
                return ep::distributed<double, 2>(world, {inner, columns}, {inner - mine, 0},
                                                  ep::view<double, 2>(x.data(), {mine, columns}));
            };
            if (run == 4) {
                plan.release(world);
            }
            std::ranges::fill(target.memory, unused);
            const ep::binding bound = run % 3 == 0   ? ep::bind(X, x)
                                      : run % 3 == 1 ? ep::bind(X, ep::from_root(ep::borrow(x), 0))
                                                     : ep::bind(X, x_on_last());
            const ep::results made = plan.run(world, bound, ep::into(Y, into));
            others += other_bytes(plan, world, made, run % 4 != 0);
            wrong += target.holds([&](ep::index row, ep::index column) {
                double sum = 0;
                for (ep::index at = 0; at < inner; ++at) {
                    sum += 2 * left_at(row, at) * right_at(at + run, column);
                }
                return sum;
            })
                         ? 0
                         : 1;
            wrong += made.get(Y).held() == into.held() ? 0 : 1;
        }
    };
    const int stride = world.size() > 4 ? 11 : world.size() > 2 ? 5 : 1;  // the more ranks, the fewer ways each
    for (const ep::algorithm forced : {ep::algorithm::automatic, ep::algorithm::c, ep::algorithm::mn, ep::algorithm::k,
                                       ep::algorithm::master_worker}) {
        for (int way = static_cast<int>(forced); way < 16; way += stride) {
            ep::options asked = asked_of(world, way % 2 == 0 ? 1 : 10);
            asked.algorithm = forced;
            asked.objective = way / 8 % 2 == 0 ? ep::objective::bytes : ep::objective::time;
            asked.machine.seconds_per_flop = 1e-6;
            check(asked, way / 2 % 2 * 3, way / 4 % 2 == 0, way % 3 == 0 && forced == ep::algorithm::automatic);
        }
    }
    CHECK(wrong == 0);
    CHECK(others == 0);
    CHECK((fed > 0) == (world.size() > 1));
}

TEST_CASE("two plans keep their own in one context; what nobody can ask for goes, and the context's end frees all") {
    counted_space::held = 0;
    {
        ep::context world(MPI_COMM_WORLD);
        powers one(12, 4, 9, 0);
        powers two(7, 5, 10, world.size() - 1);
        const auto run_of = [&](const ep::plan& plan) {
            return [&](const ep::binding& x) { return ep::detail::carry_out(plan, world, {&x, 1}, counted); };
        };
        std::optional<ep::plan> first = ep::decompose_vertices(asked_of(world, 10), {one.Y});
        const ep::plan second = ep::decompose_vertices(asked_of(world, 10), {two.Y});
        int wrong = 0;
        for (int repetition = 0; repetition < 3; ++repetition) {
            one.sum_work->calls = two.sum_work->calls = 0;
            wrong += one.wrong(0, run_of(*first)) + two.wrong(0, run_of(second));
            CHECK((repetition == 0 || one.sum_work->calls + two.sum_work->calls == 0));
        }
        CHECK(wrong == 0);
        const std::size_t with_both = counted_space::held;
        {
            const ep::plan equal = ep::decompose_vertices(asked_of(world, 10), {one.Y});
            first.reset();
            wrong += two.wrong(0, run_of(second)) + one.wrong(0, run_of(equal));
            CHECK(one.sum_work->calls > 0);  // kept for no one in between
            CHECK(counted_space::held == with_both);
        }
        wrong += two.wrong(0, run_of(second));
        CHECK(wrong == 0);
        CHECK(over_ranks(world, counted_space::held) < over_ranks(world, with_both));
        const std::size_t kept = counted_space::held;
        second.release(world);
        CHECK(over_ranks(world, counted_space::held) < over_ranks(world, kept));
    }
    CHECK(counted_space::held == 0);
}

TEST_CASE("plans of one context share what they keep alike, for as long as one of them lives") {
    EINPARALLEL_LABELS(i, j, k);
    counted_space::held = 0;
    {
        ep::context world(MPI_COMM_WORLD);
        const ep::index n = 12;
        std::size_t reads = 0;
        const ep::tensor<double, 2> A = ep::generate<double>({n, n}, [&](auto row, auto column) {
            ++reads;
            return double(row * n + column);
        });
        ep::tensor<double, 2> M;
        M(i, j) = 2.0 * A(i, j) - A(j, i);
        int wrong = 0;
        // Plans of products with M of several widths, cut along i.
        struct planned {
            ep::tensor<double, 2> x, y;
            ep::plan plan;
        };
        const auto plan_of = [&](ep::index width) {
            planned made{ep::placeholder<double>({n, width}), {}, {}};
            made.y(i, k) = M(i, j) * made.x(j, k);
            const ep::cutting_rule rows = ep::rivals::along("i");
            made.plan = ep::plan_with(world, {.runs = 5}, rows, made.y);
            return made;
        };
        const auto run = [&](const planned& of) {
            ep::array<double, 2> x({n, of.x.extents()[1]});
            for (ep::index at = 0; at < x.size(); ++at) {
                x.data()[at] = double(at % 7);
            }
            const ep::binding bound = ep::bind(of.x, x);
            const ep::results made = ep::detail::carry_out(of.plan, world, {&bound, 1}, counted);
            const ep::array<double, 2> y = made.get(of.y).allgather();
            for (ep::index row = 0; row < n; ++row) {
                for (ep::index column = 0; column < x.extent(1); ++column) {
                    double sum = 0;
                    for (ep::index inner = 0; inner < n; ++inner) {
                        sum += double(2 * (row * n + inner) - (inner * n + row)) * x(inner, column);
                    }
                    wrong += y(row, column) == sum ? 0 : 1;
                }
            }
            return made.bytes_sent();
        };
        const planned wide = plan_of(5);
        std::optional<planned> narrow = plan_of(3);
        run(*narrow);
        CHECK(over_ranks(world, reads) > 0);
        const std::size_t once = std::exchange(reads, 0);
        const std::size_t kept = counted_space::held;
        CHECK(run(wide) == wide.plan.bytes_sent_again(world.rank()));  // as if it had run before
        CHECK(reads == 0);
        CHECK(counted_space::held < 2 * kept);
        narrow->plan.release(world);
        narrow.reset();
        run(wide);
        CHECK(reads == 0);
        const planned third = plan_of(2);
        run(third);
        CHECK(reads == 0);
        if (world.rank() == 0) {
            world.release_memory();
        }
        const planned fourth = plan_of(4);  // a rank that has let go: all bring it again, but write to nobody's
        run(fourth);
        CHECK(reads == once);
        run(third);
        run(wide);
        run(fourth);
        CHECK(wrong == 0);
    }
    CHECK(counted_space::held == 0);
}

TEST_CASE("a run holds no more than the plan says, what is kept included") {
    ep::context world(MPI_COMM_WORLD);
    powers graph(40, 30, 20, 0);
    const ep::plan plan = ep::decompose_vertices(asked_of(world, 10), {graph.Y, graph.M});
    counted_space::held = counted_space::most_held = 0;
    int wrong = 0;
    for (int repetition = 0; repetition < 3; ++repetition) {
        wrong += graph.wrong(0, [&](const ep::binding& x) {
            return ep::detail::carry_out(plan, world, {&x, 1}, counted);
        });
        CHECK(counted_space::most_held <= plan.peak_bytes(world.rank()));
    }
    CHECK(wrong == 0);
    world.release_memory();
    CHECK(counted_space::held == 0);
}

TEST_CASE("a result that lasts is the application's to write to") {
    ep::context world(MPI_COMM_WORLD);
    powers graph(8, 4, 9, 0);
    const ep::plan plan = ep::decompose_vertices(asked_of(world, 10), {graph.Y, graph.M, graph.M});
    int wrong = 0;
    for (int repetition = 0; repetition < 3; ++repetition) {
        std::optional<ep::results> made;
        wrong += graph.wrong(0, [&](const ep::binding& x) {
            made = plan.run(world, x);
            return *made;
        });
        wrong += wrong_elements(*made, 1, *graph.m) + wrong_elements(*made, 2, *graph.m);
        const ep::distributed<double, 2> result = made->at<double, 2>(1);
        result.for_each_local([](auto, double& element) { element = 1e9; });
    }
    CHECK(wrong == 0);
}

TEST_CASE("a run that fails keeps nothing half, and takes nothing from what is kept") {
    ep::context world(MPI_COMM_WORLD);
    const bool last = world.rank() == world.size() - 1;
    powers graph(4 * world.size(), 4, 4 * world.size(), 0);
    const ep::plan plan = ep::decompose_vertices(asked_of(world, 10), {graph.Y});
    int others = 0;
    const auto run = [&](bool again) {
        return [&, again](const ep::binding& x) {
            const ep::results made = ep::detail::carry_out(plan, world, {&x, 1}, counted);
            others += other_bytes(plan, world, made, again);
            return made;
        };
    };
    counted_space::held = 0;
    graph.sum_work->throws = last;
    CHECK(!sentence_of([&] { graph.wrong(0, run(false)); }).empty());
    graph.sum_work->throws = false;
    CHECK(graph.wrong(0, run(false)) == 0);
    graph.apply_work->throws = last;
    CHECK(!sentence_of([&] { graph.wrong(0, run(true)); }).empty());
    graph.apply_work->throws = false;
    CHECK(graph.wrong(0, run(true)) == 0);
    CHECK(others == 0);
    world.release_memory();
}

TEST_CASE("where one rank has let go, all bring it again; release speaks up inside a run") {
    ep::context world(MPI_COMM_WORLD);
    powers graph(9, 4, 9, 0);
    const ep::plan plan = ep::decompose_vertices(asked_of(world, 10), {graph.Y});
    int others = 0;
    int wrong = 0;
    for (int repetition = 0; repetition < 4; ++repetition) {
        if (repetition == 2 && world.rank() == 0) {
            world.release_memory();
        }
        wrong += graph.wrong(0, [&](const ep::binding& x) {
            const ep::results made = plan.run(world, x);
            others += other_bytes(plan, world, made, repetition % 2 == 1);
            return made;
        });
    }
    CHECK(wrong == 0);
    CHECK(others == 0);
    const ep::tensor<double, 1> nested = ep::generate<double>({2 * world.size()}, [&](auto i) {
        plan.release(world);
        return static_cast<double>(i);
    });
    CHECK(sentence_of([&] {
              static_cast<void>(ep::evaluate(world, nested));
          }).find("release: this context is in a collective call already") != std::string::npos);
    CHECK(sentence_of([&] {
              static_cast<void>(ep::decompose(world, {.runs = 0}, nested));
          }).find("options.runs is 0, it must be at least 1") != std::string::npos);
}

TEST_CASE("borrowed memory and the application's blocks are read in every run, snapshots and results in the first") {
    ep::context world(MPI_COMM_WORLD);
    EINPARALLEL_LABELS(i);
    ep::array<double, 1> mine({6});
    const auto set = [&](double value) { std::fill(mine.data(), mine.data() + 6, value); };
    set(1);
    const ep::tensor<double, 1> borrowed = ep::from_root(ep::borrow(mine), 0);
    const ep::tensor<double, 1> snapshot = ep::from_root(mine, 0);
    const ep::index first = world.rank() == 0 ? 0 : 6;
    const ep::tensor<double, 1> own = ep::from_distributed(
        ep::distributed<double, 1>(world, {6}, {first}, ep::view<double, 1>(mine.data(), {6 - first})));
    ep::tensor<double, 1> sum;
    sum(i) = 100 * borrowed(i) + 10 * own(i) + snapshot(i);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .runs = 3}, sum);
    for (const double value : {1.0, 2.0, 3.0}) {
        set(value);
        const ep::distributed<double, 1> made = plan.run(world);
        CHECK(made.allgather()(5) == 110 * value + 1);
    }
}

}  // namespace runs_test
