#pragma once
// Orders in which a product may be contracted that are worth a plan each.

#include <einparallel/kernel/contraction_order.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/lower_bound.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/product_tree.ipp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Seconds of one contraction on all ranks: its share of the arithmetic, and `weight` times the least that some rank
/// has to send or receive for it (plan/lower_bound.hpp).
struct contraction_seconds {
    int processes = 1;
    double seconds_per_operation = 0;  ///< of one multiply-add
    double seconds_per_element = 0;
    double weight = 1;

    double operator()(const product_network& net, const std::uint64_t* left, const std::uint64_t* right,
                      const std::uint64_t* joined, const std::uint64_t* result) const {
        const std::size_t words = net.labels.words();
        std::vector<std::uint64_t> of_class(4 * words);
        for (std::size_t word = 0; word < words; ++word) {
            const std::uint64_t both = left[word] & right[word];
            of_class[word] = both & result[word];
            of_class[words + word] = left[word] & ~right[word];
            of_class[2 * words + word] = right[word] & ~left[word];
            of_class[3 * words + word] = both & ~result[word];
        }
        constexpr double largest = 1e17;  // what an extent can be
        const auto size = [&](std::size_t kind) {
            return static_cast<index>(std::min(net.size_of(of_class.data() + kind * words, words), largest));
        };
        const contraction_shape shape{size(0), size(1), size(2), size(3)};
        return net.size_of(joined, words) / processes * seconds_per_operation +
               weight * lower_bound_words(shape, processes) * seconds_per_element;
    }

    [[nodiscard]] double at_least(double elements) const { return elements / processes * seconds_per_operation; }
};

/// Every order of up to four tensors: 3 or 15 of them.
EINPARALLEL_INLINE class all_orders {
public:
    explicit all_orders(std::size_t operands) : operands_(operands) {
        std::vector<std::size_t> left;
        for (std::size_t operand = 0; operand < operands; ++operand) {
            left.push_back(operand);
        }
        contract(left);
    }

    [[nodiscard]] std::vector<std::vector<tensor_pair>> result() && { return std::move(found_); }

private:
    void contract(const std::vector<std::size_t>& left) {
        if (left.size() == 1) {
            found_.push_back(steps_);
            return;
        }
        for (std::size_t a = 0; a < left.size(); ++a) {
            for (std::size_t b = a + 1; b < left.size(); ++b) {
                // Steps that do not read each other come in one order only.
                const bool reads_last = left[b] + 1 == operands_ + steps_.size();
                if (!steps_.empty() && !reads_last && left[a] < steps_.back().left) {
                    continue;
                }
                std::vector<std::size_t> fewer = left;
                fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(b));
                fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(a));
                fewer.push_back(operands_ + steps_.size());
                steps_.push_back({left[a], left[b]});
                contract(fewer);
                steps_.pop_back();
            }
        }
    }

    std::size_t operands_;
    std::vector<tensor_pair> steps_;
    std::vector<std::vector<tensor_pair>> found_;
};

/// The orders that differ from one by a single turn: where the product of x and y meets z, x meets z first, or y does.
EINPARALLEL_INLINE class turned_orders {
public:
    turned_orders(std::size_t operands, const std::vector<tensor_pair>& steps) : operands_(operands), below_(steps) {
        for (std::size_t upper = 0; upper < steps.size(); ++upper) {
            for (const std::size_t side : {steps[upper].left, steps[upper].right}) {
                if (side < operands) {
                    continue;
                }
                const std::size_t z = steps[upper].left == side ? steps[upper].right : steps[upper].left;
                const auto [x, y] = steps[side - operands];
                for (const auto& [first, then] : {tensor_pair{x, y}, tensor_pair{y, x}}) {
                    below_ = steps;
                    below_[side - operands] = {first, z};
                    below_[upper] = {side, then};
                    found_.push_back(in_order());
                }
            }
        }
    }

    [[nodiscard]] std::vector<std::vector<tensor_pair>> result() && { return std::move(found_); }

private:
    /// The tree as steps, each after those that it reads.
    [[nodiscard]] std::vector<tensor_pair> in_order() const {
        std::vector<std::size_t> listed{below_.size() - 1};
        for (std::size_t position = 0; position < listed.size(); ++position) {
            for (const std::size_t part : {below_[listed[position]].left, below_[listed[position]].right}) {
                if (part >= operands_) {
                    listed.push_back(part - operands_);
                }
            }
        }
        std::vector<std::size_t> number(operands_ + below_.size(), 0);
        for (std::size_t operand = 0; operand < operands_; ++operand) {
            number[operand] = operand;
        }
        std::vector<tensor_pair> steps;
        for (std::size_t position = listed.size(); position-- > 0;) {
            const auto [left, right] = below_[listed[position]];
            number[operands_ + listed[position]] = operands_ + steps.size();
            steps.push_back({std::min(number[left], number[right]), std::max(number[left], number[right])});
        }
        return steps;
    }

    std::size_t operands_;
    std::vector<tensor_pair> below_;
    std::vector<std::vector<tensor_pair>> found_;
};

/// Up to four tensors: every order. Up to exact_order_limit: the cheapest orders by operations and communication
/// together, with several weights of the one against the other. Beyond: greedy orders of several tastes, refined.
EINPARALLEL_INLINE std::vector<std::vector<tensor_pair>> order_choices(const product_tree& tree,
                                                                       std::size_t element_bytes,
                                                                       double operations_per_point,
                                                                       const options& asked) {
    constexpr std::size_t few = 4;
    constexpr double weights[] = {0.25, 1, 4, 1e6};
    const product_network net = make_network(tree.labels, tree.output, tree.extents);
    std::vector<std::vector<tensor_pair>> found;
    if (tree.leaves.size() <= few) {
        found = all_orders(tree.leaves.size()).result();
    } else if (tree.leaves.size() <= exact_order_limit) {
        std::vector<const std::uint64_t*> tensors;
        for (std::size_t leaf = 0; leaf < net.operands; ++leaf) {
            tensors.push_back(net.labels.of(leaf));
        }
        for (const double weight : weights) {
            const contraction_seconds cost{asked.processes, operations_per_point * asked.machine.seconds_per_flop,
                                           static_cast<double>(element_bytes) * asked.machine.seconds_per_byte, weight};
            exact_order<contraction_seconds> search(net, cost);
            if (search.solve(tensors, net.output(), std::numeric_limits<double>::infinity())) {
                found.push_back(search.steps());
            }
        }
    } else {
        for (const double weight : {1.0, 0.5, 0.0, 2.0}) {
            const found_order greedy = greedy_contractions(net, {weight, 0, 0});
            found.push_back(greedy.steps);
            found.push_back(refined_contractions(net, greedy.steps, greedy.cost.operations));
        }
    }
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
