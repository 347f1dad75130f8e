#pragma once
// Simulated annealing of a tree of contractions, as TreeSA does (Kalachev, Panteleev, Yung 2021).

#include <einparallel/kernel/contraction_order.hpp>

#include <cmath>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

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

/// A network in which no tensor has only labels of another: those are multiplied into the other one first.
struct absorbed_network {
    product_network net;
    std::vector<tensor_pair> steps;    ///< in the numbers of the whole network
    std::vector<std::size_t> tensors;  ///< what the operands of `net` are there
};

EINPARALLEL_INLINE absorbed_network absorb(const product_network& whole) {
    absorbed_network made{whole, {}, {}};
    const std::size_t words = whole.labels.words();
    label_sets has(whole.extents.size(), 2 * whole.operands - 1);
    std::vector<std::size_t> users(whole.extents.size(), 0);
    std::vector<std::vector<std::size_t>> having(whole.extents.size());
    std::vector<bool> gone(2 * whole.operands - 1, false);
    whole.labels.each(whole.operands, [&](std::size_t label) { ++users[label]; });
    const auto enter = [&](std::size_t tensor) {
        has.each(tensor, [&](std::size_t label) { having[label].push_back(tensor); });
    };
    for (std::size_t operand = 0; operand < whole.operands; ++operand) {
        std::copy(whole.labels.of(operand), whole.labels.of(operand) + words, has.of(operand));
        has.each(operand, [&](std::size_t label) { ++users[label]; });
        enter(operand);
    }
    const auto larger = [&](std::size_t tensor) {
        std::size_t label = users.size();
        has.each(tensor, [&](std::size_t each) { label = each; });
        for (std::size_t place = 0; label < users.size() && place < having[label].size(); ++place) {
            const std::size_t other = having[label][place];
            bool has_all = other != tensor && !gone[other];
            for (std::size_t word = 0; word < words; ++word) {
                has_all = has_all && (has.of(tensor)[word] & ~has.of(other)[word]) == 0;
            }
            if (has_all) {
                return other;
            }
        }
        return tensor;
    };
    for (std::size_t tensor = 0; tensor < whole.operands + made.steps.size(); ++tensor) {
        const std::size_t other = gone[tensor] ? tensor : larger(tensor);
        if (other == tensor) {
            continue;
        }
        const std::size_t product = whole.operands + made.steps.size();
        made.steps.push_back({tensor, other});
        gone[tensor] = gone[other] = true;
        has.each(other, [&](std::size_t label) {
            users[label] -= has.contains(tensor, label) ? 1 : 0;
            if (users[label] > 1) {
                has.insert(product, label);
            }
        });
        enter(product);
    }
    for (std::size_t tensor = 0; tensor < whole.operands + made.steps.size(); ++tensor) {
        if (!gone[tensor]) {
            std::copy(has.of(tensor), has.of(tensor) + words, made.net.labels.of(made.tensors.size()));
            made.tensors.push_back(tensor);
        }
    }
    made.net.operands = made.tensors.size();
    std::copy(whole.output(), whole.output() + words, made.net.labels.of(made.net.operands));
    return made;
}

EINPARALLEL_INLINE found_order annealed_order(const product_network& net) {
    constexpr double temperatures[] = {0.125, 1, 4};  // each run begins with the best order so far
    constexpr double most_turns = 4.5e6;
    constexpr double most_sweeps = 1500;  // of a run: the same turns in more runs find better orders
    absorbed_network small = absorb(net);
    const std::size_t operands = small.net.operands;
    found_order best = greedy_order(small.net, 1);
    const auto consider = [&](found_order other) {
        if (other.operations < best.operations) {
            best = std::move(other);
        }
    };
    for (const double weight : {0.5, 0.0, 2.0}) {
        consider(greedy_order(small.net, weight));
    }
    const double turns = std::min(best.operations, most_turns);
    const double sweeps = std::floor(std::min(turns / 3 / static_cast<double>(operands), most_sweeps));
    const auto runs = sweeps < 1 ? 0 : std::max<std::size_t>(3, static_cast<std::size_t>(turns / sweeps) / operands);
    for (std::size_t run = 0; run < runs; ++run) {
        annealed_tree tree(small.net, best.steps, run);
        for (double sweep = 1; sweep <= sweeps; ++sweep) {
            const double left = 1 - sweep / sweeps;
            tree.sweep(temperatures[run % 3] * (left * left) * (left * left));
        }
        consider(tree.found());
    }
    const auto number = [&](std::size_t tensor) {
        return tensor < operands ? small.tensors[tensor] : tensor + 2 * (net.operands - operands);
    };
    for (const auto& [left, right] : best.steps) {
        small.steps.push_back({number(left), number(right)});
    }
    best = greedy_order(net, 1);
    consider(annealed_tree(net, small.steps, 0).found());
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
