#pragma once
// A cheap order of pairwise contractions for any number of tensors: greedy, with random restarts.

#include <einparallel/kernel/product_network.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The next of a sequence of numbers that is the same on every machine and compiler (splitmix64).
constexpr std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

/// What a greedy run prefers: the pair with the smallest size of result − `weight` · sizes of the pair, the first
/// blurred by up to `noise` sixteenths. Sixteenths, and weights that are powers of two, are exact: every rank sees the
/// same order.
struct greedy_taste {
    double weight = 1;
    unsigned noise = 0;
    std::uint64_t seed = 0;
};

/// One greedy run after the other over the same network.
EINPARALLEL_INLINE class greedy_order {
public:
    explicit greedy_order(const product_network& net) : net_(net), has_(net.extents.size(), 0), result_(has_.words()) {}

    /// Contracts, among pairs that share a label, the preferred one first; whatever is left then has nothing in common
    /// and is multiplied smallest first. False where it takes more operations than `most`: then it has stopped.
    bool run(const greedy_taste& taste, double most) {
        start(taste);
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            propose_neighbours(operand, true);
        }
        while (!queue_.empty()) {
            const candidate next = queue_.top();
            queue_.pop();
            if (alive_[next.left] && alive_[next.right]) {
                const std::size_t made = contract(next.left, next.right);
                if (cost_.operations > most) {
                    return false;
                }
                propose_neighbours(made, false);
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
        return cost_.operations <= most;
    }

    [[nodiscard]] const std::vector<tensor_pair>& steps() const { return steps_; }
    [[nodiscard]] order_cost cost() const { return cost_; }
    /// Pairs that have been weighed since the beginning, over all runs: what the search has taken, by no clock.
    [[nodiscard]] std::size_t proposals() const { return proposals_; }

private:
    struct candidate {
        double score;  // smallest first
        std::size_t left;
        std::size_t right;
        bool operator<(const candidate& other) const {
            return std::tie(score, left, right) > std::tie(other.score, other.left, other.right);
        }
    };

    void start(const greedy_taste& taste) {
        taste_ = taste;
        const std::size_t tensors = 2 * net_.operands - 1;
        has_ = label_sets(net_.extents.size(), tensors);
        users_.assign(net_.extents.size(), 0);
        having_.assign(net_.extents.size(), {});
        net_.labels.each(net_.operands, [&](std::size_t label) { ++users_[label]; });
        alive_.assign(tensors, false);
        seen_.assign(tensors, static_cast<std::size_t>(-1));
        size_.assign(tensors, 0);
        steps_.clear();
        queue_ = {};
        cost_ = {};
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            std::copy(net_.labels.of(operand), net_.labels.of(operand) + has_.words(), has_.of(operand));
            enter(operand);
        }
    }

    void enter(std::size_t tensor) {
        has_.each(tensor, [&](std::size_t label) {
            ++users_[label];
            having_[label].push_back(tensor);
        });
        alive_[tensor] = true;
        size_[tensor] = net_.size_of(has_.of(tensor), has_.words());
    }

    /// Labels of the product of two tensors: what both have and nobody else needs goes.
    void join(std::size_t left, std::size_t right) {
        for (std::size_t word = 0; word < has_.words(); ++word) {
            const std::uint64_t both = has_.of(left)[word] & has_.of(right)[word];
            result_[word] = has_.of(left)[word] | has_.of(right)[word];
            for (std::uint64_t rest = both; rest != 0; rest &= rest - 1) {
                if (users_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))] == 2) {
                    result_[word] &= ~(rest & (~rest + 1));
                }
            }
        }
    }

    void propose(std::size_t left, std::size_t right) {
        ++proposals_;
        join(left, right);
        double made = net_.size_of(result_.data(), result_.size());
        if (taste_.noise > 0) {
            made *= static_cast<double>(16 + next_random(taste_.seed) % (taste_.noise + 1)) / 16;
        }
        queue_.push({made - taste_.weight * (size_[left] + size_[right]), left, right});
    }

    void propose_neighbours(std::size_t tensor, bool only_earlier) {
        has_.each(tensor, [&](std::size_t label) {
            std::vector<std::size_t>& others = having_[label];
            std::erase_if(others, [&](std::size_t other) { return !alive_[other]; });
            for (const std::size_t other : others) {
                if (other != tensor && seen_[other] != tensor && (!only_earlier || other < tensor)) {
                    seen_[other] = tensor;
                    propose(other, tensor);
                }
            }
        });
    }

    std::size_t contract(std::size_t left, std::size_t right) {
        const std::size_t made = net_.operands + steps_.size();
        join(left, right);
        std::copy(result_.begin(), result_.end(), has_.of(made));
        for (std::size_t word = 0; word < has_.words(); ++word) {
            result_[word] = has_.of(left)[word] | has_.of(right)[word];
        }
        for (const std::size_t gone : {left, right}) {
            alive_[gone] = false;
            has_.each(gone, [&](std::size_t label) { --users_[label]; });
        }
        enter(made);
        cost_.operations += net_.size_of(result_.data(), result_.size());
        cost_.elements += size_[made];
        steps_.push_back({left, right});
        return made;
    }

    const product_network& net_;
    greedy_taste taste_;
    label_sets has_;
    std::vector<std::size_t> users_;  // by label: tensors not yet contracted that have it, and the output
    std::vector<std::vector<std::size_t>> having_;
    std::vector<bool> alive_;
    std::vector<std::size_t> seen_;
    std::vector<double> size_;
    std::vector<std::uint64_t> result_;
    std::priority_queue<candidate> queue_;
    std::vector<tensor_pair> steps_;
    order_cost cost_;
    std::size_t proposals_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
