#pragma once

#include <einparallel/order/contraction_order.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <limits>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

struct product_cost {
    double operations = 0;      ///< multiply-adds
    double peak = 0;            ///< elements that results on the way hold at a time
    std::size_t at_result = 0;  ///< which is made then
};

/// @param labels  of the operands, then of every result
EINPARALLEL_INLINE product_cost cost_of(const std::vector<pairwise_contraction>& steps,
                                        const std::vector<std::vector<label_id>>& labels,
                                        const std::vector<index>& extents) {
    product_cost cost;
    const auto size_of = [&](const std::vector<label_id>& tensor, const std::vector<label_id>& other) {
        double size = 1;
        for (const std::vector<label_id>* const each : {&tensor, &other}) {
            for (const label_id label : *each) {
                const bool counts = label != no_label && (each == &tensor || !found_in(label, tensor));
                size *= counts ? double(extents[std::size_t(label)]) : 1;
            }
        }
        return size;
    };
    const std::size_t operands = labels.size() - steps.size();
    double held = 0;
    for (std::size_t result = operands; result < labels.size(); ++result) {
        const auto& [left, right, made] = steps[result - operands];
        cost.operations += size_of(labels[left], labels[right]);
        held += size_of(made, {});
        if (result + 1 < labels.size() && held > cost.peak) {
            cost.peak = held;
            cost.at_result = result;
        }
        for (const std::size_t read : {left, right}) {
            held -= read < operands ? 0 : size_of(labels[read], {});
        }
    }
    return cost;
}

EINPARALLEL_INLINE sliced_order order_within(std::vector<index> extents, label_span out,
                                             const std::vector<std::vector<label_id>>& operands,
                                             std::size_t element_bytes, std::size_t most_bytes) {
    sliced_order found;
    std::vector<std::vector<label_id>> labels;
    product_cost cost{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    // With fewer labels another order may be better.
    const auto search = [&] {
        std::vector<pairwise_contraction> steps = order_of_operands(extents, out, operands, true);
        std::vector<std::vector<label_id>> known = operands;
        for_each_in(steps, [&](const pairwise_contraction& step) { known.push_back(step.labels); });
        const product_cost other = cost_of(steps, known, extents);
        if (other.operations * other.peak <= cost.operations * cost.peak) {
            cost = other;
            labels = std::move(known);
            found.steps = std::move(steps);
        }
    };
    for (search(); most_bytes > 0 && cost.peak * double(element_bytes) > double(most_bytes); search()) {
        product_cost best{std::numeric_limits<double>::infinity()};
        label_id fixed = no_label;
        for (const label_id label : labels[cost.at_result]) {
            const index extent = std::exchange(extents[std::size_t(label)], 1);
            const product_cost with = cost_of(found.steps, labels, extents);
            if (extent > 1 && with.operations * double(extent) < best.operations) {
                best = with;
                best.operations *= double(extent);
                fixed = label;
            }
            extents[std::size_t(label)] = extent;
        }
        expect(fixed != no_label, "ep::network: with all labels fixed, results on the way need " +
                                      std::to_string(std::size_t(cost.peak) * element_bytes) +
                                      " bytes at a time; the memory limit is " + std::to_string(most_bytes));
        found.fixed.push_back(fixed);
        extents[std::size_t(fixed)] = 1;
        cost = cost_of(found.steps, labels, extents);
    }
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
