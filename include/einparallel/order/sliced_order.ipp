#pragma once
// Orders within a limit on memory.

#include <einparallel/order/contraction_order.hpp>

#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A product with an order of contractions, and what that costs with these extents.
struct ordered_product {
    const std::vector<std::vector<label_id>>* operands;
    std::vector<index> extents;  ///< by label
    std::vector<pairwise_contraction> steps;
    double operations = 0;               ///< multiply-adds
    double peak = 0;                     ///< most elements of results on the way that are held at a time
    std::vector<std::size_t> at_peak{};  ///< their steps
};

EINPARALLEL_INLINE double elements_of(const ordered_product& made, std::size_t step) {
    double elements = 1;
    for (const label_id label : made.steps[step].labels) {
        elements *= double(made.extents[std::size_t(label)]);
    }
    return elements;
}

/// Learns what the steps cost.
EINPARALLEL_INLINE void count_cost(ordered_product& made) {
    const std::size_t inputs = made.operands->size();
    made.operations = made.peak = 0;
    std::vector<std::size_t> held;
    std::vector<std::size_t> seen(made.extents.size(), 0);  // by label: one more than the last step that has it
    double elements = 0;
    for (std::size_t step = 0; step < made.steps.size(); ++step) {
        const std::size_t pair[] = {made.steps[step].left, made.steps[step].right};
        double points = 1;
        for (const std::size_t read : pair) {
            for (const label_id label : read < inputs ? (*made.operands)[read] : made.steps[read - inputs].labels) {
                if (label != no_label && std::exchange(seen[std::size_t(label)], step + 1) != step + 1) {
                    points *= double(made.extents[std::size_t(label)]);
                }
            }
        }
        made.operations += points;
        if (step + 1 < made.steps.size()) {
            held.push_back(step);
            elements += elements_of(made, step);
        }
        if (elements > made.peak) {
            made.peak = elements;
            made.at_peak = held;
        }
        for (const std::size_t read : pair) {
            elements -= read < inputs ? 0 : elements_of(made, read - inputs);
            std::erase(held, read - inputs);
        }
    }
}

/// The same tree, depth first: of two parts that first which holds more while it is made than afterwards.
EINPARALLEL_INLINE void sort_steps(ordered_product& made) {
    const std::size_t inputs = made.operands->size();
    const std::vector<pairwise_contraction> steps = std::move(made.steps);
    made.steps = steps;
    std::vector<double> size(inputs + steps.size(), 0);  // of results on the way
    std::vector<double> most(inputs + steps.size(), 0);  // held at a time for them
    const auto in_turn = [&](const pairwise_contraction& step) {
        const bool swaps = most[step.left] - size[step.left] < most[step.right] - size[step.right];
        return swaps ? std::pair(step.right, step.left) : std::pair(step.left, step.right);
    };
    for (std::size_t step = 0; step < steps.size(); ++step) {
        const auto [first, second] = in_turn(steps[step]);
        size[inputs + step] = elements_of(made, step);
        most[inputs + step] =
            std::max({most[first], size[first] + most[second], size[first] + size[second] + size[inputs + step]});
    }
    made.steps.clear();
    std::vector<std::size_t> number(inputs + steps.size());
    std::iota(number.begin(), number.end(), std::size_t{0});
    const auto make = [&](const auto& again, std::size_t tensor) -> void {
        if (tensor >= inputs) {
            const pairwise_contraction& step = steps[tensor - inputs];
            const auto [first, second] = in_turn(step);
            again(again, first);
            again(again, second);
            number[tensor] = inputs + made.steps.size();
            made.steps.push_back({number[step.left], number[step.right], step.labels});
        }
    };
    if (!steps.empty()) {
        make(make, number.back());
    }
    count_cost(made);
}

EINPARALLEL_INLINE sliced_order order_within(std::vector<index> extents, std::span<const label_id> out,
                                             const std::vector<std::vector<label_id>>& operands,
                                             std::size_t element_bytes, std::size_t most_bytes) {
    constexpr double effort = 1e-3;  // a step of the annealing takes as long as a thousand multiply-adds
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ordered_product net{&operands, std::move(extents), {}};
    const auto find = [&](ordered_product& each) {
        each.steps = order_of_operands(each.extents, out, operands, effort);
        sort_steps(each);
    };
    find(net);
    std::vector<label_id> fixed;
    const auto fits = [&](const ordered_product& each) {
        return most_bytes == 0 || each.peak * double(element_bytes) <= double(most_bytes);
    };
    while (!fits(net)) {
        ordered_product best = net;
        double fewest = infinity;  // of all parts, as multiples of this network's
        for (const std::size_t step : net.at_peak) {
            for (const label_id label : net.steps[step].labels) {
                ordered_product with = net;
                const auto extent = double(std::exchange(with.extents[std::size_t(label)], 1));
                count_cost(with);
                if (extent > 1 && std::pair(with.operations * extent, with.peak) < std::pair(fewest, best.peak)) {
                    fewest = with.operations * extent;
                    best = std::move(with);
                }
            }
        }
        if (fewest == infinity) {
            throw error("ep::network: results on the way need " +
                        std::to_string(std::size_t(net.peak) * element_bytes) +
                        " bytes with all labels fixed, the memory limit is " + std::to_string(most_bytes) + " bytes");
        }
        for (std::size_t label = 0; label < net.extents.size(); ++label) {
            if (best.extents[label] != net.extents[label]) {
                fixed.push_back(label_id(label));
            }
        }
        sort_steps(best);
        net = std::move(best);
    }
    if (!fixed.empty()) {
        ordered_product other = net;
        find(other);
        if (fits(other) && other.operations < net.operations) {
            net = std::move(other);
        }
    }
    return {std::move(net.steps), std::move(fixed)};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
