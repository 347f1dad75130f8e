// Equal sub-expressions of one decompose are one vertex.

#include "graphs.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

namespace sharing_test {

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j, k, l, p, q);

std::size_t einsums(const ep::plan& made) {
    return static_cast<std::size_t>(
        std::ranges::count_if(made.vertices(), [](const ep::planned_vertex& each) { return !each.is_input(); }));
}

bool has_note(const ep::plan& made, const std::string& text) {
    std::ostringstream written;
    written << made;
    return written.str().find(text) != std::string::npos;
}

struct square {
    ep::tensor<double, 2> A = ep::placeholder<double>({8, 8}), B = ep::placeholder<double>({8, 8}),
                          C = ep::placeholder<double>({8, 8}), X, Y, Z;
};

TEST_CASE("a tensor that is read at functions of labels and as it is, at one place, moves there once") {
    const auto A = ep::placeholder<double>({4, 4}).pinned({{0, 1}});
    const auto B = ep::generate<double>({4, 4}, [](ep::index /*row*/, ep::index /*column*/) { return 1.0; });
    ep::tensor<double, 2> C, D;
    C(i, k) = A(i, j) * B(j, k);
    D(i, j) = A(i + 1, j) - A(i, j);
    const ep::options asked{.processes = 3, .objective = ep::objective::bytes};
    const ep::plan own = ep::decompose(asked, C, D);
    const auto rows = ep::hand_cuts().cut(C, {{"j", 3}}).cut(D, {{"j", 3}});
    CHECK(own.bytes_sent() <= ep::plan_with(asked, rows, C, D).bytes_sent());
    CHECK(*own.lower_bound() <= double(own.bytes_sent()));
}

TEST_CASE_FIXTURE(square, "A*B*C, A*B*D and A*B are three products, whatever their labels are called") {
    const ep::tensor<double, 2> wide = ep::placeholder<double>({8, 32}), wider = ep::placeholder<double>({8, 64});
    X(i, l) = A(i, j) * B(j, k) * wide(k, l);  // A*B first is the cheapest order
    Y(p, l) = A(p, q) * B(q, k) * wider(k, l);
    Z(i, k) = A(i, j) * B(j, k);
    X.named("ABC");
    Z.named("AB");
    const ep::plan made = ep::decompose({.processes = 4, .objective = ep::objective::bytes}, X, Y, Z);
    CHECK(einsums(made) == 3);
    CHECK(made.outputs().size() == 3);
    CHECK(has_note(made, "note: AB is computed once for 3 equal expressions"));
    CHECK(made.partition(Z).size() == 3);
    CHECK(made.partition(X)[0].first == "i");
    const ep::plan ordered =
        ep::decompose({.processes = 4, .objective = ep::objective::time, .order = ep::order::best_plan}, X, Y, Z);
    CHECK(einsums(ordered) == 3);
}

TEST_CASE_FIXTURE(square,
                  "functions of one stateless type are equal, numbers are compared, lambdas with a state are not") {
    const auto planned = [&] { return ep::decompose({.processes = 2}, X, Y); };
    X(i, j) = exp(A(i, j) - 0.5 * B(i, j));
    Y(p, q) = exp(A(p, q) - 0.5 * B(p, q));
    X.named("first");
    Y.named("second");
    const ep::plan equal = planned();
    CHECK(einsums(equal) == 1);
    CHECK(equal.outputs()[0] == equal.outputs()[1]);
    CHECK(equal.vertices()[equal.outputs()[0]].name == "first = second");
    CHECK(equal.partition(Y)[0].first == "p");
    Y(p, q) = exp(A(p, q) - 0.25 * B(p, q));
    CHECK(einsums(planned()) == 2);
    Y(p, q) = exp(B(p, q) - 0.5 * A(p, q));
    CHECK(einsums(planned()) == 2);
    Y(q, p) = exp(A(p, q) - 0.5 * B(p, q));
    CHECK(einsums(planned()) == 2);
    const auto twice = [](double x) { return 2 * x; };
    X(i, j) = ep::map(twice, A(i, j));
    Y(i, j) = ep::map(twice, A(i, j));
    CHECK(einsums(planned()) == 1);
    const double factor = 3;
    const auto times = [factor](double x) { return factor * x; };
    X(i, j) = ep::map(times, A(i, j));
    Y(i, j) = ep::map(times, A(i, j));
    CHECK(einsums(planned()) == 2);
    X(i, j) = ep::softmax(j, A(i, j));
    Y(i, k) = ep::softmax(k, A(i, k)) + 0.0 * B(i, k);
    CHECK(einsums(planned()) == 5);
    X(i, j) = 2.0 * A(i, k) * B(k, j);
    Y(i, j) = 3.0 * A(i, k) * B(k, j);
    CHECK(einsums(planned()) == 2);
    X(i, j) = A(i, j) / 0.0;
    Y(i, j) = A(i, j) / -0.0;
    CHECK(einsums(planned()) == 2);
    X(i, j) = 0.0 * A(i, k) * B(k, j);
    Y(i, j) = -0.0 * A(i, k) * B(k, j);
    CHECK(einsums(planned()) == 2);
}

TEST_CASE_FIXTURE(square, "a pin holds for all that are equal, and two that differ keep them apart") {
    X(i, k) = A(i, j) * B(j, k);
    Y(i, k) = A(i, j) * B(j, k);
    const auto planned = [&] { return ep::decompose({.processes = 4}, X, Y); };
    Y.pinned({{"i", 4}});
    const ep::plan one = planned();
    CHECK(einsums(one) == 1);
    CHECK(one.partition(X)[0].second == 4);
    X.pinned({{"i", 4}});
    CHECK(einsums(planned()) == 1);
    X.pinned({{"k", 2}});
    const ep::plan apart = planned();
    CHECK(einsums(apart) == 2);
    CHECK(apart.partition(X)[0].second == 1);
    CHECK(apart.partition(Y)[0].second == 4);
}

}  // namespace sharing_test
