#pragma once
// In which order to contract a product of many tensors pair by pair: pure arithmetic on sets of labels and extents.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
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

/// The order in which to contract Σ of the product of all operands pair by pair; empty for fewer than two operands,
/// otherwise one step less than there are operands. The last step's labels are the output's, in the output's order.
/// Up to exact_order_limit operands: the fewest multiply-adds (∏ of the extents of all labels of a pair, once labels of
/// a single tensor are summed), then the fewest elements of intermediates; outer products are considered. Beyond: the
/// best of up to 64 greedy orders, each part of eight tensors put into its cheapest order. Deterministic: the same on
/// every rank, with every compiler.
/// @param extents by label id
EINPARALLEL_INLINE std::vector<pairwise_contraction> contraction_order(
    const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
    const std::vector<index>& extents);

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// The order for a product in memory: `extents` by label id. None for an element-wise product, in which every operand
/// has every label of the output and nothing else.
EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    std::span<const index> extents, std::span<const label_id> out,
    const std::vector<std::span<const label_id>>& operands);

// --- the search, for those who have a cost of their own

/// Sets of labels as bits, any number of labels; all sets of one computation lie in one array.
class label_sets {
public:
    label_sets(std::size_t label_count, std::size_t set_count)
        : words_(std::max<std::size_t>((label_count + 63) / 64, 1)), bits_(words_ * set_count, 0) {}

    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::uint64_t* of(std::size_t set) { return bits_.data() + set * words_; }
    [[nodiscard]] const std::uint64_t* of(std::size_t set) const { return bits_.data() + set * words_; }
    void insert(std::size_t set, std::size_t label) { of(set)[label / 64] |= std::uint64_t{1} << (label % 64); }
    [[nodiscard]] bool contains(std::size_t set, std::size_t label) const {
        return (of(set)[label / 64] >> (label % 64) & 1U) != 0;
    }

    /// Calls visit(label) for every label of a set, ascending.
    template <class Visit>
    void each(std::size_t set, Visit&& visit) const {
        for (std::size_t word = 0; word < words_; ++word) {
            for (std::uint64_t rest = of(set)[word]; rest != 0; rest &= rest - 1) {
                visit(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
            }
        }
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// Elements of a tensor with a set of labels, eight labels at a time. Whole numbers below 2^53 are exact; what is
/// beyond 1e300 counts as that, so that sums of sizes stay numbers that can be compared.
class extent_products {
public:
    EINPARALLEL_INLINE explicit extent_products(const std::vector<double>& extents);

    EINPARALLEL_INLINE [[nodiscard]] double operator()(const std::uint64_t* set, std::size_t words) const;

private:
    static constexpr double largest = 1e300;

    std::vector<std::array<double, 256>> by_byte_;
};

/// Operands and output of a product. Labels that the same operands have, and the output has or not, are one label here
/// whose extent is the product of theirs; labels of extent 1 and those that are summed in a single operand, which
/// happens before anything is contracted, are none.
struct product_network {
    std::size_t operands = 0;
    std::vector<double> extents;  ///< by label of this network
    label_sets labels;            ///< of the operands, then of the output
    extent_products size_of;

    [[nodiscard]] const std::uint64_t* output() const { return labels.of(operands); }
};

/// The network of a product; the extents are by label of the einsum.
EINPARALLEL_INLINE product_network make_network(const std::vector<std::vector<label_id>>& operands,
                                                const std::vector<label_id>& output, const std::vector<index>& extents);

/// What an order costs: multiply-adds first, then elements of all results on the way.
struct order_cost {
    double operations = 0;
    double elements = 0;

    friend bool operator<(const order_cost& a, const order_cost& b) {
        return a.operations < b.operations || (a.operations == b.operations && a.elements < b.elements);
    }
};

/// Numbers of the two tensors that a step contracts; see pairwise_contraction.
struct tensor_pair {
    std::size_t left = 0;
    std::size_t right = 0;
};

/// The nodes of a tree of contractions, each after the two parts(node) that it reads, unless is_given(part): `root`
/// last.
template <class Parts, class IsGiven>
std::vector<std::size_t> bottom_up(std::size_t root, const Parts& parts, const IsGiven& is_given) {
    std::vector<std::size_t> listed{root};
    for (std::size_t position = 0; position < listed.size(); ++position) {
        const auto [left, right] = parts(listed[position]);
        for (const std::size_t part : {left, right}) {
            if (!is_given(part)) {
                listed.push_back(part);
            }
        }
    }
    std::ranges::reverse(listed);
    return listed;
}

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
        const auto parts = [&](std::size_t subset) { return std::pair(split_[subset], subset ^ split_[subset]); };
        for (const std::size_t subset : bottom_up(split_.size() - 1, parts, std::has_single_bit<std::size_t>)) {
            visit(subset, split_[subset], subset ^ split_[subset]);
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

/// An order and what it costs.
struct found_order {
    std::vector<tensor_pair> steps;
    order_cost cost;
};

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

/// Contracts, among pairs that share a label, the preferred one first; whatever is left then has nothing in common and
/// is multiplied smallest first.
EINPARALLEL_INLINE found_order greedy_contractions(const product_network& net, const greedy_taste& taste);

/// An order made better part by part: up to eight neighbouring tensors at a time are put into their cheapest order.
/// Goes over all of it until nothing gets better, four times at most, and weighs no more splits than `operations`.
EINPARALLEL_INLINE std::vector<tensor_pair> refined_contractions(const product_network& net,
                                                                 const std::vector<tensor_pair>& steps,
                                                                 double operations);

/// Labels of every result: those of the left tensor, then the right one's own, without what nobody needs any more.
EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count);

}  // namespace einparallel::EINPARALLEL_DETAIL
