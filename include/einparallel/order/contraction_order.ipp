#pragma once

#include <einparallel/order/contraction_order.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/order/exact_order.hpp>
#include <einparallel/order/product_network.ipp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE found_order greedy_order(const product_network& net, double weight) {
    struct candidate {
        double score;  // smallest first
        std::size_t left;
        std::size_t right;
        bool operator<(const candidate& other) const {
            return std::tie(score, left, right) > std::tie(other.score, other.left, other.right);
        }
    };
    shrinking_network state(net);
    std::vector<double> size(state.alive.size());
    std::vector<std::size_t> seen(state.alive.size(), static_cast<std::size_t>(-1));
    std::priority_queue<candidate> queue;
    const auto propose_neighbours = [&](std::size_t tensor, bool only_earlier) {
        size[tensor] = net.size_of(state.labels.of(tensor), state.labels.words());
        state.labels.each(tensor, [&](std::size_t label) {
            std::vector<std::size_t>& others = state.having[label];
            std::erase_if(others, [&](std::size_t other) { return !state.alive[other]; });
            for (const std::size_t other : others) {
                if (other != tensor && seen[other] != tensor && (!only_earlier || other < tensor)) {
                    seen[other] = tensor;
                    state.join(other, tensor);
                    const double made = net.size_of(state.result.data(), state.result.size());
                    queue.push({made - weight * (size[other] + size[tensor]), other, tensor});
                }
            }
        });
    };
    for (std::size_t operand = 0; operand < net.operands; ++operand) {
        propose_neighbours(operand, true);
    }
    while (!queue.empty()) {
        const candidate next = queue.top();
        queue.pop();
        if (state.alive[next.left] && state.alive[next.right]) {
            propose_neighbours(state.contract(next.left, next.right), false);
        }
    }
    using sized = std::pair<double, std::size_t>;
    std::priority_queue<sized, std::vector<sized>, std::greater<>> apart;
    for (std::size_t tensor = 0; tensor < state.alive.size(); ++tensor) {
        if (state.alive[tensor]) {
            apart.emplace(size[tensor], tensor);
        }
    }
    while (apart.size() > 1) {
        const std::size_t left = apart.top().second;
        apart.pop();
        const std::size_t right = apart.top().second;
        apart.pop();
        const std::size_t made = state.contract(std::min(left, right), std::max(left, right));
        apart.emplace(net.size_of(state.labels.of(made), state.labels.words()), made);
    }
    return std::move(state.found);
}

// Simulated annealing of a tree of contractions, as TreeSA does (Kalachev, Panteleev, Yung 2021).

/// A tree whose contractions are turned one at a time: where the product of a and b meets c, a meets c first.
EINPARALLEL_INLINE class annealed_tree {
public:
    annealed_tree(const product_network& net, const std::vector<tensor_pair>& steps, std::uint64_t seed)
        : net_(net),
          seed_(seed),
          steps_(steps),
          labels_(labels_on_the_way(net.labels, net.extents.size(), steps)),
          inner_(labels_.words()),
          inner_joined_(labels_.words()),
          outer_joined_(labels_.words()) {
        for (const auto& [left, right] : steps) {
            for (std::size_t word = 0; word < labels_.words(); ++word) {
                inner_joined_[word] = labels_.of(left)[word] | labels_.of(right)[word];
            }
            operations_.push_back(net.size_of(inner_joined_.data(), labels_.words()));
        }
    }

    /// Tries a turn at every contraction. What makes the two operations of a turn dearer by a share x of themselves is
    /// taken with probability 2^(−x / temperature), nearly; without temperature, never.
    void sweep(double temperature) {
        const std::size_t operands = net_.operands;
        for (std::size_t outer = 0; outer < steps_.size(); ++outer) {
            const std::uint64_t random = next_random(seed_);
            auto [made, c] = steps_[outer];
            if (made < operands || (c >= operands && (random & 1U) != 0)) {
                std::swap(made, c);
            }
            if (made < operands) {
                continue;
            }
            const std::size_t inner = made - operands;
            auto [a, b] = steps_[inner];
            if ((random & 2U) != 0) {
                std::swap(a, b);
            }
            for (std::size_t word = 0; word < labels_.words(); ++word) {
                inner_joined_[word] = labels_.of(a)[word] | labels_.of(c)[word];
                inner_[word] = inner_joined_[word] & (labels_.of(b)[word] | labels_.of(operands + outer)[word]);
                outer_joined_[word] = inner_[word] | labels_.of(b)[word];
            }
            // An exponentially distributed number with eight binary places.
            const double luck = std::countl_zero(random | 1U) + static_cast<double>((random >> 2U) & 255U) / 256;
            const double before = operations_[inner] + operations_[outer];
            const double more = before * (temperature * luck);
            const double first = net_.size_of(inner_joined_.data(), labels_.words());
            if (first - before > more) {
                continue;
            }
            const double second = net_.size_of(outer_joined_.data(), labels_.words());
            if (first + second - before > more) {
                continue;
            }
            steps_[inner] = {a, c};
            steps_[outer] = {made, b};
            operations_[inner] = first;
            operations_[outer] = second;
            std::copy(inner_.begin(), inner_.end(), labels_.of(made));
        }
    }

    [[nodiscard]] found_order found() const {
        return {in_order(steps_), std::accumulate(operations_.begin(), operations_.end(), 0.0)};
    }

private:
    const product_network& net_;
    std::uint64_t seed_;
    std::vector<tensor_pair> steps_;  // in any sequence, the root last
    label_sets labels_;               // of the operands, then of the steps' results
    std::vector<double> operations_;  // by step
    std::vector<std::uint64_t> inner_, inner_joined_, outer_joined_;
};

EINPARALLEL_INLINE found_order annealed_order(const product_network& net) {
    constexpr double temperatures[] = {0.125, 1, 4};  // each run begins with the best order so far
    constexpr double most_turns = 4.5e6;
    constexpr double most_sweeps = 1500;  // of a run: the same turns in more runs find better orders
    found_order best = greedy_order(net, 1);
    const auto consider = [&](found_order other) {
        if (other.operations < best.operations) {
            best = std::move(other);
        }
    };
    for (const double weight : {0.5, 0.0, 2.0}) {
        consider(greedy_order(net, weight));
    }
    const double turns = std::min(best.operations, most_turns);
    const double sweeps = std::floor(std::min(turns / 3 / static_cast<double>(net.operands), most_sweeps));
    const auto runs =
        sweeps < 1 ? 0 : std::max<std::size_t>(3, static_cast<std::size_t>(turns / sweeps) / net.operands);
    for (std::size_t run = 0; run < runs; ++run) {
        annealed_tree tree(net, best.steps, run);
        for (double sweep = 1; sweep <= sweeps; ++sweep) {
            const double left = 1 - sweep / sweeps;
            tree.sweep(temperatures[run % 3] * (left * left) * (left * left));
        }
        consider(tree.found());
    }
    return best;
}

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
                    !found_in(label, joined)) {
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
    if (all_in(operands, is_like_output)) {
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
