#pragma once
// An order of pairwise contractions made better part by part: a few neighbouring contractions at a time are put into
// their cheapest order.

#include <einparallel/kernel/exact_order.hpp>
#include <einparallel/kernel/product_network.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// An order as the tree that it is: the operands are leaves, every contraction has its two tensors below it.
EINPARALLEL_INLINE class order_refinement {
public:
    order_refinement(const product_network& net, const std::vector<tensor_pair>& steps)
        : net_(net), below_(net.operands), labels_(net.extents.size(), net.operands + steps.size()), search_(net) {
        below_.insert(below_.end(), steps.begin(), steps.end());
        std::vector<std::size_t> users(net.extents.size(), 0);
        const auto count_in = [&](const label_sets& sets, std::size_t set) {
            sets.each(set, [&](std::size_t label) { ++users[label]; });
        };
        count_in(net.labels, net.operands);
        for (std::size_t operand = 0; operand < net.operands; ++operand) {
            std::copy(net.labels.of(operand), net.labels.of(operand) + labels_.words(), labels_.of(operand));
            count_in(labels_, operand);
        }
        for (std::size_t node = net.operands; node < below_.size(); ++node) {
            for (const std::size_t part : {below_[node].left, below_[node].right}) {
                labels_.each(part, [&](std::size_t label) {
                    --users[label];
                    labels_.insert(node, label);
                });
            }
            for (std::size_t word = 0; word < labels_.words(); ++word) {
                for (std::uint64_t rest = labels_.of(node)[word]; rest != 0; rest &= rest - 1) {
                    const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
                    if (users[64 * word + bit] == 0) {
                        labels_.of(node)[word] ^= std::uint64_t{1} << bit;
                    }
                }
            }
            count_in(labels_, node);
        }
    }

    /// Goes over the tree until nothing gets better, four times at most, and weighs no more splits than `operations`.
    std::vector<tensor_pair> refine(double operations) {
        bool changed = true;
        for (std::size_t sweep = 0; sweep < 4 && changed; ++sweep) {
            changed = false;
            for (const std::size_t node : contractions()) {
                if (weighed_ > operations) {
                    break;
                }
                changed = refine_at(node) || changed;
            }
        }
        std::vector<std::size_t> number(below_.size(), 0);
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            number[operand] = operand;
        }
        std::vector<tensor_pair> steps;
        for (const std::size_t node : contractions()) {
            number[node] = net_.operands + steps.size();
            steps.push_back({number[below_[node].left], number[below_[node].right]});
        }
        return steps;
    }

private:
    static constexpr std::size_t part_size = 8;

    /// All contractions, each after those that it reads.
    [[nodiscard]] std::vector<std::size_t> contractions() const {
        std::vector<std::size_t> listed{below_.size() - 1};
        for (std::size_t position = 0; position < listed.size(); ++position) {
            const tensor_pair parts = below_[listed[position]];
            for (const std::size_t part : {parts.left, parts.right}) {
                if (part >= net_.operands) {
                    listed.push_back(part);
                }
            }
        }
        std::reverse(listed.begin(), listed.end());
        return listed;
    }

    [[nodiscard]] order_cost cost_at(std::size_t node) const {
        std::vector<std::uint64_t> joined(labels_.words());
        for (std::size_t word = 0; word < joined.size(); ++word) {
            joined[word] = labels_.of(below_[node].left)[word] | labels_.of(below_[node].right)[word];
        }
        return {net_.size_of(joined.data(), joined.size()), net_.size_of(labels_.of(node), joined.size())};
    }

    /// Takes the contraction and the most expensive ones below it, and contracts what they read in the cheapest order.
    bool refine_at(std::size_t node) {
        std::vector<std::size_t> inner{node};
        std::vector<std::size_t> read{below_[node].left, below_[node].right};
        order_cost before = cost_at(node);
        while (read.size() < part_size) {
            std::size_t largest = read.size();
            order_cost most{-1, -1};
            for (std::size_t position = 0; position < read.size(); ++position) {
                if (read[position] >= net_.operands && most < cost_at(read[position])) {
                    most = cost_at(read[position]);
                    largest = position;
                }
            }
            if (largest == read.size()) {
                break;
            }
            const std::size_t opened = read[largest];
            before.operations += most.operations;
            before.elements += most.elements;
            inner.push_back(opened);
            read[largest] = below_[opened].left;
            read.push_back(below_[opened].right);
        }
        if (read.size() < 3) {
            return false;
        }
        std::vector<const std::uint64_t*> tensors;
        double splits = 1;
        for (const std::size_t part : read) {
            tensors.push_back(labels_.of(part));
            splits *= 3;
        }
        weighed_ += splits / 2;
        if (!search_.solve(tensors, labels_.of(node), before.operations) || !(search_.cost() < before)) {
            return false;
        }
        std::vector<std::size_t> at(std::size_t{1} << read.size(), 0);
        for (std::size_t part = 0; part < read.size(); ++part) {
            at[std::size_t{1} << part] = read[part];
        }
        search_.each_split([&](std::size_t subset, std::size_t left, std::size_t right) {
            at[subset] = inner.back();  // the last one is `node` itself
            inner.pop_back();
            below_[at[subset]] = {at[left], at[right]};
            std::copy(search_.kept(subset), search_.kept(subset) + labels_.words(), labels_.of(at[subset]));
        });
        return true;
    }

    const product_network& net_;
    std::vector<tensor_pair> below_;  // by number; nothing below operands
    label_sets labels_;               // that every tensor of the tree keeps
    exact_order<> search_;
    double weighed_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
