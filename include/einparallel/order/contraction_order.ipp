#pragma once

#include <einparallel/order/contraction_order.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
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
    const std::size_t tensors = 2 * net.operands - 1;
    const std::size_t words = net.labels.words();
    label_sets labels(64 * words, tensors + 1);  // of the operands, the results, and the last join's result
    std::vector<std::vector<std::size_t>> having(net.extents.size());  // by label: tensors that have it or had it
    std::vector<std::size_t> users(net.extents.size(), 0);  // by label: tensors not yet contracted, and the output
    std::vector<bool> alive(tensors, false);                // there, and not yet contracted
    std::vector<double> size(tensors);
    std::vector<std::size_t> seen(tensors, tensors);
    std::vector<std::uint64_t> joined(words);
    std::priority_queue<candidate> queue;
    found_order found;

    // Sets `joined` to the labels of two tensors, and the last set to those of their product: without labels that both
    // have and nothing else needs.
    const auto join = [&](std::size_t left, std::size_t right) {
        for (std::size_t word = 0; word < words; ++word) {
            joined[word] = labels.of(left)[word] | labels.of(right)[word];
            labels.of(tensors)[word] = joined[word];
            for (std::uint64_t rest = labels.of(left)[word] & labels.of(right)[word]; rest != 0; rest &= rest - 1) {
                if (users[word * 64 + std::size_t(std::countr_zero(rest))] == 2) {
                    labels.of(tensors)[word] ^= rest & (~rest + 1);
                }
            }
        }
    };
    const auto enter = [&](std::size_t tensor, const std::uint64_t* has) {
        std::copy(has, has + words, labels.of(tensor));
        labels.each(tensor, [&](std::size_t label) {
            ++users[label];
            having[label].push_back(tensor);
        });
        alive[tensor] = true;
        size[tensor] = net.size_of(has);
    };
    const auto propose_neighbours = [&](std::size_t tensor) {
        labels.each(tensor, [&](std::size_t label) {
            std::erase_if(having[label], [&](std::size_t other) { return !alive[other]; });
            for (const std::size_t other : having[label]) {
                if (other < tensor && seen[other] != tensor) {
                    seen[other] = tensor;
                    join(other, tensor);
                    const double made = net.size_of(labels.of(tensors));
                    queue.push({made - weight * (size[other] + size[tensor]), other, tensor});
                }
            }
        });
    };
    const auto contract = [&](std::size_t left, std::size_t right) {
        const std::size_t made = net.operands + found.steps.size();
        join(left, right);
        found.operations += net.size_of(joined.data());
        found.steps.push_back({left, right});
        for (const std::size_t gone : {left, right}) {
            alive[gone] = false;
            labels.each(gone, [&](std::size_t label) { --users[label]; });
        }
        enter(made, labels.of(tensors));
        return made;
    };

    net.labels.each(net.operands, [&](std::size_t label) { ++users[label]; });
    for (std::size_t operand = 0; operand < net.operands; ++operand) {
        enter(operand, net.labels.of(operand));
    }
    for (std::size_t operand = 0; operand < net.operands; ++operand) {
        propose_neighbours(operand);
    }
    while (!queue.empty()) {
        const candidate next = queue.top();
        queue.pop();
        if (alive[next.left] && alive[next.right]) {
            propose_neighbours(contract(next.left, next.right));
        }
    }
    std::vector<std::pair<double, std::size_t>> apart;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        if (alive[tensor]) {
            apart.emplace_back(size[tensor], tensor);
        }
    }
    while (apart.size() > 1) {
        sort_range(apart);
        const auto [left, right] = std::minmax(apart[0].second, apart[1].second);
        const std::size_t made = contract(left, right);
        apart.erase(apart.begin(), apart.begin() + 2);
        apart.emplace_back(size[made], made);
    }
    return found;
}

/// The sets of labels of all tensors of an order: the operands, then the result of every step.
EINPARALLEL_INLINE label_sets labels_on_the_way(const product_network& net, const std::vector<tensor_pair>& steps) {
    std::vector<std::vector<label_id>> labels(net.operands + 1);
    for (std::size_t tensor = 0; tensor <= net.operands; ++tensor) {
        net.labels.each(tensor, [&](std::size_t label) { labels[tensor].push_back(label_id(label)); });
    }
    const std::vector<label_id> output = std::move(labels.back());
    labels.pop_back();
    for (pairwise_contraction& step : with_labels(steps, labels, output, net.extents.size())) {
        labels.push_back(std::move(step.labels));
    }
    label_sets sets(64 * net.labels.words(), labels.size());
    for (std::size_t tensor = 0; tensor < labels.size(); ++tensor) {
        for (const label_id label : labels[tensor]) {
            sets.insert(tensor, std::size_t(label));
        }
    }
    return sets;
}

