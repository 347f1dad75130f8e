// Softmax of plans: one kernel and one call where a rank has whole rows and nobody else wants what lies between.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/on_device.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/run/decompose.hpp>
#include <einparallel/run/trace.hpp>

#include "device/emulation.hpp"
#include "standin.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace ep = einparallel;

namespace softmax_test {

namespace {

EINPARALLEL_LABELS(i, j, k, l);

/// Calls of kernels in a rank's program, and those that are a whole softmax.
std::pair<int, int> calls_of(const ep::plan& plan, int rank) {
    std::pair<int, int> calls{0, 0};
    for (const ep::step& each : plan.program_of(rank).steps) {
        for (const ep::action& done : each.work) {
            const auto* const call = std::get_if<ep::contraction>(&done);
            calls.first += call != nullptr ? 1 : 0;
            calls.second += call != nullptr && call->rows.along != ep::no_label ? 1 : 0;
        }
    }
    return calls;
}

template <class T>
T element_at(ep::index number) {
    return static_cast<T>((number * 37) % 101 - 50) / T(8);
}

/// Elements in row-major order, whose rows are `length` long and `step` apart.
template <class T>
std::vector<T> softmax_of(const std::vector<T>& x, ep::index length, ep::index step) {
    std::vector<T> made(x.size());
    for (std::size_t first = 0; first < x.size(); ++first) {
        const auto number = static_cast<ep::index>(first);
        if (number / step % length != 0) {
            continue;
        }
        const auto at = [&](ep::index position) { return static_cast<std::size_t>(number + position * step); };
        double largest = -std::numeric_limits<double>::infinity();
        for (ep::index position = 0; position < length; ++position) {
            largest = std::max(largest, static_cast<double>(x[at(position)]));
        }
        double sum = 0;
        for (ep::index position = 0; position < length; ++position) {
            sum += std::exp(static_cast<double>(x[at(position)]) - largest);
        }
        for (ep::index position = 0; position < length; ++position) {
            made[at(position)] = static_cast<T>(std::exp(static_cast<double>(x[at(position)]) - largest) / sum);
        }
    }
    return made;
}

template <class T>
double distance(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? (std::isnan(a) == std::isnan(b) ? 0 : 1)
                                          : static_cast<double>(std::abs(a - b));
}

/// Runs the plan of one output on the host and on a device. Returns the kernels that this rank has launched there.
template <class T, std::size_t Rank>
std::uint64_t check(ep::context& world, const ep::plan& plan, const std::vector<T>& wanted) {
    const auto compare = [&](const ep::results& made) {
        const ep::array<T, Rank> found = ep::distributed<T, Rank>(made).allgather();
        REQUIRE(found.size() == static_cast<ep::index>(wanted.size()));
        double worst = 0;
        for (std::size_t number = 0; number < wanted.size(); ++number) {
            worst = std::max(worst, distance(found.data()[number], wanted[number]));
        }
        CHECK(worst < (sizeof(T) == 4 ? 1e-6 : 1e-14));
    };
    compare(plan.run(world));
    device_test::counted() = {};
    device_test::counting() = true;
    const ep::results made = plan.run(world, ep::on_device);
    device_test::counting() = false;
    compare(made);
    return device_test::counted().launches;
}

template <class T, std::size_t Rank>
std::vector<T> numbers(const std::array<ep::index, Rank>& extents) {
    ep::index count = 1;
    for (const ep::index extent : extents) {
        count *= extent;
    }
    std::vector<T> made;
    for (ep::index number = 0; number < count; ++number) {
        made.push_back(element_at<T>(number));
    }
    return made;
}

/// The same elements as a tensor.
template <class T, std::size_t Rank>
ep::tensor<T, Rank> input(const std::array<ep::index, Rank>& extents) {
    const auto element = [extents](auto... at) {
        ep::index number = 0;
        std::size_t dimension = 0;
        ((number = number * extents[dimension++] + at), ...);
        return element_at<T>(number);
    };
    return std::apply([&](auto... extent) { return ep::generate<T>({extent...}, element); }, extents);
}

}  // namespace

TEST_CASE_TEMPLATE("rows on one rank each are one kernel, along any dimension", T, float, double) {
    standin::restart({.seed = 2});
    ep::context world(MPI_COMM_WORLD);
    const auto check_fused = [&]<std::size_t Rank>(ep::tensor<T, Rank>& made, const std::vector<T>& wanted) {
        made.without_communication();
        const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, made);
        const std::pair<int, int> calls = calls_of(plan, world.rank());
        CHECK(calls.first == calls.second);  // none where a rank has no rows
        CHECK(calls_of(plan, 0) == std::pair{1, 1});
        CHECK(check<T, Rank>(world, plan, wanted) == static_cast<std::uint64_t>(calls.second));
    };
    for (const ep::index length : {1, 7, 1000, 5000}) {
        const std::array<ep::index, 2> extents{4, length};
        ep::tensor<T, 2> Y;
        Y(i, j) = softmax(j, input<T>(extents)(i, j));
        check_fused(Y, softmax_of(numbers<T>(extents), length, 1));
    }
    const std::array<ep::index, 3> box{4, 5, 7};
    ep::tensor<T, 3> first, middle, last;
    first(i, j, k) = softmax(i, input<T>(box)(i, j, k));
    middle(i, j, k) = softmax(j, input<T>(box)(i, j, k));
    last(i, j, k) = softmax(k, input<T>(box)(i, j, k));
    check_fused(first, softmax_of(numbers<T>(box), 4, 35));
    check_fused(middle, softmax_of(numbers<T>(box), 5, 7));
    check_fused(last, softmax_of(numbers<T>(box), 7, 1));
    // With dimensions in another order, of an expression, of a diagonal, of one row.
    const std::vector<T> rows = softmax_of(numbers<T>(box), 7, 1);
    std::vector<T> wanted(rows.size());
    for (std::size_t number = 0; number < rows.size(); ++number) {
        wanted[number % 7 * 20 + number / 7 % 5 * 4 + number / 35] = rows[number];
    }
    ep::tensor<T, 3> turned;
    turned(k, j, i) = softmax(k, input<T>(box)(i, j, k));
    check_fused(turned, wanted);
    const std::array<ep::index, 3> square{5, 5, 6};
    const std::vector<T> all = numbers<T>(square);
    std::vector<T> diagonal;
    for (std::size_t number = 0; number < 30; ++number) {
        diagonal.push_back(all[number / 6 * 36 + number % 6]);
    }
    ep::tensor<T, 2> D;
    D(i, j) = softmax(j, input<T>(square)(i, i, j));
    check_fused(D, softmax_of(diagonal, 6, 1));
    ep::tensor<T, 1> one;
    const std::array<ep::index, 1> line{13};
    one(j) = softmax(j, input<T>(line)(j));
    check_fused(one, softmax_of(numbers<T>(line), 13, 1));
}

