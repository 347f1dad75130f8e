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
    std::vector<operand_block> blocks;
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
    check<T>(random, {3, 40000}, 1);  // longer than shared memory
    check<T>(random, {3000, 70}, 0);
    check<T>(random, {5, 2, 1500}, 2);
    check<T>(random, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3}, 5);
}

}  // namespace
