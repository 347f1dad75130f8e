// Pins and marks stay with the vertex that a handle stands for.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace wishes_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k, l);

/// How many of a statement's vertices are marked.
int marked_steps(const ep::vertex& last) {
    std::set<const ep::vertex*> marked;
    const std::function<void(const ep::vertex&)> visit = [&](const ep::vertex& each) {
        if (each.constraints.without_communication) {
            marked.insert(&each);
        }
        for (const std::shared_ptr<ep::vertex>& read : each.operands) {
            if (read->is_intermediate) {
                visit(*read);
            }
        }
    };
    visit(last);
    return static_cast<int>(marked.size());
}

}  // namespace

TEST_CASE("a pin is stored as it is written, the last one counts") {
    ep::tensor<double, 2> A = ep::placeholder<double>({4, 6}).named("A").pinned({{1, 3}, {0, 2}});
    REQUIRE(A.node()->constraints.pin);
    CHECK(A.node()->constraints.pin_text() == "1:3 0:2");
    static_assert(std::is_same_v<decltype(A.pinned({{0, 4}})), ep::tensor<double, 2>&>);
    CHECK(&A.pinned({{0, 4}}).without_communication() == &A);
    CHECK(*A.node()->constraints.pin == std::vector<ep::pinned_part>{{0, 4}});
    A.pinned({});
    REQUIRE(A.node()->constraints.pin);
    CHECK(A.node()->constraints.pin->empty());
    CHECK(A.node()->constraints.pin_text() == "one block");
}

TEST_CASE("copies of a handle share constraints, assigning through labels begins without any") {
    const ep::tensor<double, 2> A = ep::placeholder<double>({4, 4});
    CHECK(!A.node()->constraints.pin);
    CHECK(!A.node()->constraints.without_communication);
    ep::tensor<double, 2> X;
    X(i, j) = A(i, j) * 2.0;
    ep::tensor<double, 2> copy = X;
    copy.pinned({{"i", 2}, {"j", 2}}).without_communication();
    CHECK(X.node()->constraints == copy.node()->constraints);
    CHECK(X.node()->constraints.pin_text() == "i:2 j:2");
    CHECK(X.node()->constraints.without_communication);
    X(i, k) = X(i, j) * A(j, k);
    CHECK(X.node()->constraints == ep::vertex_constraints{});
    CHECK(copy.node()->constraints != ep::vertex_constraints{});
}

TEST_CASE("a mark holds for all that a statement makes on the way, and for nothing else") {
    const ep::tensor<double, 2> A = ep::placeholder<double>({4, 4});
    ep::tensor<double, 2> before, product, weights, sum, plain;
    before(i, k) = A(i, j) * A(j, l) * A(l, k);
    product(i, k) = before(i, j) * A(j, l) * A(l, k);
    weights(i, k) = ep::softmax(k, ep::sum(j, product(i, j) * A(j, k)));
    sum(i, k) = weights(i, j) * A(j, k) + before(i, j) * A(j, l) * A(l, k);
    plain(i, k) = sum(i, k) + A(i, j) * A(j, k);
    const std::vector<const ep::tensor<double, 2>*> statements{&before, &product, &weights, &sum, &plain};
    const std::vector<int> steps{2, 2, 5, 4, 2};
    for (std::size_t marked = 0; marked < statements.size(); ++marked) {
        ep::tensor<double, 2>(*statements[marked]).without_communication();
        for (std::size_t other = 0; other < statements.size(); ++other) {
            CHECK(marked_steps(*statements[other]->node()) == (other <= marked ? steps[other] : 0));
        }
        CHECK(!A.node()->constraints.without_communication);
    }
}

TEST_CASE("an empty handle has no constraints and no name") {
    ep::tensor<double, 1> nothing;
    CHECK_THROWS_WITH_AS(nothing.named("Z"), "named: nothing was assigned to this tensor", ep::error);
    CHECK_THROWS_WITH_AS((ep::tensor<double, 1>().named("Z")), "named: nothing was assigned to this tensor", ep::error);
    CHECK_THROWS_WITH_AS(nothing.pinned({{0, 2}}), "pinned: nothing was assigned to this tensor", ep::error);
    CHECK_THROWS_WITH_AS(nothing.without_communication(), "without_communication: nothing was assigned to this tensor",
                         ep::error);
}

}  // namespace wishes_test
