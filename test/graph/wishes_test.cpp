// Pins and marks stay with the vertex that a handle stands for.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

}  // namespace

TEST_CASE("a pin is stored as it is written, the last one counts") {
    ep::tensor<double, 2> A = ep::placeholder<double>({4, 6}).named("A").pinned({{1, 3}, {0, 2}});
    REQUIRE(A.node()->wishes.pin);
    CHECK(A.node()->wishes.pin_text() == "1:3 0:2");
    static_assert(std::is_same_v<decltype(A.pinned({{0, 4}})), ep::tensor<double, 2>&>);
    CHECK(&A.pinned({{0, 4}}).without_communication() == &A);
    CHECK(*A.node()->wishes.pin == std::vector<ep::pinned_part>{{0, 4}});
    A.pinned({});
    REQUIRE(A.node()->wishes.pin);
    CHECK(A.node()->wishes.pin->empty());
    CHECK(A.node()->wishes.pin_text() == "one block");
}

TEST_CASE("copies of a handle share wishes, assigning through labels begins without any") {
    const ep::tensor<double, 2> A = ep::placeholder<double>({4, 4});
    CHECK(!A.node()->wishes.pin);
    CHECK(!A.node()->wishes.without_communication);
    ep::tensor<double, 2> X;
    X(i, j) = A(i, j) * 2.0;
    ep::tensor<double, 2> copy = X;
    copy.pinned({{"i", 2}, {"j", 2}}).without_communication();
    CHECK(X.node()->wishes == copy.node()->wishes);
    CHECK(X.node()->wishes.pin_text() == "i:2 j:2");
    CHECK(X.node()->wishes.without_communication);
    X(i, k) = X(i, j) * A(j, k);
    CHECK(X.node()->wishes == ep::vertex_wishes{});
    CHECK(copy.node()->wishes != ep::vertex_wishes{});
}

TEST_CASE("a handle on nothing has no wishes") {
    ep::tensor<double, 1> nothing;
    CHECK_THROWS_WITH_AS(nothing.pinned({{0, 2}}), "pinned: nothing was assigned to this tensor", ep::error);
    CHECK_THROWS_WITH_AS(nothing.without_communication(), "without_communication: nothing was assigned to this tensor",
                         ep::error);
}
