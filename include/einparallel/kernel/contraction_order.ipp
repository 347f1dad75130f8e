#pragma once

#include <einparallel/kernel/contraction_order.hpp>

#include <einparallel/kernel/exact_order.hpp>
#include <einparallel/kernel/greedy_order.hpp>
#include <einparallel/kernel/product_network.hpp>
#include <einparallel/kernel/refine_order.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// The cheapest order of a small network.
EINPARALLEL_INLINE std::vector<tensor_pair> exact_steps(const product_network& net) {
    greedy_order greedy(net);
    greedy.run({}, std::numeric_limits<double>::infinity());
    std::vector<const std::uint64_t*> operands;
    for (std::size_t operand = 0; operand < net.operands; ++operand) {
        operands.push_back(net.labels.of(operand));
    }
    exact_order search(net);
    // Beyond 2^53 operations sums are rounded, and the greedy order may come out as if nothing were as cheap.
    return search.solve(operands, net.output(), greedy.cost().operations) ? search.steps() : greedy.steps();
}

/// The best of many greedy orders, with its parts put into their own best order. Never worse than the plain greedy one.
/// No more pairs are weighed than the product takes operations: searching must not take longer than contracting.
EINPARALLEL_INLINE std::vector<tensor_pair> approximate_steps(const product_network& net) {
    greedy_order greedy(net);
    greedy.run({}, std::numeric_limits<double>::infinity());
    std::vector<tensor_pair> steps = greedy.steps();
    order_cost best = greedy.cost();
    constexpr double weights[] = {1, 0.5, 0, 2};
    constexpr unsigned noises[] = {4, 16, 48};
    for (std::size_t run = 0; run < greedy_runs_limit && greedy.proposals() < greedy_proposals_limit &&
                              static_cast<double>(greedy.proposals()) < best.operations;
         ++run) {
        const greedy_taste taste{weights[run % 4], run < 4 ? 0 : noises[run / 4 % 3], run};
        if (greedy.run(taste, best.operations) && greedy.cost() < best) {
            best = greedy.cost();
            steps = greedy.steps();
        }
    }
    return order_refinement(net, steps).refine(best.operations);
}

EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count) {
    std::vector<std::size_t> users(label_count, 0);
    std::vector<std::vector<label_id>> labels(operands.size());
    const auto count_in = [&](const std::vector<label_id>& list) {
        for (const label_id label : list) {
            ++users[static_cast<std::size_t>(label)];
        }
    };
    const auto without_repeats = [](std::vector<label_id>& into, const std::vector<label_id>& list) {
        for (const label_id label : list) {
            if (label != no_label && std::find(into.begin(), into.end(), label) == into.end()) {
                into.push_back(label);
            }
        }
    };
    std::vector<label_id> written;
    without_repeats(written, output);
    count_in(written);
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        without_repeats(labels[operand], operands[operand]);
        count_in(labels[operand]);
    }
    std::vector<pairwise_contraction> labelled;
    for (const tensor_pair& step : steps) {
        std::vector<label_id> joined = labels[step.left];
        without_repeats(joined, labels[step.right]);
        for (const std::size_t gone : {step.left, step.right}) {
            for (const label_id label : labels[gone]) {
                --users[static_cast<std::size_t>(label)];
            }
        }
        std::erase_if(joined, [&](label_id label) { return users[static_cast<std::size_t>(label)] == 0; });
        count_in(joined);
        labelled.push_back({step.left, step.right, joined});
        labels.push_back(std::move(joined));
    }
    labelled.back().labels = output;
    return labelled;
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
        steps = operands.size() <= exact_order_limit ? detail::exact_steps(net) : detail::approximate_steps(net);
    }
    return detail::with_labels(steps, operands, output, extents.size());
}

}  // namespace einparallel
