// Planning on a context: ranks that recorded different things hear the same sentence.

#include <doctest/doctest.h>
#include <Eigen/Core>

#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/gradient.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace decompose_test {

namespace {

ep::einsum_form matrix_product() {
    return {{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
}

/// ⊕ by magnitude.
template <bool Largest>
struct by_magnitude {
    static constexpr bool associative_commutative = true;
    template <class T>
    static constexpr T identity() {
        return Largest ? T(0) : T(1e300);
    }
    double operator()(double a, double b) const { return (std::abs(a) > std::abs(b)) == Largest ? a : b; }
};
using least_magnitude = by_magnitude<false>;
using largest_magnitude = by_magnitude<true>;

/// The larger one, if it is larger than what it holds.
struct holding {
    double least;
    static constexpr bool associative_commutative = true;
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    double operator()(double a, double b) const { return std::max({a, b, least}); }
};

template <class T>
struct scaled {
    T by;
    double operator()(double x) const { return double(by) * x; }
};

struct quadratic {
    double factor;
    double operator()(double x) const { return factor * x * x; }
    scaled<double> derivative() const { return {2 * factor}; }
};

/// With bytes between and behind its members.
struct padded {
    char letter;
    double factor;
    int number;
    double operator()(double x) const { return factor * x + number + letter; }
};

}  // namespace

TEST_CASE("decompose and evaluate on a context") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(7, 5, 6);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, graph.handle());
    const ep::plan alone =
        ep::decompose({.processes = world.size(), .objective = ep::objective::bytes}, graph.handle());
    const bool same_plan = plan == alone;
    CHECK(same_plan);
    const bool same_default =
        ep::decompose(world, graph.handle()) == ep::decompose({.processes = world.size()}, graph.handle());
    CHECK(same_default);

    const ep::distributed<double, 2> z = plan.run(world);
    CHECK(z.allgather().size() == 42);
    const ep::distributed<double, 2> one = ep::evaluate(world, graph.handle());
    CHECK(one.extents() == std::array<ep::index, 2>{7, 6});
    const auto [first, second] =
        ep::evaluate(world, {.objective = ep::objective::bytes}, graph.handle(), ep::tensor<double, 2>(graph.A));
    static_assert(std::is_same_v<std::remove_const_t<decltype(second)>, ep::distributed<double, 2>>);
    const ep::array<double, 2> values = first.allgather();
    const ep::array<double, 2> input = second.allgather();
    CHECK(std::equal(values.data(), values.data() + values.size(), graph.z->elements.begin()));
    CHECK(std::equal(input.data(), input.data() + input.size(), graph.a->elements.begin()));
}

