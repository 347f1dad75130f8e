// Whether blocks, or indices of one block, have bytes in common: against the set of all places.

#include "kernel/block_oracle.hpp"

#include <einparallel/array/aliasing.hpp>

#include <support/long_suite.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace aliasing_test {

namespace {

using einparallel::element_type;
using einparallel::element_type_of;
using einparallel::index;
using einparallel::strided_block;
using einparallel::detail::overlap;
using einparallel::detail::overlaps_itself;
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
        const index rank = pick(random, 0, 4);
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
        REQUIRE(overlaps_itself(block.extents, block.strides.data()) == expected);
    }
    CHECK(shared > 1000);
    CHECK(shared < 19000);
}

namespace {

/// A block at a number of bytes behind some address.
struct placed_block {
    index first = 0;
    std::vector<index> extents;
    std::vector<index> strides;
    element_type element = element_type_of<double>();

    std::set<index> bytes() const {
        std::set<index> all;
        for (const index place : places(extents, strides)) {
            for (index byte = 0; byte < index(element.bytes); ++byte) {
                all.insert(first + place * index(element.bytes) + byte);
            }
        }
        return all;
    }
    strided_block at(std::byte* memory) const { return {memory + first, extents, strides.data(), element}; }
};

/// A part of a row-major array of doubles: every few indices of its dimensions, forwards or backwards, in any order;
/// some with one index along two of them, repeated, or as floats, complex numbers and at any byte.
placed_block part_of(const std::vector<index>& extents, random_source& random) {
    placed_block part;
    index stride = 1;
    for (std::size_t dimension = extents.size(); dimension-- > 0; stride *= extents[dimension]) {
        const index extent = extents[dimension];
        const index step = pick(random, 0, 1) == 0 ? 1 : pick(random, 1, 3);
        const index count = pick(random, 0, 4) == 0 ? pick(random, 0, 1) : pick(random, 1, (extent - 1) / step + 1);
        const bool back = pick(random, 0, 3) == 0;
        part.first += (pick(random, 0, extent - 1 - std::max<index>(count - 1, 0) * step) +
                       (back && count > 0 ? (count - 1) * step : 0)) *
                      stride * 8;
        const auto place = std::size_t(pick(random, 0, index(part.extents.size())));
        part.extents.insert(part.extents.begin() + std::ptrdiff_t(place), count);
        part.strides.insert(part.strides.begin() + std::ptrdiff_t(place), (back ? -step : step) * stride);
    }
    const index kind = pick(random, 0, 9);
    if (kind == 0 && part.extents.size() > 1) {
        part.extents[1] = std::min(part.extents[0], part.extents[1]);
        part.strides[1] += part.strides[0];
        part.extents.erase(part.extents.begin());
        part.strides.erase(part.strides.begin());
    } else if (kind == 1 && part.extents.size() < 4) {
        part.extents.push_back(pick(random, 1, 3));
        part.strides.push_back(0);
    } else if (kind == 2) {
        part.element = element_type_of<float>();
        part.first += 4 * pick(random, 0, 1);
        std::transform(part.strides.begin(), part.strides.end(), part.strides.begin(),
                       [](index each) { return 2 * each; });
    } else if (kind == 3) {
        part.element = element_type_of<std::complex<double>>();
    } else if (kind == 4) {
        part.first += pick(random, 0, 7);
    }
    return part;
}

/// Any strides.
placed_block any_block(index rank, index largest, random_source& random) {
    const element_type types[] = {element_type_of<float>(), element_type_of<double>(),
                                  element_type_of<std::complex<double>>()};
    placed_block made;
    made.element = types[pick(random, 0, 2)];
    made.first = pick(random, -99, 99);
    for (index dimension = pick(random, 0, rank); dimension > 0; --dimension) {
        made.extents.push_back(pick(random, pick(random, 0, 9) == 0 ? 0 : 1, rank > 4 ? 2 : 5));
        made.strides.push_back(pick(random, -largest, largest));
    }
    return made;
}

}  // namespace

TEST_CASE("blocks of up to four dimensions are said to be apart where no byte is in both, and others never") {
    random_source random(12);
    std::vector<std::byte> memory(std::size_t(1) << 16);
    int apart = 0;
    int unseen = 0;
    const int cases = einparallel::testing::tried_cases(40000);
    for (int run = 0; run < cases; ++run) {
        placed_block blocks[2];
        std::vector<index> extents;
        for (index rank = pick(random, 1, 4); rank > 0; --rank) {
            extents.push_back(pick(random, 1, 7));
        }
        const index kind = run % 4;
        for (placed_block& block : blocks) {
            block = kind == 3   ? any_block(7, 40, random)
                    : kind == 2 ? any_block(4, run % 8 == 2 ? 12 : 90, random)
                                : part_of(extents, random);
        }
        const std::set<index> first = blocks[0].bytes();
        const std::set<index> second = blocks[1].bytes();
        const bool meet = std::any_of(first.begin(), first.end(), [&](index byte) { return second.contains(byte); });
        std::byte* const middle = memory.data() + memory.size() / 2;
        const bool said = overlap(blocks[0].at(middle), blocks[1].at(middle));
        REQUIRE((said || !meet));
        REQUIRE((said == meet || kind == 3));
        REQUIRE(overlap(blocks[1].at(middle), blocks[0].at(middle)) == said);
        apart += meet ? 0 : 1;
        unseen += said && !meet ? 1 : 0;
    }
    CHECK(apart > cases / 3);
    CHECK(apart < cases * 2 / 3);
    CHECK(unseen <= cases / 1000);
}

TEST_CASE("two strides of long blocks: in as many steps as Euclid's") {
    // a·x for x < n against b·y + c for y < n: apart where x and y would have to be longer.
    std::vector<std::byte> memory(8);
    const auto meet = [&](index a, index b, index c, index n) {
        const index strides[] = {a, b};
        return overlap({memory.data(), {&n, 1}, &strides[0], element_type_of<std::uint8_t>()},
                       {memory.data() + c, {&n, 1}, &strides[1], element_type_of<std::uint8_t>()});
    };
    // 1000003·x = 1000002·y + 5 first at x = 5 + …: x ≡ 5 modulo 1000002.
    CHECK(meet(1000003, 1000002, 5, 6));
    CHECK(!meet(1000003, 1000002, 5, 5));
    CHECK(meet(1000003, 1000002, 7 * 1000003 - 3 * 1000002, 8));
    CHECK(!meet(1000003, 1000002, 7 * 1000003 - 3 * 1000002, 7));
    CHECK(meet(6, 4, 1000 * 6 - 999 * 4, 1000000));
    CHECK(!meet(6, 4, 1001, 1000000));
    CHECK(!meet(index(1) << 40, (index(1) << 40) + 2, 1, 100));
}

TEST_CASE("every second and every third index of four long dimensions: by one sum for all that give it") {
    const std::vector<std::byte> memory(8);
    const index n = 900;
    const index steps[] = {n * n * n, n * n, n, 1};
    const index second[] = {2 * steps[0], 2 * steps[1], 2 * steps[2], 2};
    const index third[] = {3 * steps[0], 3 * steps[1], 3 * steps[2], 3};
    const index extents[] = {300, 300, 300, 50};
    const auto meet = [&](index columns) {  // columns 0 … 98 and those from `columns` on
        return overlap({memory.data(), extents, second, element_type_of<std::uint8_t>()},
                       {memory.data() + columns, extents, third, element_type_of<std::uint8_t>()});
    };
    CHECK(meet(98));
    CHECK(!meet(99));
    CHECK(!meet(300));
}

}  // namespace aliasing_test
