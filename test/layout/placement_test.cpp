// The sharding rules of einsums, as worked in papers/sharding-with-einsum.

#include <einparallel/layout/placement.hpp>
#include <einparallel/notation/einsum_spec.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace {

using namespace einparallel;

constexpr placement shard_0 = placement::shard(0);

// The table of DESIGN §6, at compile time.
static_assert(operand_placement(0, true) == shard_0);
static_assert(operand_placement(0, false) == placement::replicate());
static_assert(output_placement(0, true, true) == shard_0);
static_assert(output_placement(0, true, false) == placement::partial());
static_assert(output_placement(0, false, false) == placement::replicate());
static_assert(placement::shard(1) != shard_0);

// The propagation rule, of specifications.
constexpr placement whole = placement::replicate();
constexpr placement pending = placement::partial();
using product = einsum_spec<"ij,jk->ik">;
constexpr placement shard_i = placement::shard(product::id<"i">);
constexpr placement shard_j = placement::shard(product::id<"j">);
constexpr placement shard_k = placement::shard(product::id<"k">);

constexpr std::optional<placement> of_product(placement first, placement second, std::size_t not_linear_in = 2) {
    const std::array<placement, 2> operands{first, second};
    return propagate(product{}, operands, [=](std::size_t operand) { return operand != not_linear_in; });
}

static_assert(of_product(shard_j, shard_j) == pending);
static_assert(of_product(shard_i, whole) == shard_i);
static_assert(of_product(whole, shard_k) == shard_k);
static_assert(of_product(whole, whole) == whole);
static_assert(!of_product(shard_j, whole));    // the other half of j is missing in the second
static_assert(!of_product(shard_i, shard_k));  // one axis cuts one label
static_assert(!of_product(shard_k, whole));    // the first operand has no k
static_assert(of_product(pending, whole) == pending);
static_assert(of_product(whole, pending) == pending);
static_assert(!of_product(pending, pending));
static_assert(!of_product(pending, shard_k));
static_assert(!of_product(pending, whole, 0));
static_assert(of_product(whole, pending, 0) == pending);

}  // namespace

TEST_CASE("the run-time rule is the compile-time one, for every combination of placements") {
    const einsum_form form = einsum_spec<"abi,aoi->abo">::form();
    std::vector<placement> all{whole, pending};
    for (label_id label = 0; label < 4; ++label) {
        all.push_back(placement::shard(label));
    }
    int fitting = 0;
    for (const placement& first : all) {
        for (const placement& second : all) {
            for (int linear = 0; linear < 4; ++linear) {
                const auto is_linear = [&](std::size_t operand) { return ((linear >> operand) & 1) != 0; };
                const std::array<placement, 2> operands{first, second};
                const std::optional<placement> made = propagate(form, operands, is_linear);
                CHECK(made == propagate(einsum_spec<"abi,aoi->abo">{}, operands, is_linear));
                // What fits without a pending sum is a row of the table.
                std::optional<placement> expected;
                if (first == whole && second == whole) {
                    expected = whole;
                }
                for (label_id label = 0; label < 4; ++label) {
                    const axis_placements row = placements_along(form, {label, 2});
                    if (row.operands[0] == first && row.operands[1] == second) {
                        expected = row.output;
                    }
                }
                if ((first == pending && second == whole && is_linear(0)) ||
                    (first == whole && second == pending && is_linear(1))) {
                    expected = pending;
                }
                CHECK(made == expected);
                fitting += made ? 1 : 0;
            }
        }
    }
    CHECK(fitting == 4 * 5 + 2 * 2);
}

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