TEST_CASE("extents, structure, sources and options that differ between ranks") {
    ep::context world(MPI_COMM_WORLD);
    const int last = world.size() - 1;
    const bool here = world.rank() == last && last > 0;
    const std::string on_last = " on rank " + std::to_string(last);
    const auto refused = [&](const std::string& got, const std::string& wanted) {
        CHECK(got == (last > 0 ? wanted : ""));
        CHECK(same_everywhere(world, got));
    };

    refused(sentence_of([&] { static_cast<void>(ep::decompose(world, product(here ? 6 : 5, 4, 3).handle())); }),
            "decompose: 'A' (table), dimension 0: extent 5 on rank 0 and 6" + on_last);

    const product graph(5, 4, 3);
    refused(sentence_of([&] {
                const ep::tensor<double, 2> output = here ? ep::tensor<double, 2>(graph.A) : graph.handle();
                static_cast<void>(ep::decompose(world, output));
            }),
            "decompose: the graph: number of vertices 3 on rank 0 and 1" + on_last);
    refused(sentence_of([&] {
                ep::einsum_form form = matrix_product();
                std::swap(form.output[0], form.output[here ? 1 : 0]);
                const auto Z = einsum_vertex(form, {5, 4, 3}, {graph.A, graph.B}, graph.work, "Z");
                static_cast<void>(ep::decompose(world, ep::tensor<double, 2>(Z)));
            }),
            "decompose: vertex 'Z': einsum ij,jk->ik on rank 0 and ij,jk->ki" + on_last);
    refused(sentence_of([&] {
                const ep::array<double, 2> elements({5, 4});
                const ep::tensor<double, 2> A = ep::from_root(elements, here ? last : 0);
                static_cast<void>(ep::decompose(world, A));
            }),
            "decompose: vertex 'v0': root 0 on rank 0 and " + std::to_string(last) + on_last);
    refused(sentence_of([&] {
                const ep::tensor<double, 2> A =
                    here ? ep::placeholder<double>({5, 4}) : ep::from_root(ep::array<double, 2>({5, 4}), 0);
                static_cast<void>(ep::decompose(world, A));
            }),
            "decompose: vertex 'v0': source on one rank on rank 0 and placeholder" + on_last);
    refused(sentence_of([&] {
                EINPARALLEL_LABELS(i);
                const ep::tensor<double, 1> x = ep::placeholder<double>({5});
                ep::tensor<double, 1> y;
                y(i) = x(i) * (here ? 2.0 + 1e-9 : 2.0);
                static_cast<void>(ep::decompose(world, y));
            }),
            "decompose: vertex 'v1': formula sum 2*x on rank 0 and sum 2.000000001*x" + on_last);
    const auto asking = [&](const ep::options& other) {
        return sentence_of(
            [&] { static_cast<void>(ep::decompose(world, here ? other : ep::options{}, graph.handle())); });
    };
    refused(asking({.processes = 2}), "decompose: options: processes 1 on rank 0 and 2" + on_last);
    refused(asking({.objective = ep::objective::bytes}),
            "decompose: options: objective time on rank 0 and bytes" + on_last);
    refused(asking({.algorithm = ep::algorithm::k}),
            "decompose: options: algorithm automatic on rank 0 and k" + on_last);
    refused(asking({.method = ep::method::linearized}),
            "decompose: options: method exact on rank 0 and linearized" + on_last);
    refused(asking({.powers_of_two = true}), "decompose: options: powers_of_two false on rank 0 and true" + on_last);
    refused(asking({.machine = {.seconds_per_message = 0.5}}),
            "decompose: options: machine.seconds_per_message 1.9999999999999999e-06 on rank 0 and 0.5" + on_last);
    refused(asking({.order = ep::order::best_plan}),
            "decompose: options: order fewest_operations on rank 0 and best_plan" + on_last);

    // Names may differ: they mean nothing to the run.
    const product renamed(5, 4, 3);
    renamed.Z->name = "Z of rank " + std::to_string(world.rank());
    const ep::distributed<double, 2> z = ep::evaluate(world, renamed.handle());
    CHECK(z.allgather().size() == 15);
}

