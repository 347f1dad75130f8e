// Copies and transpositions by the bodies of device kernels, against plain loops.

#include "emulation.hpp"

#include <einparallel/device/blocks.hpp>
#include <einparallel/device/launch.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using einparallel::index;
namespace launch = einparallel::detail::launch;

/// Loops of a copy: of what is written, and of what is read.
struct strided_copy {
    void* into = nullptr;
    const void* from = nullptr;
    int element_bytes = 0;
    int loops = 0;
    index extents[launch::most_loops] = {};
    index into_strides[launch::most_loops] = {};
    index from_strides[launch::most_loops] = {};

    void launch() const {
        const auto count = static_cast<std::size_t>(loops);
        einparallel::detail::copy_on_device(nullptr, {{extents, count},
                                                      into,
                                                      {into_strides, count},
                                                      from,
                                                      {from_strides, count},
                                                      static_cast<std::size_t>(element_bytes)});
    }
};

/// A box with memory for both sides.
struct box_copy {
    strided_copy work;
    std::vector<std::byte> from;
    std::vector<std::byte> into;
    std::vector<std::byte> expected;

    /// Plain loops.
    void run_expected() {
        const auto bytes = static_cast<std::size_t>(work.element_bytes);
        std::vector<index> at(static_cast<std::size_t>(work.loops), 0);
        for (;;) {
            index source = 0;
            index target = 0;
            for (int loop = 0; loop < work.loops; ++loop) {
                source += at[static_cast<std::size_t>(loop)] * work.from_strides[loop];
                target += at[static_cast<std::size_t>(loop)] * work.into_strides[loop];
            }
            const auto offset = static_cast<std::byte*>(work.into) - into.data();
            std::memcpy(expected.data() + offset + target * static_cast<index>(bytes),
                        static_cast<const std::byte*>(work.from) + source * static_cast<index>(bytes), bytes);
            int loop = work.loops - 1;
            while (loop >= 0 && ++at[static_cast<std::size_t>(loop)] == work.extents[loop]) {
                at[static_cast<std::size_t>(loop--)] = 0;
            }
            if (loop < 0) {
                return;
            }
        }
    }
};

index pick(std::mt19937& random, index low, index high) {
    return std::uniform_int_distribution<index>(low, high)(random);
}

/// Strides of a dense layout in an order, with gaps and reversed dimensions; returns elements and moves `first`.
index lay_out(std::mt19937& random, const strided_copy& work, const std::vector<int>& order, bool plain, index* strides,
              index& first) {
    index size = 1;
    first = 0;
    if (!plain && pick(random, 0, 5) == 0) {
        size = 2;
    }
    for (const int loop : order) {
        strides[loop] = size;
        size *= work.extents[loop];
        if (!plain && pick(random, 0, 3) == 0) {
            size += pick(random, 1, 8);
        }
        if (!plain && pick(random, 0, 6) == 0) {
            first += strides[loop] * (work.extents[loop] - 1);
            strides[loop] = -strides[loop];
        }
    }
    return size;
}

box_copy random_copy(std::mt19937& random, index most_elements) {
    box_copy made;
    strided_copy& work = made.work;
    const int sizes[] = {1, 2, 4, 8, 16};
    work.element_bytes = sizes[pick(random, 0, 4)];
    work.loops = static_cast<int>(pick(random, 0, 6));
    index count = 1;
    for (int loop = 0; loop < work.loops; ++loop) {
        const index largest = pick(random, 0, 2) == 0 ? 4 : pick(random, 0, 1) == 0 ? 40 : 400;
        index extent = pick(random, 1, largest);
        extent = pick(random, 0, 2) == 0 ? (extent + 7) / 8 * 8 : extent;
        work.extents[loop] = std::max<index>(std::min(extent, most_elements / count), 1);
        count *= work.extents[loop];
    }
    std::vector<int> order(static_cast<std::size_t>(work.loops));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    index from_first = 0;
    index into_first = 0;
    const index from_size = lay_out(random, work, order, pick(random, 0, 1) == 0, work.from_strides, from_first);
    if (pick(random, 0, 3) > 0) {
        std::shuffle(order.begin(), order.end(), random);
    }
    const index into_size = lay_out(random, work, order, pick(random, 0, 1) == 0, work.into_strides, into_first);
    const auto bytes = static_cast<index>(work.element_bytes);
    const index shift = pick(random, 0, 2) == 0 ? pick(random, 0, 16) : 0;
    made.from.resize(static_cast<std::size_t>((from_size + shift) * bytes + 16));
    made.into.resize(static_cast<std::size_t>((into_size + shift) * bytes + 16));
    for (std::byte& each : made.from) {
        each = static_cast<std::byte>(random());
    }
    std::fill(made.into.begin(), made.into.end(), std::byte{0x5a});
    made.expected = made.into;
    work.from = made.from.data() + (from_first + shift) * bytes;
    work.into = made.into.data() + (into_first + shift) * bytes;
    return made;
}

