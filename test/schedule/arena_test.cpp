// Lifetimes and offsets of buffers.

#include <einparallel/schedule/arena.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using namespace einparallel;

/// A program in which buffer i has bytes[i] bytes and is named in the steps first[i] … last[i].
program with_lives(const std::vector<std::size_t>& bytes, const std::vector<std::size_t>& first,
                   const std::vector<std::size_t>& last) {
    program made;
    std::size_t steps = 0;
    for (std::size_t number = 0; number < bytes.size(); ++number) {
        made.add_buffer(box{{{0, static_cast<index>(bytes[number])}}, false}, 1);
        steps = std::max(steps, last[number] + 1);
    }
    for (std::size_t position = 0; position < steps; ++position) {
        step each;
        each.phase = position;
        for (std::size_t number = 0; number < bytes.size(); ++number) {
            if (first[number] == position || last[number] == position) {
                each.work.emplace_back(read_source{0, static_cast<buffer_id>(number)});
            }
        }
        made.steps.push_back(std::move(each));
    }
    return made;
}

}  // namespace

TEST_CASE("a buffer lives from the first step that names it to the last, a result to the end") {
    program made;
    for (int number = 0; number < 7; ++number) {
        made.add_buffer(box{{{0, 8}}, false}, 8);
    }
    const box all{{{0, 8}}, false};
    made.steps.push_back({0, {{1, 0, all}}, {}, {read_source{0, 1}}});
    made.steps.push_back({1, {}, {{1, 0, all}}, {contraction{1, {1, 2}, 3, {}, write_mode::overwrite}}});
    made.steps.push_back({2, {}, {}, {local_move{3, 4, all, 1}, local_move{5, 3, all}}});
    made.results = {3};
    const std::vector<lifetime> alive = lifetimes_of(made);
    CHECK(alive[0] == lifetime{0, 1, true, false, 1, {}, 2, 0});
    CHECK(alive[1] == lifetime{0, 1, true, false, 1, 0, 2, 0});
    CHECK(alive[2] == lifetime{1, 1, true, false, 0, {}, 1, 0});
    CHECK(alive[3] == lifetime{1, 3, true, false, 3, {}, 4, 2});
    CHECK(alive[4] == lifetime{2, 2, true, false, 0, {}, 1, 0});
    CHECK(alive[5] == lifetime{2, 2, true, false, 1, {}, 1, 2});
    CHECK_FALSE(alive[6].named);
}

TEST_CASE("a chain of buffers needs two of them at a time") {
    const program chain = with_lives({640, 640, 640, 640, 640}, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5});
    CHECK(plan_arena(chain).bytes == 2 * 640);
    const program apart = with_lives({100, 1000, 10}, {0, 1, 2}, {0, 1, 2});
    CHECK(plan_arena(apart).bytes == 1024);
    CHECK(plan_arena(apart).offsets == std::vector<std::size_t>{0, 0, 0});
    CHECK(plan_arena(program{}).bytes == 0);
}

TEST_CASE("buffers outside of the arena take none of it") {
    const program three = with_lives({64, 128, 256}, {0, 0, 0}, {1, 1, 1});
    const arena_plan planned = plan_arena(three, [](buffer_id buffer) { return buffer == 2; });
    CHECK(planned.bytes == 64 + 128);
    CHECK(planned.offsets[2] == not_in_arena);
}

TEST_CASE("what a buffer lends lies inside of it") {
    program made = with_lives({256, 128, 128, 64}, {3, 0, 1, 0}, {4, 1, 2, 4});
    made.buffers[1].lender = 0;
    made.buffers[2].lender = 0;
    made.buffers[2].lender_offset = 128;
    const arena_plan planned = plan_arena(made);
    CHECK(planned.bytes == 256 + 64);
    CHECK(planned.offsets[1] == planned.offsets[0]);
    CHECK(planned.offsets[2] == planned.offsets[0] + 128);
    // A lender that lies elsewhere lends nothing.
    const arena_plan alone = plan_arena(made, [](buffer_id buffer) { return buffer == 0; });
    CHECK(alone.bytes == 2 * 128 + 64);
}

TEST_CASE("random programs: nothing alive together overlaps, and little is wasted") {
    std::mt19937 engine(5);
    const auto between = [&](std::size_t low, std::size_t high) {
        return std::uniform_int_distribution<std::size_t>(low, high)(engine);
    };
    std::size_t wanted = 0;
    std::size_t given = 0;
    for (int trial = 0; trial < 500; ++trial) {
        std::vector<std::size_t> bytes;
        std::vector<std::size_t> first;
        std::vector<std::size_t> last;
        for (std::size_t number = between(1, 25); number > 0; --number) {
            bytes.push_back(between(0, 1) * between(1, 5000));
            first.push_back(between(0, 20));
            last.push_back(first.back() + between(0, 1) * between(0, 10));
        }
        const arena_plan planned = plan_arena(with_lives(bytes, first, last));
        std::size_t most = 0;
        for (std::size_t position = 0; position <= 30; ++position) {
            std::size_t alive = 0;
            for (std::size_t a = 0; a < bytes.size(); ++a) {
                const bool here = first[a] <= position && position <= last[a];
                alive += here ? (bytes[a] + 63) / 64 * 64 : 0;
                REQUIRE(planned.offsets[a] % 64 == 0);
                REQUIRE(planned.offsets[a] + bytes[a] <= planned.bytes);
                for (std::size_t b = 0; here && b < a; ++b) {
                    const bool both = first[b] <= position && position <= last[b] && bytes[a] > 0 && bytes[b] > 0;
                    REQUIRE((!both || planned.offsets[a] + bytes[a] <= planned.offsets[b] ||
                             planned.offsets[b] + bytes[b] <= planned.offsets[a]));
                }
            }
            most = std::max(most, alive);
        }
        REQUIRE(planned.bytes >= most);
        wanted += most;
        given += planned.bytes;
    }
    CHECK(static_cast<double>(given) < 1.1 * static_cast<double>(wanted));
}
