// The sharding rules of einsums, as worked in Sharding with einsum (examples/pages/papers.md).

#include <einparallel/layout/placement.hpp>
#include <einparallel/notation/einsum_spec.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>
#include <optional>

namespace {

using namespace einparallel;

constexpr placement whole = placement::replicate();
static_assert(placement::shard(1) != placement::shard(0));

template <subscripts Text>
constexpr std::optional<placement> forward(std::initializer_list<placement> operands) {
    return propagated(einsum_spec<Text>(), {operands.begin(), operands.size()});
}
template <subscripts Text>
constexpr std::optional<placement> backward(std::size_t by, std::initializer_list<placement> operands) {
    return propagated_back(einsum_spec<Text>(), by, {operands.begin(), operands.size()});
}

// The four rules, and what has to be redistributed first.
using rules = einsum_spec<"abi,aoi->abo">;
constexpr placement a = placement::shard(rules::id<"a">);
constexpr placement b = placement::shard(rules::id<"b">);
constexpr placement i = placement::shard(rules::id<"i">);
static_assert(forward<"abi,aoi->abo">({whole, whole}) == whole);
static_assert(forward<"abi,aoi->abo">({a, a}) == a);
static_assert(forward<"abi,aoi->abo">({b, whole}) == b);
static_assert(forward<"abi,aoi->abo">({i, i}) == placement::partial());
static_assert(forward<"abi,aoi->abo">({placement::partial(), whole}) == placement::partial());
static_assert(!forward<"abi,aoi->abo">({a, whole}) && !forward<"abi,aoi->abo">({b, b}));
static_assert(!forward<"abi,aoi->abo">({a, i}) && !forward<"abi,aoi->abo">({whole, b}));
static_assert(!forward<"abi,aoi->abo">({placement::partial(), placement::partial()}));
static_assert(!forward<"abi,aoi->abo">({placement::partial(), a}));

// Tensor parallelism: a column-parallel layer, and why its input's gradient is reduced.
constexpr placement o = placement::shard(einsum_spec<"sbi,io->sbo">::id<"o">);
static_assert(forward<"sbi,io->sbo">({whole, o}) == o);
static_assert(backward<"sbi,io->sbo">(0, {o, o}) == placement::partial());
static_assert(backward<"sbi,io->sbo">(1, {whole, o}) == o);

// Sequence parallelism with a replicated scaling factor, whose gradient is reduced.
constexpr placement s = placement::shard(einsum_spec<"sbh,h->sbh">::id<"s">);
static_assert(forward<"sbh,h->sbh">({s, whole}) == s);
static_assert(backward<"sbh,h->sbh">(0, {s, whole}) == s);
static_assert(backward<"sbh,h->sbh">(1, {s, s}) == placement::partial());

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

TEST_CASE("the rules of a form are those of its axes, forward and backward") {
    const einsum_form linear{{"a", "b", "i", "o"}, {{0, 1, 2}, {0, 3, 2}}, {0, 1, 3}};
    for (label_id label = 0; label < 4; ++label) {
        const axis_placements along = placements_along(linear, {label, 4});
        CHECK(propagated(linear, along.operands) == along.output);
        const einsum_form back{linear.names, {linear.output, linear.operands[1]}, linear.operands[0]};
        const axis_placements other = placements_along(back, {label, 4});
        CHECK(propagated_back(linear, 0, other.operands) == other.output);
    }
}
