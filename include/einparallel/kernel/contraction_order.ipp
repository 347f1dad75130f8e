#pragma once

#include <einparallel/kernel/contraction_order.hpp>

#include <einparallel/kernel/annealed_order.ipp>
#include <einparallel/kernel/exact_order.hpp>
#include <einparallel/kernel/greedy_order.ipp>
#include <einparallel/kernel/product_network.ipp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count) {
    label_sets given(label_count, operands.size() + 1);
    for (std::size_t tensor = 0; tensor <= operands.size(); ++tensor) {
        for (const label_id label : tensor < operands.size() ? operands[tensor] : output) {
            if (label != no_label) {
                given.insert(tensor, static_cast<std::size_t>(label));
            }
        }
    }
    const label_sets sets = labels_on_the_way(given, label_count, steps);
    std::vector<std::vector<label_id>> labels = operands;
    std::vector<pairwise_contraction> labelled;
    for (const tensor_pair& step : steps) {
        std::vector<label_id> joined;
        for (const std::size_t part : {step.left, step.right}) {
            for (const label_id label : labels[part]) {
                if (label != no_label && sets.contains(labels.size(), static_cast<std::size_t>(label)) &&
                    std::ranges::find(joined, label) == joined.end()) {
                    joined.push_back(label);
                }
            }
        }
        labelled.push_back({step.left, step.right, joined});
        labels.push_back(std::move(joined));
    }
    labelled.back().labels = output;
    return labelled;
}

EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    std::span<const index> extents, std::span<const label_id> out,
    const std::vector<std::span<const label_id>>& operands) {
    const auto is_like_output = [&](std::span<const label_id> labels) {
        return labels.size() == out.size() && std::is_permutation(out.begin(), out.end(), labels.begin());
    };
    if (std::ranges::all_of(operands, is_like_output)) {
        return {};
    }
    std::vector<std::vector<label_id>> present;
    for (const std::span<const label_id> labels : operands) {
        present.emplace_back(labels.begin(), labels.end());
        std::erase(present.back(), no_label);
    }
    return contraction_order(present, {out.begin(), out.end()}, {extents.begin(), extents.end()});
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::vector<pairwise_contraction> contraction_order(
    const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
    const std::vector<index>& extents) {
    if (operands.size() < 2) {
        return {};
    }
    std::vector<detail::tensor_pair> steps{{0, 1}};
    if (operands.size() > 2) {
        const detail::product_network net = detail::make_network(operands, output, extents);
        const detail::found_order greedy = detail::greedy_order(net, 1);
        steps = operands.size() <= exact_order_limit
                    ? detail::exact_order(net, detail::multiply_adds{}).steps(greedy.operations)
                    : detail::annealed_order(net).steps;
        if (steps.empty()) {  // beyond 2^53 sums are rounded, and nothing may come out as cheap
            steps = greedy.steps;
        }
    }
    return detail::with_labels(steps, operands, output, extents.size());
}

}  // namespace einparallel
