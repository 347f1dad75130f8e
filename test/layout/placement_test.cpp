// The sharding rules of einsums, as worked in papers/sharding-with-einsum.

#include <einparallel/layout/placement.hpp>

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
static_assert(carries_partial(placement::partial(), placement::replicate(), true));
static_assert(!carries_partial(placement::partial(), placement::replicate(), false));
static_assert(!carries_partial(placement::partial(), shard_0, true));
static_assert(!carries_partial(shard_0, placement::replicate(), true));

// The propagation rule, of specifications.
constexpr placement whole = placement::replicate();
constexpr placement pending = placement::partial();
constexpr const auto& shard_i = shard_of<"ij,jk->ik", "i">;
constexpr const auto& shard_j = shard_of<"ij,jk->ik", "j">;
constexpr const auto& shard_k = shard_of<"ij,jk->ik", "k">;
static_assert(placements_of_cut<"ij,jk->ik", "j"> == spec_placements<2>{{shard_j, shard_j}, pending});
static_assert(placements_of_cut<"ij,jk->ik", "i"> == spec_placements<2>{{shard_i, whole}, shard_i});
static_assert(placements_of_cut<"ij,jk->ik", "k"> == spec_placements<2>{{whole, shard_k}, shard_k});
static_assert(placements_of_cut<"abi,abo->abio", "b"> ==
              spec_placements<2>{{placement::shard(1), placement::shard(1)}, placement::shard(1)});
static_assert(placements_of_cut<"ij->i", "j"> == spec_placements<1>{{placement::shard(1)}, pending});

static_assert(propagate<"ij,jk->ik">({shard_j, shard_j}) == pending);
static_assert(propagate<"ij,jk->ik">({shard_i, whole}) == shard_i);
static_assert(propagate<"ij,jk->ik">({whole, shard_k}) == shard_k);
static_assert(propagate<"ij,jk->ik">({whole, whole}) == whole);
static_assert(!propagate<"ij,jk->ik">({shard_j, whole}));    // the other half of j is missing in the second
static_assert(!propagate<"ij,jk->ik">({shard_i, shard_k}));  // one axis cuts one label
static_assert(!propagate<"ij,jk->ik">({shard_k, whole}));    // the first operand has no k
static_assert(propagate<"ij,jk->ik">({pending, whole}) == pending);
static_assert(propagate<"ij,jk->ik">({whole, pending}) == pending);
static_assert(!propagate<"ij,jk->ik">({pending, pending}));
static_assert(!propagate<"ij,jk->ik">({pending, shard_k}));
static_assert(!propagate<"ij,jk->ik">({pending, whole}, [](std::size_t operand) { return operand == 1; }));
static_assert(propagate<"ij,jk->ik">({whole, pending}, [](std::size_t operand) { return operand == 1; }) == pending);

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
                CHECK(made == propagate<"abi,aoi->abo">(operands, is_linear));
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

TEST_CASE("the axes of a mesh, outermost first") {
    const einsum_form product{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    const std::vector<axis_placements> all = placements_on(product, {{{1, 2}, {0, 4}}});
    REQUIRE(all.size() == 2);
    CHECK(all[0] == axis_placements{{placement::shard(1), placement::shard(1)}, placement::partial()});
    CHECK(all[1] == axis_placements{{placement::shard(0), placement::replicate()}, placement::shard(0)});
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
