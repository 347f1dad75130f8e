// Softmax by the body of a device kernel, against its formula.

#include "emulation.hpp"

#include "kernel/block_oracle.hpp"

#include <einparallel/device/blocks.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace einparallel;
using einparallel::index;
using kernel_test::pick;

template <class T>
void check(kernel_test::random_source& random, std::vector<index> extents, label_id along) {
    kernel_test::random_case<T> each;
    each.extents = std::move(extents);
    std::vector<label_id> labels;
    for (std::size_t label = 0; label < each.extents.size(); ++label) {
        labels.push_back(static_cast<label_id>(label));
    }
    each.output = kernel_test::random_layout<T>(random, labels, each.extents, false);
    std::shuffle(labels.begin(), labels.end(), random);
    each.operands.push_back(kernel_test::random_layout<T>(random, labels, each.extents, false));
    for (T& element : each.operands[0].memory) {
        element = kernel_test::random_value<T>(random) * T(4);
    }
    std::vector<strided_block> blocks;
    const block_call call = kernel_test::call_of(each, blocks, write_mode::overwrite);
    einparallel::detail::softmax_on_device(nullptr, element_type_of<T>(), call, along);
    std::vector<label_id> rows = labels;
    std::erase(rows, along);
    double worst = 0;
    each.for_each(rows, [&](std::vector<index> point) {
        index& step = point[static_cast<std::size_t>(along)];
        const index length = each.extents[static_cast<std::size_t>(along)];
        const auto x = [&] {
            return static_cast<double>(
                each.operands[0].memory[static_cast<std::size_t>(each.operands[0].offset(point))]);
        };
        double sum = 0;
        for (step = 0; step < length; ++step) {
            sum += std::exp(x());
        }
        for (step = 0; step < length; ++step) {
            const auto found =
                static_cast<double>(each.output.memory[static_cast<std::size_t>(each.output.offset(point))]);
            worst = std::max(worst, std::abs(found - std::exp(x()) / sum) * (1 + sum / std::exp(x())));
        }
    });
    CHECK(worst < (sizeof(T) == 4 ? 1e-4 : 1e-12));
}

/// Bytes that softmax along a label reads and writes for each byte of the tensor.
template <class T>
device_test::traffic traffic_of(std::vector<index> extents, label_id along) {
    const einparallel::box all{{{0, extents[0]}, {0, extents[1]}}};
    const std::vector<index> strides = dense_strides(all);
    const std::vector<label_id> labels{0, 1};
    const auto count = static_cast<std::size_t>(all.size());
    std::vector<T> memory(2 * count + 64, T(1));
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(T);
    T* const x = memory.data() + (64 - begin % 64) % 64;  // on a sector
    const strided_block from{x, labels, strides};
    device_test::counted() = {};
    device_test::counting() = true;
    einparallel::detail::softmax_on_device(nullptr, element_type_of<T>(),
                                           {extents, {&from, 1}, {x + count, labels, strides}}, along);
    device_test::counting() = false;
    return device_test::counted();
}

TEST_CASE_TEMPLATE("softmax along any label equals its formula", T, float, double) {
    kernel_test::random_source random(21);
    for (int number = 0; number < 300; ++number) {
        std::vector<index> extents;
        const index rank = pick(random, 1, 4);
        for (index dimension = 0; dimension < rank; ++dimension) {
            extents.push_back(pick(random, 1, pick(random, 0, 4) == 0 ? 90 : 9));
        }
        check<T>(random, extents, static_cast<label_id>(pick(random, 0, rank - 1)));
    }
    for (const index length : {1, 7, 1000, 100000}) {  // the last one is longer than shared memory
        check<T>(random, {3, length}, 1);
        check<T>(random, {length, 5}, 0);
        check<T>(random, {2, length, 3}, 1);
    }
    check<T>(random, {3000, 70}, 0);
    check<T>(random, {5, 2, 1500}, 2);
    check<T>(random, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3}, 5);
}

TEST_CASE_TEMPLATE("softmax reads rows three times, whole sectors of them", T, float, double) {
    const auto check_traffic = [](std::vector<index> extents, label_id along) {
        const auto bytes = static_cast<std::uint64_t>(extents[0] * extents[1]) * sizeof(T);
        const device_test::traffic found = traffic_of<T>(extents, along);
        CHECK(found.launches == 1);
        CHECK(found.read_bytes == 3 * bytes);
        CHECK(found.written_bytes == bytes);
        CHECK(found.read_ratio() < 1.1);
        CHECK(found.write_ratio() < 1.1);
    };
    check_traffic({64, 1024}, 1);
    check_traffic({1000, 48}, 1);
    check_traffic({160, 256}, 0);
    check_traffic({3, 20000}, 1);
}

}  // namespace