TEST_CASE_TEMPLATE("what cannot be shown is as it is without one kernel", T, float, double) {
    standin::restart({});
    ep::context world(MPI_COMM_WORLD);
    const T none = -std::numeric_limits<T>::infinity();
    const auto value = [none](ep::index row, ep::index column) {
        return row == 2 || (row + column) % 3 == 0 ? none : static_cast<T>(row - column);
    };
    std::vector<T> x;
    for (ep::index row = 0; row < 6; ++row) {
        for (ep::index column = 0; column < 9; ++column) {
            x.push_back(value(row, column));
        }
    }
    ep::tensor<T, 2> X = ep::generate<T>({6, 9}, value), Y, Z;
    Y(i, j) = softmax(j, X(i, j));
    ep::tensor<T, 1> M;
    M(i) = ep::max(X(i, j));
    const ep::plan whole = ep::decompose(world, {.objective = ep::objective::paper}, Y.without_communication());
    const ep::plan steps = ep::decompose(world, {.objective = ep::objective::paper}, Y, M);
    CHECK(calls_of(whole, 0) == std::pair{1, 1});
    CHECK(calls_of(steps, 0).second == 0);
    const std::vector<T> wanted = softmax_of(x, 9, 1);
    CHECK(std::isnan(wanted[2 * 9]));  // all of a row is -inf
    check<T, 2>(world, whole, wanted);
    for (const bool on_device : {false, true}) {
        const ep::results made = on_device ? steps.run(world, ep::on_device) : steps.run(world);
        const ep::array<T, 2> found = made.template at<T, 2>(0).allgather();
        for (std::size_t number = 0; number < wanted.size(); ++number) {
            CHECK(distance(found.data()[number], wanted[number]) < (sizeof(T) == 4 ? 1e-6 : 1e-14));
        }
    }
}