TEST_CASE("functors that differ between ranks, and such as may") {
    ep::context world(MPI_COMM_WORLD);
    const bool last = world.rank() == world.size() - 1;
    EINPARALLEL_LABELS(i, j);
    const ep::tensor<double, 2> A = ep::generate<double>({4, 3}, [](auto, auto) { return 1.0; });
    const auto said = [&](auto&& record) {
        ep::tensor<double, 1> Z;
        record(Z);
        Z.named("Z");
        const std::string got = sentence_of([&] { static_cast<void>(ep::decompose(world, Z)); });
        CHECK(same_everywhere(world, got));
        return got;
    };
    const auto mapped = [&](const auto& f) {
        return said([&](ep::tensor<double, 1>& Z) { Z(i) = ep::sum(j, ep::map(f, A(i, j))); });
    };
    const auto differ = [&](const std::string& sentence, const std::string& of) {
        return world.size() == 1 ? sentence.empty()
                                 : sentence.find("decompose: vertex 'Z") == 0 && sentence.find("': " + of) < 25 &&
                                       sentence.ends_with(" on rank " + std::to_string(world.size() - 1));
    };
    // The type, of a map, of a join and of an ⊕.
    const auto once = [](double x) { return x; };
    const auto twice = [](double x) { return 2 * x; };
    const std::string types = last ? mapped(twice) : mapped(once);
    CHECK(differ(types, "functor "));
    CHECK((world.size() == 1 || types.find("lambda") != std::string::npos));
    CHECK(differ(last ? said([&](auto& Z) { Z(i) = ep::reduce(least_magnitude{}, A(i, j)); })
                      : said([&](auto& Z) { Z(i) = ep::reduce(largest_magnitude{}, A(i, j)); }),
                 "functor "));
    CHECK(differ(last
                     ? said([&](auto& Z) { Z(i) = 1.0 + ep::sum(j, ep::join(std::minus<double>(), A(i, j), A(i, j))); })
                     : said([&](auto& Z) { Z(i) = 1.0 + ep::sum(j, ep::join(std::plus<double>(), A(i, j), A(i, j))); }),
                 "functor "));

    // What it holds, where the compiler tells it from padding.
    const bool tells = ep::detail::identity_of<scaled<double>>(&world).is_told;
    const auto holds = [&](const auto& f) { return differ(mapped(f), "hash of what a functor holds "); };
    CHECK(holds(scaled<int>{last ? 3 : 2}));
    CHECK(holds([is_last = last](double x) { return is_last ? x : 2 * x; }));
    if (tells) {
        CHECK(holds(scaled<double>{last ? 3.0 : 2.0}));
        CHECK(holds(scaled<float>{last ? 3.0F : 2.0F}));
        CHECK(holds([factor = 2.0, number = last ? 5 : 4](double x) { return factor * x + number; }));
        CHECK(holds([table = std::array<double, 3>{1, 2, last ? 0.5 : 3.0}](double x) { return x * table[2]; }));
        CHECK(holds([factor = last ? 0.25 : 0.5, number = 3](double x) { return factor * x + number; }));
        const auto by = holding{last ? 1.0 : 0.5};
        CHECK(differ(said([&](auto& Z) { Z(i) = ep::reduce(by, A(i, j)); }), "hash of what a functor holds "));
        // A derivative holds what it was made with.
        const std::string of_slope = sentence_of([&] {
            const ep::tensor<double, 2> W = ep::generate<double>({4, 3}, [](auto, auto) { return 1.0; });
            ep::tensor<double, 0> loss;
            loss() = ep::sum(ep::map(quadratic{last ? 1.5 : 3.5}, W(i, j)));
            const auto slope = ep::gradient(loss, W);
            static_cast<void>(ep::decompose(world, slope));
        });
        CHECK((of_slope.find("hash of what a functor holds") != std::string::npos) == (world.size() > 1));
    }

    // Addresses differ between ranks, padding is no value, and what is more than bytes is not looked into.
    std::vector<double> own(std::size_t(1 + 1000 * world.rank()), 2.0);
    const std::vector<double> elsewhere(std::size_t(100'000 * (1 + world.rank())), 2.0);
    double factor = 2;
    const double* const perhaps = last ? own.data() : nullptr;
    CHECK(mapped([&](double x) { return factor * x; }).empty());
    CHECK(mapped([pointer = own.data(), &elsewhere](double x) { return *pointer * x + elsewhere[0]; }).empty());
    CHECK(mapped([perhaps, n = 5, big = 2.5](double x) {
              return perhaps == nullptr ? x : x + n - 5 + big - 2.5;
          }).empty());
    CHECK(mapped(std::function<double(double)>([scale = last ? 2.0 : 2.5](double x) { return scale * x; })).empty());
    CHECK(mapped([own](double x) { return own[0] * x; }).empty());
    CHECK(mapped(last ? +[](double x) { return x; } : +[](double x) { return x + 0; }).empty());
    for (const unsigned filled : {0x00U, 0xf0U, 0x5aU}) {
        alignas(padded) std::array<unsigned char, sizeof(padded)> memory;
        memory.fill(static_cast<unsigned char>(filled ^ unsigned(world.rank())));
        auto* const made = new (memory.data()) padded;
        made->letter = 'a';
        made->factor = 2.5;
        made->number = 7;
        padded copied;
        std::memcpy(&copied, made, sizeof copied);
        CHECK(mapped(copied).empty());
    }
}

TEST_CASE("a failure while recording on one rank") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(5, 4, 3);
    if (world.rank() == world.size() - 1) {
        graph.Z->failure = "einsum ij,jk->ik: label j has extent 4 in operand 1 and 5 in operand 2";
    }
    const std::string got = sentence_of([&] { static_cast<void>(ep::decompose(world, graph.handle())); });
    const std::string on_last = world.size() == 1 ? "" : " (on rank " + std::to_string(world.size() - 1) + ")";
    CHECK(got ==
          "decompose: vertex 'Z', einsum ij,jk->ik: label j has extent 4 in operand 1 and 5 in operand 2" + on_last);
    CHECK(same_everywhere(world, got));

    // A negative extent and an empty handle.
    const auto nothing = sentence_of([&] { static_cast<void>(ep::decompose(world, ep::tensor<double, 2>())); });
    CHECK(nothing == "decompose: output 0 is a tensor that nothing was assigned to");
    // An input with other extents on one rank is named, not the statement that fails there.
    const bool here = world.rank() == world.size() - 1 && world.size() > 1;
    EINPARALLEL_LABELS(i, j, k);
    const ep::tensor<double, 2> X = ep::placeholder<double>({4, 3});
    const std::string on_rank = " on rank 0 and 0 on rank " + std::to_string(world.size() - 1);
    for (const bool fails : {false, true}) {
        const ep::tensor<double, 2> Y = ep::from_root(here ? ep::array<double, 2>() : ep::array<double, 2>({3, 5}), 0);
        ep::tensor<double, 2> Z;
        if (fails) {
            Z(i, k) = X(i, j) * Y(j, k);
        } else {
            Z(i, j) = 2.0 * Y(i, j);
        }
        const std::string said = sentence_of([&] { static_cast<void>(ep::decompose(world, Z)); });
        CHECK(said == (world.size() > 1 ? "decompose: from_root(0), dimension 0: extent 3" + on_rank : ""));
        CHECK(same_everywhere(world, said));
    }
    const ep::tensor<double, 2> made = ep::generate<double>({4, 5}, [](auto, auto) { return 1.0; });
    ep::tensor<double, 2> Z;
    Z(i, k) = X(i, j) * made(j, k);
    CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, Z.named("Z"))); }) ==
          "decompose: vertex 'Z', einsum ij,jk->ik: label j has extent 3 in operand 1 (placeholder) and 4 in operand 2 "
          "(generate)");

    const ep::tensor<double, 1> negative = ep::placeholder<double>({-2});
    CHECK(sentence_of([&] { static_cast<void>(ep::evaluate(world, negative)); }) ==
          "decompose: placeholder: extent -2 of dimension 0 is negative");
}

