// Strided copies against element-wise loops.

#include <einparallel/kernel/copy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace copy_test {

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

namespace {

/// One copy of dense tensors, or of boxes in the middle of larger ones, looked at byte by byte.
struct permutation {
    std::vector<length> extents;     ///< of the output's dimensions
    std::vector<std::size_t> order;  ///< dimension d of the output is dimension order[d] of the input
    length into_margin = 0;          ///< elements that the output's dimensions are longer by
    length from_margin = 0;
    length into_offset = 0;  ///< elements
    length from_offset = 0;
};

template <class Element>
void check_permutation(const permutation& copied) {
    const std::size_t rank = copied.extents.size();
    std::vector<length> into_strides(rank), from_strides(rank);
    length into_size = 1;
    length from_size = 1;
    for (std::size_t dimension = rank; dimension-- > 0;) {
        into_strides[dimension] = into_size;
        into_size *= copied.extents[dimension] + copied.into_margin;
    }
    for (std::size_t dimension = rank; dimension-- > 0;) {
        for (std::size_t output = 0; output < rank; ++output) {
            if (copied.order[output] == dimension) {
                from_strides[output] = from_size;
                from_size *= copied.extents[output] + copied.from_margin;
            }
        }
    }
    const Element untouched{1};
    std::vector<Element> into(static_cast<std::size_t>(into_size + copied.into_offset), untouched);
    std::vector<Element> from(static_cast<std::size_t>(from_size + copied.from_offset));
    unsigned value = 12345;
    for (Element& each : from) {
        value = value * 1664525U + 1013904223U;
        each = static_cast<Element>(value >> 8);
    }
    einparallel::copy_box(copied.extents, sizeof(Element), into.data() + copied.into_offset, into_strides,
                          from.data() + copied.from_offset, from_strides);
    std::vector<length> point(rank, 0);
    length to = copied.into_offset;
    length source = copied.from_offset;
    length next = 0;  // the first element of the output that no point came by yet
    bool right = true;
    for (;;) {
        for (; next < to; ++next) {
            right = right && into[static_cast<std::size_t>(next)] == untouched;
        }
        right = right && into[static_cast<std::size_t>(to)] == from[static_cast<std::size_t>(source)];
        next = to + 1;
        std::size_t dimension = rank;
        while (dimension-- > 0) {
            to += into_strides[dimension];
            source += from_strides[dimension];
            if (++point[dimension] < copied.extents[dimension]) {
                break;
            }
            point[dimension] = 0;
            to -= copied.extents[dimension] * into_strides[dimension];
            source -= copied.extents[dimension] * from_strides[dimension];
        }
        if (dimension == static_cast<std::size_t>(-1)) {
            break;
        }
    }
    for (; next < static_cast<length>(into.size()); ++next) {
        right = right && into[static_cast<std::size_t>(next)] == untouched;
    }
    CAPTURE(sizeof(Element));
    CAPTURE(copied.extents.size());
    CAPTURE(copied.extents[0]);
    CHECK(right);
}

using wide_element = std::complex<double>;

}  // namespace

TEST_CASE_TEMPLATE("permutations of middling size, whole tensors and boxes within larger ones", Element, unsigned char,
                   unsigned short, float, double, wide_element) {
    std::mt19937 random(11);
    for (int repetition = 0; repetition < 60; ++repetition) {
        permutation copied;
        const std::size_t rank = 2 + random() % 5;
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            const length most = rank == 2 ? 300 : rank == 3 ? 50 : rank == 4 ? 17 : 9;
            copied.extents.push_back(1 + static_cast<length>(random()) % most);
            copied.order.push_back(dimension);
        }
        std::shuffle(copied.order.begin(), copied.order.end(), random);
        copied.into_margin = random() % 3 == 0 ? 1 + static_cast<length>(random() % 3) : 0;
        copied.from_margin = random() % 3 == 0 ? 1 + static_cast<length>(random() % 3) : 0;
        copied.into_offset = static_cast<length>(random() % 5);
        copied.from_offset = static_cast<length>(random() % 5);
        check_permutation<Element>(copied);
    }
}

TEST_CASE("permutations that go past the caches") {
    // Whole lines: straight from registers; at distances of many powers of two through a buffer.
    check_permutation<double>({{1480, 1432}, {1, 0}});
    check_permutation<double>({{2048, 1032}, {1, 0}});
    check_permutation<float>({{18, 18, 18, 18, 41}, {4, 3, 2, 1, 0}});
    // Rows of the output that begin anywhere, an output that does, and boxes.
    check_permutation<double>({{1481, 1433}, {1, 0}});
    check_permutation<double>({{1480, 1432}, {1, 0}, 0, 0, 3, 1});
    check_permutation<float>({{131, 7, 67, 71}, {2, 0, 3, 1}, 0, 2, 1, 0});
    check_permutation<float>({{13, 11, 12, 17, 150}, {0, 3, 4, 2, 1}, 3, 0, 0, 0});
    // Neighbours in the output that are not in the input, and both.
    check_permutation<double>({{20, 18, 17, 20, 18}, {3, 0, 4, 1, 2}});
    check_permutation<float>({{500000, 3, 3}, {0, 2, 1}});
    check_permutation<double>({{3, 700001}, {1, 0}});
    check_permutation<double>({{700001, 3}, {1, 0}});
    // Rows of the output shorter than a block is wide, of which vectors leave some columns over.
    check_permutation<float>({{10, 8, 20, 12, 16, 18}, {3, 0, 4, 1, 5, 2}});
    check_permutation<double>({{10, 8, 20, 6, 16, 19}, {3, 0, 4, 1, 5, 2}, 0, 0, 1, 0});
    check_permutation<double>({{10, 8, 20, 9, 16, 10}, {3, 0, 4, 1, 5, 2}, 1, 0, 3, 1});
    // Runs of elements: short, of whole lines, of odd lengths, long.
    check_permutation<float>({{30, 40, 50, 76}, {2, 1, 0, 3}});
    check_permutation<double>({{60, 50, 16, 48}, {1, 2, 0, 3}, 0, 0, 0, 1});
    check_permutation<double>({{301, 200, 37}, {1, 0, 2}});
    check_permutation<double>({{301, 11, 700}, {1, 0, 2}, 1, 0});
    check_permutation<float>({{3, 5, 300001}, {1, 0, 2}});
    check_permutation<wide_element>({{1100, 1000}, {1, 0}});
    check_permutation<unsigned char>({{4300, 4100}, {1, 0}});
    check_permutation<double>({{2200000}, {0}, 0, 0, 1, 0});
}

}  // namespace copy_test
