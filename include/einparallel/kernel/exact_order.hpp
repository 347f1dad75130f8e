#pragma once
// The cheapest order of pairwise contractions, by dynamic programming over subsets.

#include <einparallel/kernel/product_network.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A contraction costs as many multiply-adds as its labels have combinations.
struct multiply_adds {
    /// Of two tensors with these labels, which together have `joined` and of which `result` are kept.
    double operator()(const product_network& net, const std::uint64_t* /*left*/, const std::uint64_t* /*right*/,
                      const std::uint64_t* joined, const std::uint64_t* /*result*/) const {
        return net.size_of(joined, net.labels.words());
    }

    /// It goes through all labels of its result, so it costs no less than that has elements.
    [[nodiscard]] double at_least(double elements) const { return elements; }
};

/// The cheapest way to make the product of a subset of tensors is the cheapest split of it into two, outer products
/// included: 3^r / 2 splits of r tensors, each two loads where it cannot win. Memory 2^r.
template <class Cost = multiply_adds>
class exact_order {
public:
    explicit exact_order(const product_network& net, Cost cost = {})
        : net_(net), cost_(std::move(cost)), any_(0, 0), kept_(0, 0) {}

    /// Finds the cheapest order of tensors with these sets of labels, of which the product keeps `output`. False where
    /// every order costs more than `most`.
    bool solve(std::span<const std::uint64_t* const> tensors, const std::uint64_t* output, double most) {
        count_ = tensors.size();
        fill_labels(tensors, output);
        const std::size_t subsets = std::size_t{1} << count_;
        const bool may_vanish = std::find(net_.extents.begin(), net_.extents.end(), 0.0) != net_.extents.end();
        operations_.assign(subsets, std::numeric_limits<double>::infinity());
        elements_.assign(subsets, 0);
        split_.assign(subsets, 0);
        for (std::size_t subset = 1; subset < subsets; ++subset) {
            if ((subset & (subset - 1)) == 0) {
                operations_[subset] = 0;
            } else {
                split(subset, most, may_vanish);
            }
        }
        return split_[subsets - 1] != 0;
    }

    [[nodiscard]] order_cost cost() const { return {operations_.back(), elements_.back()}; }

    /// Labels that the product of a subset keeps.
    [[nodiscard]] const std::uint64_t* kept(std::size_t subset) const { return kept_.of(subset); }

    /// Calls visit(subset, left part, right part) for every contraction of the order, after those that it reads.
    template <class Visit>
    void each_split(Visit&& visit) const {
        std::vector<std::size_t> listed{split_.size() - 1};
        for (std::size_t position = 0; position < listed.size(); ++position) {
            const std::size_t left = split_[listed[position]];
            for (const std::size_t part : {left, listed[position] ^ left}) {
                if ((part & (part - 1)) != 0) {
                    listed.push_back(part);
                }
            }
        }
        for (std::size_t position = listed.size(); position-- > 0;) {
            const std::size_t left = split_[listed[position]];
            visit(listed[position], left, listed[position] ^ left);
        }
    }

    /// The order as steps.
    [[nodiscard]] std::vector<tensor_pair> steps() const {
        std::vector<std::size_t> number(split_.size(), 0);
        for (std::size_t tensor = 0; tensor < count_; ++tensor) {
            number[std::size_t{1} << tensor] = tensor;
        }
        std::vector<tensor_pair> listed;
        each_split([&](std::size_t subset, std::size_t left, std::size_t right) {
            number[subset] = count_ + listed.size();
            listed.push_back({number[left], number[right]});
        });
        return listed;
    }

private:
    void fill_labels(std::span<const std::uint64_t* const> tensors, const std::uint64_t* output) {
        const std::size_t subsets = std::size_t{1} << count_;
        any_ = label_sets(net_.extents.size(), subsets);
        kept_ = label_sets(net_.extents.size(), subsets);
        const std::size_t words = any_.words();
        for (std::size_t tensor = 0; tensor < count_; ++tensor) {
            std::copy(tensors[tensor], tensors[tensor] + words, any_.of(std::size_t{1} << tensor));
        }
        for (std::size_t subset = 1; subset < subsets; ++subset) {
            const std::size_t lowest = subset & (~subset + 1);
            for (std::size_t word = 0; word < words && subset != lowest; ++word) {
                any_.of(subset)[word] = any_.of(lowest)[word] | any_.of(subset ^ lowest)[word];
            }
        }
        for (std::size_t subset = 1; subset < subsets; ++subset) {
            for (std::size_t word = 0; word < words; ++word) {
                kept_.of(subset)[word] = any_.of(subset)[word] & (output[word] | any_.of(subsets - 1 - subset)[word]);
            }
        }
    }

    void split(std::size_t subset, double most, bool may_vanish) {
        const std::size_t words = kept_.words();
        const double size = net_.size_of(kept_.of(subset), words);
        const double least = may_vanish ? 0 : cost_.at_least(size);
        const std::size_t lowest = subset & (~subset + 1);
        joined_.resize(words);
        double best = most;
        double best_elements = std::numeric_limits<double>::infinity();
        // The part with the lowest tensor is the left one: each split once.
        const std::size_t others = subset ^ lowest;
        for (std::size_t right = others; right != 0; right = (right - 1) & others) {
            const std::size_t left = subset ^ right;
            const double before = operations_[left] + operations_[right];
            if (before + least > best) {
                continue;
            }
            for (std::size_t word = 0; word < words; ++word) {
                joined_[word] = kept_.of(left)[word] | kept_.of(right)[word];
            }
            const double operations =
                before + cost_(net_, kept_.of(left), kept_.of(right), joined_.data(), kept_.of(subset));
            const double elements = elements_[left] + elements_[right] + size;
            if (operations < best || (operations == best && elements < best_elements)) {
                best = operations;
                best_elements = elements;
                split_[subset] = left;
            }
        }
        if (split_[subset] != 0) {
            operations_[subset] = best;
            elements_[subset] = best_elements;
        }
    }

    const product_network& net_;
    Cost cost_;
    std::size_t count_ = 0;
    label_sets any_;   // labels of the tensors in a subset
    label_sets kept_;  // those that the product of the subset must still have
    std::vector<double> operations_;
    std::vector<double> elements_;
    std::vector<std::size_t> split_;  // the left part; 0 where the subset is a tensor or costs too much
    std::vector<std::uint64_t> joined_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
