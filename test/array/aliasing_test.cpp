// Whether blocks, or indices of one block, have bytes in common: against the set of all places.

#include "kernel/block_oracle.hpp"

#include <einparallel/array/aliasing.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <vector>

namespace aliasing_test {

namespace {

using einparallel::index;
using einparallel::detail::overlap;
using einparallel::detail::shares_places;
using kernel_test::pick;
using kernel_test::random_source;

/// Offsets of all elements, in elements.
std::vector<index> places(const std::vector<index>& extents, const std::vector<index>& strides) {
    std::vector<index> all{0};
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        std::vector<index> longer;
        for (const index place : all) {
            for (index step = 0; step < extents[dimension]; ++step) {
                longer.push_back(place + step * strides[dimension]);
            }
        }
        all = longer;
    }
    return all;
}

struct random_block {
    explicit random_block(random_source& random) {
        const index rank = pick(random, 0, 3);
        for (index dimension = 0; dimension < rank; ++dimension) {
            extents.push_back(pick(random, 0, 4));
            strides.push_back(pick(random, -12, 12));
        }
    }
    std::vector<index> extents;
    std::vector<index> strides;
};

}  // namespace

TEST_CASE("indices of a block that are one place") {
    random_source random(11);
    int shared = 0;
    for (int run = 0; run < 20000; ++run) {
        const random_block block(random);
        const std::vector<index> all = places(block.extents, block.strides);
        const bool expected = std::set<index>(all.begin(), all.end()).size() < all.size();
        shared += expected ? 1 : 0;
        REQUIRE(shares_places(block.extents, block.strides.data()) == expected);
    }
    CHECK(shared > 1000);
    CHECK(shared < 19000);
}

TEST_CASE("blocks that have places in common are never said to have none") {
    random_source random(12);
    const std::vector<double> memory(400);
    constexpr auto element = einparallel::element_type_of<double>();
    int apart = 0;
    for (int run = 0; run < 20000; ++run) {
        const random_block first(random);
        const random_block second(random);
        const index begins[2] = {200 + pick(random, 0, 29), 200 + pick(random, 0, 29)};
        std::set<index> taken;
        for (const index place : places(first.extents, first.strides)) {
            taken.insert(begins[0] + place);
        }
        bool meets = false;
        for (const index place : places(second.extents, second.strides)) {
            meets = meets || taken.contains(begins[1] + place);
        }
        const bool said = overlap({memory.data() + begins[0], first.extents, first.strides.data(), element},
                                  {memory.data() + begins[1], second.extents, second.strides.data(), element});
        apart += said ? 0 : 1;
        REQUIRE((said || !meets));
    }
    CHECK(apart > 1000);
}

}  // namespace aliasing_test
