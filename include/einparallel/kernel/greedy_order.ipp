#pragma once
// A greedy order of pairwise contractions.

#include <einparallel/kernel/contraction_order.hpp>

#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE class greedy_search {
public:
    greedy_search(const product_network& net, double weight)
        : net_(net),
          weight_(weight),
          has_(net.extents.size(), 2 * net.operands - 1),
          users_(net.extents.size(), 0),
          having_(net.extents.size()),
          alive_(2 * net.operands - 1, false),
          seen_(2 * net.operands - 1, static_cast<std::size_t>(-1)),
          size_(2 * net.operands - 1, 0),
          joined_(has_.words()),
          result_(has_.words()) {}

    found_order run() && {
        net_.labels.each(net_.operands, [&](std::size_t label) { ++users_[label]; });
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            std::copy(net_.labels.of(operand), net_.labels.of(operand) + has_.words(), has_.of(operand));
            enter(operand);
        }
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            propose_neighbours(operand, true);
        }
        while (!queue_.empty()) {
            const candidate next = queue_.top();
            queue_.pop();
            if (alive_[next.left] && alive_[next.right]) {
                propose_neighbours(contract(next.left, next.right), false);
            }
        }
        using sized = std::pair<double, std::size_t>;
        std::priority_queue<sized, std::vector<sized>, std::greater<>> apart;
        for (std::size_t tensor = 0; tensor < alive_.size(); ++tensor) {
            if (alive_[tensor]) {
                apart.emplace(size_[tensor], tensor);
            }
        }
        while (apart.size() > 1) {
            const std::size_t left = apart.top().second;
            apart.pop();
            const std::size_t right = apart.top().second;
            apart.pop();
            const std::size_t made = contract(std::min(left, right), std::max(left, right));
            apart.emplace(size_[made], made);
        }
        return std::move(found_);
    }

private:
    struct candidate {
        double score;  // smallest first
        std::size_t left;
        std::size_t right;
        bool operator<(const candidate& other) const {
            return std::tie(score, left, right) > std::tie(other.score, other.left, other.right);
        }
    };

    void enter(std::size_t tensor) {
        has_.each(tensor, [&](std::size_t label) {
            ++users_[label];
            having_[label].push_back(tensor);
        });
        alive_[tensor] = true;
        size_[tensor] = net_.size_of(has_.of(tensor), has_.words());
    }

    /// Labels of two tensors, and of their product: what both have and nobody else needs goes.
    void join(std::size_t left, std::size_t right) {
        for (std::size_t word = 0; word < has_.words(); ++word) {
            joined_[word] = has_.of(left)[word] | has_.of(right)[word];
            result_[word] = joined_[word];
            for (std::uint64_t rest = has_.of(left)[word] & has_.of(right)[word]; rest != 0; rest &= rest - 1) {
                if (users_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))] == 2) {
                    result_[word] &= ~(rest & (~rest + 1));
                }
            }
        }
    }

    void propose_neighbours(std::size_t tensor, bool only_earlier) {
        has_.each(tensor, [&](std::size_t label) {
            std::vector<std::size_t>& others = having_[label];
            std::erase_if(others, [&](std::size_t other) { return !alive_[other]; });
            for (const std::size_t other : others) {
                if (other != tensor && seen_[other] != tensor && (!only_earlier || other < tensor)) {
                    seen_[other] = tensor;
                    join(other, tensor);
                    const double made = net_.size_of(result_.data(), result_.size());
                    queue_.push({made - weight_ * (size_[other] + size_[tensor]), other, tensor});
                }
            }
        });
    }

    std::size_t contract(std::size_t left, std::size_t right) {
        const std::size_t made = net_.operands + found_.steps.size();
        join(left, right);
        std::copy(result_.begin(), result_.end(), has_.of(made));
        for (const std::size_t gone : {left, right}) {
            alive_[gone] = false;
            has_.each(gone, [&](std::size_t label) { --users_[label]; });
        }
        enter(made);
        found_.operations += net_.size_of(joined_.data(), joined_.size());
        found_.steps.push_back({left, right});
        return made;
    }

    const product_network& net_;
    double weight_;
    label_sets has_;
    std::vector<std::size_t> users_;  // by label: tensors not yet contracted that have it, and the output
    std::vector<std::vector<std::size_t>> having_;
    std::vector<bool> alive_;
    std::vector<std::size_t> seen_;
    std::vector<double> size_;
    std::vector<std::uint64_t> joined_;
    std::vector<std::uint64_t> result_;
    std::priority_queue<candidate> queue_;
    found_order found_;
};

EINPARALLEL_INLINE found_order greedy_order(const product_network& net, double weight) {
    greedy_search search(net, weight);
    return std::move(search).run();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
