#pragma once
// In which order to contract a product of many tensors pair by pair: pure arithmetic on labels and extents.

#include <einparallel/kernel/exact_order.hpp>
#include <einparallel/kernel/greedy_order.hpp>
#include <einparallel/kernel/product_network.hpp>
#include <einparallel/kernel/refine_order.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel {

/// One contraction of two tensors. Tensors are numbered in the order in which they come to be: the r operands are
/// 0 … r − 1, the result of step s is r + s. Every number is used once, but that of the last result.
struct pairwise_contraction {
    std::size_t left = 0;
    std::size_t right = 0;
    std::vector<label_id> labels;  ///< of the result: those that the output or a tensor not yet contracted still needs

    friend bool operator==(const pairwise_contraction&, const pairwise_contraction&) = default;
};

/// Up to this many operands the order is the cheapest one; beyond, the best of many greedy ones, refined.
inline constexpr std::size_t exact_order_limit = 12;

}  // namespace einparallel

namespace einparallel::detail {

/// Bounds of the search beyond the exact one: greedy runs, and pairs weighed in all of them.
inline constexpr std::size_t greedy_runs_limit = 64;
inline constexpr std::size_t greedy_proposals_limit = 200'000;

/// The cheapest order of a small network.
template <class Lazy = void>
std::vector<tensor_pair> exact_steps(const product_network& net) {
    greedy_order<Lazy> greedy(net);
    greedy.run({}, std::numeric_limits<double>::infinity());
    std::vector<const std::uint64_t*> operands;
    for (std::size_t operand = 0; operand < net.operands; ++operand) {
        operands.push_back(net.labels.of(operand));
    }
    exact_order<Lazy> search(net);
    // Beyond 2^53 operations sums are rounded, and the greedy order may come out as if nothing were as cheap.
    return search.solve(operands, net.output(), greedy.cost().operations) ? search.steps() : greedy.steps();
}

/// The best of many greedy orders, with its parts put into their own best order. Never worse than the plain greedy one.
/// No more pairs are weighed than the product takes operations: searching must not take longer than contracting.
template <class Lazy = void>
std::vector<tensor_pair> approximate_steps(const product_network& net) {
    greedy_order<Lazy> greedy(net);
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
    return order_refinement<Lazy>(net, steps).refine(best.operations);
}

/// Labels of every result: those of the left tensor, then the right one's own, without what nobody needs any more.
template <class Lazy = void>
std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                              const std::vector<std::vector<label_id>>& operands,
                                              const std::vector<label_id>& output, std::size_t label_count) {
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

}  // namespace einparallel::detail

namespace einparallel {

/// The order in which to contract Σ of the product of all operands pair by pair; empty for fewer than two operands,
/// otherwise one step less than there are operands. The last step's labels are the output's, in the output's order.
/// Up to exact_order_limit operands: the fewest multiply-adds (∏ of the extents of all labels of a pair, once labels of
/// a single tensor are summed), then the fewest elements of intermediates; outer products are considered. Beyond: the
/// best of up to 64 greedy orders, each part of eight tensors put into its cheapest order. Deterministic: the same on
/// every rank, with every compiler. Templates on nothing: who never contracts more than two operands does not wait for
/// their compilation.
/// @param extents by label id
template <class Lazy = void>
std::vector<pairwise_contraction> contraction_order(const std::vector<std::vector<label_id>>& operands,
                                                    const std::vector<label_id>& output,
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
