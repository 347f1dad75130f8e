#pragma once
// The cheapest order of pairwise contractions: dynamic programming over sets of tensors, with any cost.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/order/product_network.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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
template <class Cost>
class exact_order {
public:
    exact_order(const product_network& net, Cost cost)
        : net_(net),
          cost_(std::move(cost)),
          subsets_(std::size_t{1} << net.operands),
          kept_(net.extents.size(), subsets_),
          operations_(subsets_, std::numeric_limits<double>::infinity()),
          elements_(subsets_, 0),
          split_(subsets_, 0) {
        fill_labels();
    }

    /// The steps of the cheapest order; none where every order costs more than `most`.
    std::vector<tensor_pair> steps(double most) {
        const bool may_vanish = std::find(net_.extents.begin(), net_.extents.end(), 0.0) != net_.extents.end();
        for (std::size_t subset = 1; subset < subsets_; ++subset) {
            if (std::has_single_bit(subset)) {
                operations_[subset] = 0;
            } else {
                split(subset, most, may_vanish);
            }
        }
        std::vector<tensor_pair> found;
        const auto number_of = [&](const auto& again, std::size_t subset) -> std::size_t {
            if (std::has_single_bit(subset)) {
                return static_cast<std::size_t>(std::countr_zero(subset));
            }
            const std::size_t left = again(again, split_[subset]);
            const std::size_t right = again(again, subset ^ split_[subset]);
            found.push_back({left, right});
            return net_.operands + found.size() - 1;
        };
        if (split_.back() != 0) {
            number_of(number_of, subsets_ - 1);
        }
        return found.empty() ? found : in_order(std::move(found));
    }

private:
    void fill_labels() {
        const std::size_t words = kept_.words();
        label_sets any(net_.extents.size(), subsets_);
        for (std::size_t subset = 1; subset < subsets_; ++subset) {
            const auto lowest = static_cast<std::size_t>(std::countr_zero(subset));
            for (std::size_t word = 0; word < words; ++word) {
                any.of(subset)[word] = any.of(subset & (subset - 1))[word] | net_.labels.of(lowest)[word];
            }
        }
        for (std::size_t subset = 1; subset < subsets_; ++subset) {
            for (std::size_t word = 0; word < words; ++word) {
                kept_.of(subset)[word] =
                    any.of(subset)[word] & (net_.output()[word] | any.of(subsets_ - 1 - subset)[word]);
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
    std::size_t subsets_;
    label_sets kept_;  // labels that the product of the subset must still have
    std::vector<double> operations_;
    std::vector<double> elements_;
    std::vector<std::size_t> split_;  // the left part; 0 where the subset is a tensor or costs too much
    std::vector<std::uint64_t> joined_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