TEST_CASE("what the planner refuses") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(50, 40, 30);
    const std::string got =
        sentence_of([&] { static_cast<void>(ep::decompose(world, {.memory_limit = 64}, graph.handle())); });
    CHECK(!got.empty());
    CHECK(same_everywhere(world, got));
    const ep::array<double, 2> elements({5, 4});
    const ep::tensor<double, 2> nowhere = ep::from_root(elements, world.size());
    CHECK(!sentence_of([&] { static_cast<void>(ep::decompose(world, nowhere)); }).empty());
    const ep::tensor<double, 2> huge = ep::placeholder<double>({ep::index{1} << 62U, ep::index{1} << 62U});
    CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, huge)); }) ==
          "decompose: a tensor has more than 2^59 elements");
    // An empty handle, on one rank: recorded, and refused on all.
    const ep::distributed<double, 2> spread = ep::evaluate(world, ep::from_root(elements, 0));
    const bool last = world.rank() == world.size() - 1;
    const ep::tensor<double, 2> missing = ep::from_distributed(last ? ep::distributed<double, 2>() : spread);
    CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, missing)); }) ==
          "decompose: from_distributed: the distributed tensor holds nothing" +
              (world.size() == 1 ? "" : " (on rank " + std::to_string(world.size() - 1) + ")"));
    // The paper rounds the ranks up; a context has as many as it has.
    const std::string rounded =
        sentence_of([&] { static_cast<void>(ep::decompose(world, {.powers_of_two = true}, graph.handle())); });
    const bool is_power = (world.size() & (world.size() - 1)) == 0;
    CHECK(rounded.empty() == is_power);
}

