// The sharding rules of einsums, as worked in papers/sharding-with-einsum.

#include <einparallel/layout/placement.hpp>

#include <doctest/doctest.h>

namespace {

using namespace einparallel;

constexpr placement whole = placement::replicate();
static_assert(placement::shard(1) != placement::shard(0));

}  // namespace

TEST_CASE("the four rules for abi,aoi->abo") {
    const einsum_form linear{{"a", "b", "i", "o"}, {{0, 1, 2}, {0, 3, 2}}, {0, 1, 3}};
    using row = axis_placements;
    CHECK(placements_along(linear, {no_label, 4}) == row{{whole, whole}, whole});
    CHECK(placements_along(linear, {0, 4}) == row{{placement::shard(0), placement::shard(0)}, placement::shard(0)});
    CHECK(placements_along(linear, {1, 4}) == row{{placement::shard(1), whole}, placement::shard(1)});
    CHECK(placements_along(linear, {3, 4}) == row{{whole, placement::shard(3)}, placement::shard(3)});
    CHECK(placements_along(linear, {2, 4}) == row{{placement::shard(2), placement::shard(2)}, placement::partial()});
}

TEST_CASE("one-sided sums and joins of three operands") {
    const einsum_form one_sided{{"i", "j"}, {{0, 1}, {0}}, {0}};
    CHECK(placements_along(one_sided, {1, 2}) ==
          axis_placements{{placement::shard(1), placement::replicate()}, placement::partial()});
    const einsum_form three{{"i", "j"}, {{0}, {1}, {0, 1}}, {0, 1}};
    CHECK(placements_along(three, {1, 2}) ==
          axis_placements{{placement::replicate(), placement::shard(1), placement::shard(1)}, placement::shard(1)});
}
