// What is computed in the memory of an operand, and what is not.

#include <einparallel/kernel/work/work.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace in_place_test {
namespace {

using namespace einparallel;

const box square{{{0, 8}, {0, 8}}, false};
const box row{{{0, 8}}, false};
const std::shared_ptr<const kernel> work = detail::make_product_kernel(1.0, 2);

/// ij,j->ij of buffers 0 and 1 to buffer 2, whose elements another call adds up to buffer 3.
struct one_call {
    program made;
    std::vector<einsum_form> forms{{{"i", "j"}, {{0, 1}, {1}}, {0, 1}}, {{"i", "j"}, {{0, 1}}, {0}}};

    one_call() {
        for (const box& region : {square, row, square, row}) {
            made.add_buffer(region, 8);
        }
        made.steps.push_back({0, {{1, 0, square}}, {}, {read_source{1, 1}}});
        made.steps.push_back({1, {}, {}, {contraction{0, {0, 1}, 2, {{0, 8}, {0, 8}}, write_mode::overwrite}}});
        made.steps.push_back({2, {}, {}, {contraction{1, {2}, 3, {{0, 8}, {0, 8}}, write_mode::overwrite}}});
        made.results = {3};
    }

    contraction& call() { return std::get<contraction>(made.steps[1].work[0]); }

    buffer_id lender() {
        made.vertices = {{"y", work.get(), forms[0]}, {"z", work.get(), forms[1]}};
        detail::compute_in_place(made);
        CHECK(made[3].lender == no_buffer);
        return made[2].lender;
    }
};

}  // namespace

TEST_CASE("an operand that nobody reads later is replaced element by element") {
    one_call plain;
    CHECK(plain.lender() == 0);
    CHECK(plan_arena(plain.made).bytes == 512 + 64);  // one row after the other
    for (const buffer_id elsewhere : {0, 2}) {
        const arena_plan planned = plan_arena(plain.made, [&](buffer_id number) { return number == elsewhere; });
        CHECK(planned.bytes == 512 + 64);
    }
    std::vector<lifetime> alive = lifetimes_of(plain.made);
    static_cast<void>(detail::lend(plain.made, alive, [](buffer_id number) { return number == 2; }));
    CHECK(alive[0].last == 1);  // what lies elsewhere borrows nothing

    one_call both;  // whichever comes first, where both could be
    both.forms[0].operands[1] = {0, 1};
    both.made[1].region = square;
    CHECK(both.lender() == 0);
}

TEST_CASE("an operand stays where somebody wants it, or its elements move") {
    SUBCASE("a later reader") {
        one_call made;
        made.made.steps[2].work.emplace_back(local_move{3, 0, row});
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("an input") {
        one_call made;
        made.made.steps[0] = {0, {}, {}, {read_source{0, 0}, read_source{1, 1}}};
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("a message of the same step") {
        one_call made;
        made.made.steps[1].sends.push_back({1, 0, square});
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("the same buffer twice, turned") {
        one_call made;
        made.forms[0].operands[1] = {1, 0};
        made.call().operands = {0, 0};
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("turned") {
        one_call made;
        made.forms[0].operands[0] = {1, 0};
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("a sum") {
        one_call made;
        made.forms[0] = {{"i", "j", "k"}, {{0, 1}, {2}}, {0, 1}};
        made.call().ranges.push_back({0, 8});
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("added to what is there") {
        one_call made;
        made.call().mode = write_mode::combine;
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("elements of another size") {
        one_call made;
        made.made[0].element_bytes = 4;
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("a result") {
        one_call made;
        made.made.results = {3, 0};
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("written to a result") {
        one_call made;
        made.made.results = {3, 2};
        CHECK(made.lender() == no_buffer);
    }
    SUBCASE("kept over runs") {
        one_call made;
        made.made.steps[0].once = true;
        CHECK(made.lender() == no_buffer);
    }
}

TEST_CASE("a ring replaces an operand piece by piece, if it is each piece once") {
    const auto ring = [](interval first, interval second) {
        one_call made;
        step other = made.made.steps[1];
        made.call().ranges[1] = first;
        other.phase = 2;
        std::get<contraction>(other.work[0]).ranges[1] = second;
        made.made.steps[2].phase = 3;
        made.made.steps.insert(made.made.steps.begin() + 2, other);
        return made.lender();
    };
    CHECK(ring({0, 4}, {4, 8}) == 0);
    CHECK(ring({0, 5}, {4, 8}) == no_buffer);
    CHECK(ring({0, 8}, {0, 8}) == no_buffer);
}

TEST_CASE("one after the other they lie in the first one's memory, or in the first that is not elsewhere") {
    program made;
    for (int number = 0; number < 4; ++number) {
        made.add_buffer(square, 8);
    }
    made.steps.push_back({0, {{1, 0, square}}, {}, {}});
    for (int number = 1; number < 4; ++number) {
        made.steps.push_back({static_cast<std::size_t>(number),
                              {},
                              {},
                              {contraction{0, {number - 1}, number, {{0, 8}, {0, 8}}, write_mode::overwrite}}});
    }
    const einsum_form form{{"i", "j"}, {{0, 1}}, {0, 1}};
    made.vertices = {{"y", work.get(), form}};
    detail::compute_in_place(made);
    CHECK(plan_arena(made).bytes == 512);
    CHECK(plan_arena(made).offsets == std::vector<std::size_t>{0, 0, 0, 0});
    const arena_plan planned = plan_arena(made, [](buffer_id number) { return number == 0; });
    CHECK(planned.bytes == 512);
    CHECK(planned.offsets == std::vector<std::size_t>{not_in_arena, 0, 0, 0});
    // Where one of them is elsewhere the later ones lie in the next.
    const arena_plan apart = plan_arena(made, [](buffer_id number) { return number == 1; });
    CHECK(apart.bytes == 512);
    CHECK(apart.offsets[3] == apart.offsets[2]);
}

}  // namespace in_place_test