TEST_CASE("options.processes is the number of ranks, where it says anything") {
    ep::context world(MPI_COMM_WORLD);
    const product graph(5, 4, 3);
    const auto asking = [&](const ep::options& asked) {
        const std::string got = sentence_of([&] { static_cast<void>(ep::decompose(world, asked, graph.handle())); });
        CHECK(got == sentence_of([&] { static_cast<void>(ep::evaluate(world, asked, graph.handle())); }));
        CHECK(same_everywhere(world, got));
        return got;
    };
    const std::string ranks =
        ", the context has " + std::to_string(world.size()) + (world.size() == 1 ? " rank" : " ranks");
    CHECK(asking({.processes = 1}).empty());
    CHECK(asking({.processes = world.size()}).empty());
    for (const int wrong : {-1, 0, world.size() + 1, 1 << 30}) {
        CHECK(asking({.processes = wrong}) == "decompose: options.processes is " + std::to_string(wrong) + ranks);
        CHECK(asking({.processes = wrong, .powers_of_two = true}) ==
              "decompose: options.processes is " + std::to_string(wrong) + ranks);
    }
    if (world.size() > 2) {
        CHECK(asking({.processes = 2}) == "decompose: options.processes is 2" + ranks);
    }
}

TEST_CASE("plans by hand on a context: the ranks agree on them as on any plan") {
    ep::context world(MPI_COMM_WORLD);
    const int last = world.size() - 1;
    const bool here = world.rank() == last && last > 0;
    const product graph(24, 12, 12);
    const ep::tensor<double, 2> Z = graph.handle();
    const ep::options asked{.objective = ep::objective::bytes};
    const ep::options alone{.processes = world.size(), .objective = ep::objective::bytes};

    const auto by_name = ep::hand_cuts().cut(Z, {{"i", world.size()}});
    const ep::plan named = ep::plan_with(world, asked, by_name, Z);
    const bool same_named = named == ep::plan_with(alone, by_name, Z);
    CHECK(same_named);
    CHECK(wrong_elements(ep::execute(named, world), 0, *graph.z) == 0);
    const ep::plan ruled = ep::plan_with(world, asked, ep::rivals::along("k"), Z, ep::tensor<double, 2>(graph.A));
    const bool same_ruled = ruled == ep::plan_with(alone, ep::rivals::along("k"), Z, ep::tensor<double, 2>(graph.A));
    CHECK(same_ruled);
    CHECK(wrong_elements(ep::execute(ruled, world), 0, *graph.z) == 0);

    const auto refused = [&](const ep::options& options, const auto& cuts) {
        const std::string got = sentence_of([&] { static_cast<void>(ep::plan_with(world, options, cuts, Z)); });
        CHECK(same_everywhere(world, got));
        return got;
    };
    CHECK(refused({.processes = world.size() + 1}, by_name).starts_with("plan_with: options.processes is "));
    CHECK(refused(asked, ep::rivals::along("zz")) ==
          "plan_with: the rule names label zz, which no einsum of this graph has");
    // Ranks that cut differently, and a rule that fails on one.
    CHECK(refused(asked, ep::rivals::along(here ? "j" : "i")) ==
          (last > 0 ? "plan_with: the plan is not the same on all ranks" : ""));
    CHECK(refused(asked, ep::cutting_rule([&](const ep::vertex_to_cut& each) {
                      if (here) {
                          throw ep::error("this rule was told to throw");
                      }
                      return each.from_operands;
                  })) == (last > 0 ? "this rule was told to throw (on rank " + std::to_string(last) + ")" : ""));
    CHECK(refused({.objective = here ? ep::objective::bytes : ep::objective::time}, by_name) ==
          (last > 0 ? "decompose: options: objective time on rank 0 and bytes on rank " + std::to_string(last) : ""));
}

}  // namespace decompose_test