/// Simulated annealing of a tree of contractions, as in TreeSA (Kalachev, Panteleev, Yung 2021). Each sweep tries a
/// turn at every contraction of c with the product of a and b: a is contracted with c first. A turn that makes its two
/// contractions dearer by a share x of their cost is taken with a probability of about 2^(-x / temperature).
EINPARALLEL_INLINE found_order annealed(const product_network& net, std::vector<tensor_pair> steps, std::uint64_t seed,
                                        double sweeps, double first_temperature) {
    const std::size_t operands = net.operands;
    const std::size_t words = net.labels.words();
    label_sets labels = labels_on_the_way(net, steps);
    std::vector<std::uint64_t> inner(words), inner_joined(words), outer_joined(words);
    std::vector<double> operations;  // by step
    for (const auto& [left, right] : steps) {
        for (std::size_t word = 0; word < words; ++word) {
            inner_joined[word] = labels.of(left)[word] | labels.of(right)[word];
        }
        operations.push_back(net.size_of(inner_joined.data()));
    }
    for (double sweep = 1; sweep <= sweeps; ++sweep) {
        const double left = 1 - sweep / sweeps;
        const double temperature = first_temperature * (left * left) * (left * left);
        for (std::size_t outer = 0; outer < steps.size(); ++outer) {
            const std::uint64_t random = next_random(seed);
            auto [made, c] = steps[outer];
            if (made < operands || (c >= operands && (random & 1U) != 0)) {
                std::swap(made, c);
            }
            if (made < operands) {
                continue;
            }
            const std::size_t turned = made - operands;
            auto [a, b] = steps[turned];
            if ((random & 2U) != 0) {
                std::swap(a, b);
            }
            for (std::size_t word = 0; word < words; ++word) {
                inner_joined[word] = labels.of(a)[word] | labels.of(c)[word];
                inner[word] = inner_joined[word] & (labels.of(b)[word] | labels.of(operands + outer)[word]);
                outer_joined[word] = inner[word] | labels.of(b)[word];
            }
            // An exponentially distributed number with eight binary digits.
            const double luck = std::countl_zero(random | 1U) + double((random >> 2U) & 255U) / 256;
            const double before = operations[turned] + operations[outer];
            const double more = before * (temperature * luck);
            const double first = net.size_of(inner_joined.data());
            if (first - before > more) {
                continue;
            }
            const double second = net.size_of(outer_joined.data());
            if (first + second - before > more) {
                continue;
            }
            steps[turned] = {a, c};
            steps[outer] = {made, b};
            operations[turned] = first;
            operations[outer] = second;
            std::copy(inner.begin(), inner.end(), labels.of(made));
        }
    }
    return {in_order(std::move(steps)), std::accumulate(operations.begin(), operations.end(), 0.0)};
}

EINPARALLEL_INLINE found_order annealed_order(const product_network& net, double effort) {
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
    const double turns = std::min(best.operations * effort, most_turns);
    const double sweeps = std::floor(std::min(turns / 3 / double(net.operands), most_sweeps));
    const auto runs = sweeps < 1 ? 0 : std::max<std::size_t>(3, std::size_t(turns / sweeps) / net.operands);
    for (std::size_t run = 0; run < runs; ++run) {
        consider(annealed(net, best.steps, run, sweeps, temperatures[run % 3]));
    }
    return best;
}

EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count) {
    std::vector<std::size_t> users(label_count, 0);  // tensors not yet contracted that have a label, and the output
    std::vector<std::vector<label_id>> labels;       // of each tensor, once
    const auto enter = [&](const std::vector<label_id>& all) {
        std::vector<label_id>& own = labels.emplace_back();
        for (const label_id label : all) {
            if (label != no_label && !found_in(label, own)) {
                ++users[std::size_t(label)];
                own.push_back(label);
            }
        }
    };
    enter(output);
    labels.clear();
    for_each_in(operands, enter);
    std::vector<pairwise_contraction> labelled;
    for (const auto& [left, right] : steps) {
        const bool is_right_longer = labels[right].size() > labels[left].size();
        const std::vector<label_id>& longer = labels[is_right_longer ? right : left];
        const std::vector<label_id>& shorter = labels[is_right_longer ? left : right];
        for (const std::vector<label_id>* const own : {&longer, &shorter}) {
            for (const label_id label : *own) {
                --users[std::size_t(label)];
            }
        }
        const auto is_kept = [&](label_id label) { return users[std::size_t(label)] > 0; };
        std::vector<label_id> joined;
        std::copy_if(longer.begin(), longer.end(), std::back_inserter(joined), is_kept);
        const auto vanished = std::find_if_not(longer.begin(), longer.end(), is_kept);
        std::vector<label_id> added;
        std::copy_if(shorter.begin(), shorter.end(), std::back_inserter(added),
                     [&](label_id label) { return is_kept(label) && !found_in(label, longer); });
        joined.insert(joined.begin() + (vanished - longer.begin()), added.begin(), added.end());
        enter(joined);
        labelled.push_back({left, right, labels.back()});
    }
    labelled.back().labels = output;
    return labelled;
}

EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    index_span extents, label_span out, const std::vector<std::vector<label_id>>& operands, double at_once) {
    const auto is_like_output = [&](const std::vector<label_id>& labels) {
        return labels.size() == out.size() && std::is_permutation(out.begin(), out.end(), labels.begin());
    };
    if (all_in(operands, is_like_output)) {
        return {};
    }
    return contraction_order(operands, {out.begin(), out.end()}, {extents.begin(), extents.end()}, at_once);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::vector<pairwise_contraction> contraction_order(
    const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
    const std::vector<index>& extents, double at_once) {
    if (operands.size() < 2) {
        return {};
    }
    std::vector<detail::tensor_pair> steps{{0, 1}};
    if (operands.size() > 2) {
        const detail::product_network net = detail::make_network(operands, output, extents);
        const detail::found_order greedy = detail::greedy_order(net, 1);
        steps = operands.size() <= exact_order_limit
                    ? detail::exact_order(net, greedy.operations)
                    : detail::annealed_order(net, at_once > 0 ? 1e-4 * at_once : 1).steps;
        if (steps.empty()) {  // beyond 2^53 sums are rounded, and no order may seem as cheap as the greedy one
            steps = greedy.steps;
        }
    }
    if (at_once > 0) {
        steps = detail::in_order(std::move(steps), true);
    }
    return detail::with_labels(steps, operands, output, extents.size());
}

}  // namespace einparallel