TEST_CASE("four kernels where ranks share rows, or others read what lies between, or rows are few and long") {
    standin::restart({.seed = 1});
    ep::context world(MPI_COMM_WORLD);
    const std::array<ep::index, 2> extents{4, 30};
    const std::vector<double> wanted = softmax_of(numbers<double>(extents), 30, 1);
    const auto decompose = [&](auto&... made) {
        return ep::decompose(world, {.objective = ep::objective::paper}, made...);
    };
    {
        ep::tensor<double, 2> Y;
        Y(i, j) = softmax(j, input<double>(extents)(i, j));
        Y.pinned({{"j", world.size()}});
        const ep::plan plan = decompose(Y);
        CHECK(calls_of(plan, world.rank()).second == (world.size() == 1 ? 1 : 0));
        CHECK((check<double, 2>(world, plan, wanted) > 1) == (world.size() > 1));
    }
    const ep::tensor<double, 2> X = input<double>(extents);
    ep::tensor<double, 2> Y, transposed;
    ep::tensor<double, 1> largest, twice;
    Y(i, j) = softmax(j, X(i, j));
    transposed(j, i) = softmax(j, X(i, j));
    largest(i) = ep::max(X(i, j));
    twice(i) = 2.0 * largest(i);
    CHECK(calls_of(decompose(Y, transposed), 0).second == 0);  // E and S
    CHECK(calls_of(decompose(Y, largest), 0).second == 0);
    CHECK(calls_of(decompose(Y, twice), 0).second == 0);
    CHECK(calls_of(decompose(Y), 0).second == 1);
    // What later runs keep is fused in the first run, or left out with the rest.
    const ep::plan kept =
        ep::decompose(world, {.objective = ep::objective::paper, .runs = 3}, Y.without_communication());
    for (int run = 0; run < 3; ++run) {
        check<double, 2>(world, kept, wanted);
    }
    const std::array<ep::index, 2> few{2, 100000};
    ep::tensor<double, 2> Z;
    Z(i, j) = softmax(j, input<double>(few)(i, j));
    const ep::plan plan = decompose(Z.without_communication());
    CHECK(calls_of(plan, 0) == std::pair{4, 0});
    check<double, 2>(world, plan, softmax_of(numbers<double>(few), 100000, 1));
    ep::tensor<double, 2> many;
    many(i, j) = softmax(j, ep::generate<double>({1000 * world.size(), 7000}, [](auto...) { return 0.0; })(i, j));
    CHECK(calls_of(decompose(many.without_communication()), 0).second == 1);
}

TEST_CASE("attention: the softmax of scores is one call between two products, one span of a trace") {
    standin::restart({.seed = 1});
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 3> S, W, O;
    const std::array<ep::index, 3> extents{3, 8, 4};
    S(i, j, k) = input<double>(extents)(i, j, l) * input<double>(extents)(i, k, l);
    W(i, j, k) = softmax(k, S(i, j, k) / 2.0);
    O(i, j, l) = W(i, j, k) * input<double>(extents)(i, k, l);
    S.pinned({{"i", std::min(world.size(), 3)}});
    W.named("weights").without_communication();
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::paper}, O);
    CHECK(calls_of(plan, 0).second == 1);
    ep::trace seen;
    const ep::results on_host = plan.run(world);
    const ep::results on_device = plan.run(world, ep::on_device, seen);
    const ep::array<double, 3> wanted = ep::distributed<double, 3>(on_host).allgather();
    const ep::array<double, 3> found = ep::distributed<double, 3>(on_device).allgather();
    for (ep::index number = 0; number < wanted.size(); ++number) {
        CHECK(std::abs(found.data()[number] - wanted.data()[number]) < 1e-12);
    }
    std::vector<std::string> computed;
    for (const ep::trace_span& each : seen.spans()) {
        const std::string& name = plan.vertices()[static_cast<std::size_t>(each.vertex)].name;
        if (each.rank == 0 && each.what == ep::activity::contract && name.starts_with("weights")) {
            computed.push_back(name);
        }
    }
    CHECK(computed.size() == 2);  // half of the scores, and their softmax
    CHECK(computed.back() == "weights");
}

}  // namespace softmax_test
