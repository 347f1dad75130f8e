#pragma once

#include <einparallel/order/contraction_order.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

struct product_cost {
    double operations = 0;      ///< multiply-adds
    double peak = 0;            ///< the most elements that intermediate results hold at a time
    std::size_t at_result = 0;  ///< the result that is made at this time
};

/// The cost of an order. @param labels  of the operands, then of every result
EINPARALLEL_INLINE product_cost cost_of(const sliced_order& order, const std::vector<std::vector<label_id>>& labels,
                                        const std::vector<index>& extents) {
    product_cost cost;
    const auto size_of = [&](const std::vector<label_id>& tensor, const std::vector<label_id>& other) {
        double size = 1;
        for (const std::vector<label_id>* const each : {&tensor, &other}) {
            for (const label_id label : *each) {
                const bool counts = label != no_label && (each == &tensor || !found_in(label, tensor));
                size *= counts && !found_in(label, order.fixed) ? double(extents[std::size_t(label)]) : 1;
            }
        }
        return size;
    };
    double slices = 1;
    for_each_in(order.fixed, [&](label_id label) { slices *= double(extents[std::size_t(label)]); });
    const std::size_t operands = labels.size() - order.steps.size();
    // Kept results exist from the second slice on, before anything else is made.
    std::vector<bool> kept(labels.size());
    double held = 0;
    for (std::size_t tensor = operands; tensor < labels.size() && !order.varies.empty(); ++tensor) {
        for (const std::size_t read : {order.steps[tensor - operands].left, order.steps[tensor - operands].right}) {
            kept[read] = read >= operands && order.varies[read] != order.varies[tensor];
            held += kept[read] ? size_of(labels[read], {}) : 0;
        }
    }
    for (std::size_t result = operands; result < labels.size(); ++result) {
        const auto& [left, right, made] = order.steps[result - operands];
        cost.operations += size_of(labels[left], labels[right]) * slices;
        held += kept[result] ? 0 : size_of(made, {});
        if (result + 1 < labels.size() && held > cost.peak) {
            cost.peak = held;
            cost.at_result = result;
        }
        for (const std::size_t read : {left, right}) {
            held -= read < operands || kept[read] ? 0 : size_of(labels[read], {});
        }
    }
    return cost;
}

EINPARALLEL_INLINE sliced_order order_within(const std::vector<index>& extents, label_span out,
                                             const std::vector<std::vector<label_id>>& operands,
                                             std::size_t element_bytes, std::size_t most_bytes) {
    sliced_order found;
    std::vector<std::vector<label_id>> labels;
    std::vector<index> left = extents;  // 1 where a label is fixed
    product_cost cost{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    // With fewer labels another order may be better. The more slices there are, the more search is worth it.
    const auto search = [&] {
        double slices = most_bytes > 0 ? 4 : 1;
        for_each_in(found.fixed, [&](label_id label) { slices *= double(extents[std::size_t(label)]); });
        sliced_order other{order_of_operands(left, out, operands, std::sqrt(slices)), found.fixed, {}};
        std::vector<std::vector<label_id>> known = operands;
        for_each_in(other.steps, [&](const pairwise_contraction& step) { known.push_back(step.labels); });
        const product_cost with = cost_of(other, known, extents);
        if (with.operations * with.peak <= cost.operations * cost.peak) {
            cost = with;
            labels = std::move(known);
            found = std::move(other);
        }
    };
    for (search(); most_bytes > 0 && cost.peak * double(element_bytes) > double(most_bytes); search()) {
        product_cost best{std::numeric_limits<double>::infinity()};
        label_id fixed = no_label;
        for (const label_id label : labels[cost.at_result]) {
            if (left[std::size_t(label)] > 1) {
                found.fixed.push_back(label);
                const product_cost with = cost_of(found, labels, extents);
                fixed = with.operations < best.operations ? label : fixed;
                best = fixed == label ? with : best;
                found.fixed.pop_back();
            }
        }
        expect(fixed != no_label, "ep::network: even with all labels fixed, intermediate results need " +
                                      std::to_string(std::size_t(cost.peak) * element_bytes) +
                                      " bytes at a time; the memory limit is " + std::to_string(most_bytes));
        found.fixed.push_back(fixed);
        left[std::size_t(fixed)] = 1;
        cost = best;
    }
    if (found.fixed.empty()) {
        return found;
    }
    sliced_order keeping = found;
    for (const std::vector<label_id>& own : operands) {
        keeping.varies.push_back(any_in(own, [&](label_id label) { return found_in(label, found.fixed); }));
    }
    for (const pairwise_contraction& step : found.steps) {
        keeping.varies.push_back(keeping.varies[step.left] || keeping.varies[step.right]);
    }
    return cost_of(keeping, labels, extents).peak * double(element_bytes) > double(most_bytes) ? found : keeping;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
