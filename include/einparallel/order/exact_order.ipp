#pragma once
// The cheapest order of pairwise contractions: dynamic programming over sets of tensors.

#include <einparallel/order/contraction_order.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<tensor_pair> exact_order(const product_network& net, double most) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t subsets = std::size_t{1} << net.operands;
    const std::size_t words = net.labels.words();
    const std::uint64_t* const output = net.labels.of(net.operands);
    label_sets any(64 * words, subsets);   // labels of the tensors of a subset
    label_sets kept(64 * words, subsets);  // labels that the product of the subset must still have
    for (std::size_t subset = 1; subset < subsets; ++subset) {
        const std::uint64_t* const lowest = net.labels.of(std::size_t(std::countr_zero(subset)));
        for (std::size_t word = 0; word < words; ++word) {
            any.of(subset)[word] = any.of(subset & (subset - 1))[word] | lowest[word];
        }
    }
    for (std::size_t subset = 1; subset < subsets; ++subset) {
        for (std::size_t word = 0; word < words; ++word) {
            kept.of(subset)[word] = any.of(subset)[word] & (output[word] | any.of(subsets - 1 - subset)[word]);
        }
    }
    const bool may_vanish = std::find(net.extents.begin(), net.extents.end(), 0.0) != net.extents.end();
    std::vector<double> operations(subsets, infinity);
    std::vector<double> elements(subsets, 0);
    std::vector<std::size_t> split(subsets, 0);  // the left half; 0 where the subset is a tensor or costs too much
    std::vector<std::uint64_t> joined(words);
    for (std::size_t subset = 1; subset < subsets; ++subset) {
        if (std::has_single_bit(subset)) {
            operations[subset] = 0;
            continue;
        }
        const double size = net.size_of(kept.of(subset));
        const double least = may_vanish ? 0 : size;  // a contraction goes through all labels of its result
        double best = most;
        elements[subset] = infinity;
        // The half with the lowest tensor is the left one: each split once.
        const std::size_t others = subset & (subset - 1);
        for (std::size_t right = others; right != 0; right = (right - 1) & others) {
            const std::size_t left = subset ^ right;
            const double before = operations[left] + operations[right];
            if (before + least > best) {
                continue;
            }
            for (std::size_t word = 0; word < words; ++word) {
                joined[word] = kept.of(left)[word] | kept.of(right)[word];
            }
            const double all = before + net.size_of(joined.data());
            const double made = elements[left] + elements[right] + size;
            if (all < best || (all == best && made < elements[subset])) {
                operations[subset] = best = all;
                elements[subset] = made;
                split[subset] = left;
            }
        }
    }
    std::vector<tensor_pair> found;
    const auto number_of = [&](const auto& again, std::size_t subset) -> std::size_t {
        if (std::has_single_bit(subset)) {
            return std::size_t(std::countr_zero(subset));
        }
        const std::size_t left = again(again, split[subset]);
        const std::size_t right = again(again, subset ^ split[subset]);
        found.push_back({left, right});
        return net.operands + found.size() - 1;
    };
    if (split.back() == 0) {
        return found;
    }
    number_of(number_of, subsets - 1);
    return in_order(std::move(found));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
