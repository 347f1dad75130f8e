// Strided copies against element-wise loops.

#include <einparallel/kernel/copy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace {

using einparallel::box;
using length = einparallel::index;  // strings.h has a function `index`

std::vector<length> random_strides(std::mt19937& random, const std::vector<length>& extents, length& size,
                                   length& origin) {
    std::vector<std::size_t> order(extents.size());
    for (std::size_t at = 0; at < order.size(); ++at) {
        order[at] = at;
    }
    std::shuffle(order.begin(), order.end(), random);
    std::vector<length> strides(extents.size());
    size = 1;
    origin = 0;
    for (const std::size_t dimension : order) {
        strides[dimension] = size;
        size = size * std::max<length>(extents[dimension], 1) + (random() % 3 == 0 ? 2 : 0);
        if (random() % 4 == 0) {
            origin += strides[dimension] * (std::max<length>(extents[dimension], 1) - 1);
            strides[dimension] = -strides[dimension];
        }
    }
    return strides;
}

void for_each(const std::vector<length>& extents, const std::function<void(const std::vector<length>&)>& visit) {
    std::vector<length> point(extents.size(), 0);
    const std::function<void(std::size_t)> descend = [&](std::size_t depth) {
        if (depth == extents.size()) {
            visit(point);
            return;
        }
        for (point[depth] = 0; point[depth] < extents[depth]; ++point[depth]) {
            descend(depth + 1);
        }
    };
    descend(0);
}

length dot(const std::vector<length>& strides, const std::vector<length>& point) {
    length sum = 0;
    for (std::size_t at = 0; at < point.size(); ++at) {
        sum += strides[at] * point[at];
    }
    return sum;
}

}  // namespace

TEST_CASE("copy_box copies every element and touches nothing else") {
    std::mt19937 random(3);
    for (const std::size_t bytes : {1U, 2U, 4U, 8U, 16U}) {
        for (int repetition = 0; repetition < 120; ++repetition) {
            std::vector<length> extents(random() % 5);
            const length largest = repetition % 6 == 0 ? 70 : 9;
            for (length& extent : extents) {
                extent =
                    random() % 30 == 0 ? 0 : 1 + static_cast<length>(random()) % (extents.size() > 2 ? 9 : largest);
            }
            length into_size, into_origin, from_size, from_origin;
            const std::vector<length> into_strides = random_strides(random, extents, into_size, into_origin);
            const std::vector<length> from_strides = random_strides(random, extents, from_size, from_origin);
            std::vector<std::byte> into(static_cast<std::size_t>(into_size) * bytes, std::byte{0xAA});
            std::vector<std::byte> from(static_cast<std::size_t>(from_size) * bytes);
            for (std::byte& value : from) {
                value = static_cast<std::byte>(random());
            }
            std::vector<std::byte> expected = into;
            for_each(extents, [&](const std::vector<length>& point) {
                std::memcpy(expected.data() + static_cast<std::size_t>(into_origin + dot(into_strides, point)) * bytes,
                            from.data() + static_cast<std::size_t>(from_origin + dot(from_strides, point)) * bytes,
                            bytes);
            });
            einparallel::copy_box(extents, bytes, into.data() + static_cast<std::size_t>(into_origin) * bytes,
                                  into_strides, from.data() + static_cast<std::size_t>(from_origin) * bytes,
                                  from_strides);
            CHECK(into == expected);
        }
    }
}

TEST_CASE("copy_region moves a box between buffers of other boxes") {
    std::mt19937 random(5);
    for (int repetition = 0; repetition < 200; ++repetition) {
        const std::size_t rank = random() % 5;
        box region, into_region, from_region;
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            const auto begin = static_cast<length>(random() % 10);
            const length end = begin + static_cast<length>(random() % 12 == 0 ? 0 : 1 + random() % 5);
            const auto around = [&] {
                return einparallel::interval{begin - static_cast<length>(random() % 3),
                                             end + static_cast<length>(random() % 3)};
            };
            region.sides.push_back({begin, end});
            into_region.sides.push_back(around());
            from_region.sides.push_back(around());
        }
        std::vector<int> into(static_cast<std::size_t>(into_region.size()), -1);
        std::vector<int> from(static_cast<std::size_t>(from_region.size()));
        for (std::size_t at = 0; at < from.size(); ++at) {
            from[at] = static_cast<int>(at);
        }
        std::vector<int> expected = into;
        std::vector<length> extents(rank);
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            extents[dimension] = region.sides[dimension].size();
        }
        const auto place = [&](const box& outer, const std::vector<length>& point) {
            length at = 0;
            for (std::size_t dimension = 0; dimension < rank; ++dimension) {
                at = at * outer.sides[dimension].size() + region.sides[dimension].begin + point[dimension] -
                     outer.sides[dimension].begin;
            }
            return static_cast<std::size_t>(at);
        };
        if (!region.empty()) {
            for_each(extents, [&](const std::vector<length>& point) {
                expected[place(into_region, point)] = from[place(from_region, point)];
            });
        }
        einparallel::copy_region(region, into.data(), into_region, from.data(), from_region, sizeof(int));
        CHECK(into == expected);
    }
    einparallel::copy_region(einparallel::no_box(0), nullptr, {}, nullptr, {}, 8);
}