/// Moves a row-major tensor of these extents into the order `order` of its dimensions.
device_test::traffic transposition(const std::vector<index>& extents, const std::vector<int>& order, int bytes) {
    strided_copy work;
    work.element_bytes = bytes;
    work.loops = static_cast<int>(extents.size());
    index size = 1;
    for (std::size_t loop = extents.size(); loop-- > 0;) {
        work.extents[loop] = extents[loop];
        work.from_strides[loop] = size;
        size *= extents[loop];
    }
    size = 1;
    for (std::size_t position = order.size(); position-- > 0;) {
        work.into_strides[order[position]] = size;
        size *= extents[static_cast<std::size_t>(order[position])];
    }
    const auto doubles = static_cast<std::size_t>((size * bytes + 15) / 8 + 32);
    std::vector<double> from(doubles);
    std::vector<double> into(doubles);
    const auto on_lines = [](double* at) { return at + (64 - reinterpret_cast<std::uintptr_t>(at) % 64) / 8; };
    work.from = on_lines(from.data());
    work.into = on_lines(into.data());
    device_test::counted() = {};
    device_test::counting() = true;
    work.launch();
    device_test::counting() = false;
    return device_test::counted();
}

TEST_CASE("random boxes are copied as plain loops copy them") {
    std::mt19937 random(7);
    for (int number = 0; number < 3000; ++number) {
        box_copy each = random_copy(random, number % 50 == 0 ? 60000 : 3000);
        each.run_expected();
        each.work.launch();
        CAPTURE(number);
        REQUIRE(each.into == each.expected);
    }
}

TEST_CASE("transpositions read and write whole sectors") {
    struct tensor {
        std::vector<index> extents;
        std::vector<int> order;
    };
    const tensor tensors[] = {{{512, 512}, {1, 0}},
                              {{513, 511}, {1, 0}},
                              {{48, 36, 24, 40}, {3, 2, 1, 0}},
                              {{24, 20, 20, 24}, {1, 3, 0, 2}},
                              {{12, 70, 12, 70}, {2, 0, 3, 1}},
                              {{64, 64, 20, 20}, {2, 3, 0, 1}},
                              {{1024, 8, 64}, {1, 0, 2}},
                              {{300, 500, 3}, {1, 0, 2}},
                              {{3, 3, 3, 3, 3, 3, 3, 3, 3}, {8, 7, 6, 5, 4, 3, 2, 1, 0}}};
    for (const tensor& each : tensors) {
        for (const int bytes : {4, 8, 16}) {
            const device_test::traffic found = transposition(each.extents, each.order, bytes);
            if (std::getenv("EINPARALLEL_FIGURES") != nullptr) {
                std::string shape;
                for (const index extent : each.extents) {
                    shape += std::to_string(extent) + " ";
                }
                std::printf("%-28s %2d bytes: bytes of sectors / bytes read %.3f, written %.3f\n", shape.c_str(), bytes,
                            found.read_ratio(), found.write_ratio());
            }
            CHECK(found.read_bytes == found.written_bytes);
            const bool multiple = each.extents.back() % (32 / std::min(bytes, 32)) == 0;
            CHECK(found.read_ratio() < (multiple ? 1.01 : 1.7));
            CHECK(found.write_ratio() < 1.7);
        }
    }
}

TEST_CASE("the emulation finds what is no barrier for all, and too much memory") {
    struct partial {
        void operator()(device_test::context& at) const {
            if (at.thread() < 32) {
                at.barrier();
            }
        }
    };
    CHECK_THROWS(einparallel::detail::start(nullptr, partial{}, {1, 64, 0}));
    CHECK_THROWS(einparallel::detail::start(nullptr, partial{}, {1, 2048, 0}));
    CHECK_THROWS(einparallel::detail::start(nullptr, partial{}, {1, 32, 1 << 20}));
}

}  // namespace
