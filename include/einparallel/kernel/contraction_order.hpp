#pragma once
// In which order to contract a product of many tensors pair by pair: pure arithmetic on labels and extents.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
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

/// Up to this many operands the order is the cheapest one; beyond, a greedy one.
inline constexpr std::size_t exact_order_limit = 10;

}  // namespace einparallel

namespace einparallel::detail {

/// Sets of labels as bits, any number of labels; all sets of one computation lie in one array.
class label_sets {
public:
    label_sets(std::size_t label_count, std::size_t set_count)
        : words_((label_count + 63) / 64), bits_(words_ * set_count, 0) {}

    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::uint64_t* of(std::size_t set) { return bits_.data() + set * words_; }
    [[nodiscard]] const std::uint64_t* of(std::size_t set) const { return bits_.data() + set * words_; }
    void insert(std::size_t set, label_id label) {
        const auto position = static_cast<std::size_t>(label);
        of(set)[position / 64] |= std::uint64_t{1} << (position % 64);
    }
    [[nodiscard]] bool has(std::size_t set, std::size_t label) const {
        return (of(set)[label / 64] >> (label % 64) & 1U) != 0;
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// Finds the order; see contraction_order. A template on nothing: who never contracts more than two operands does not
/// wait for its compilation.
template <class Lazy = void>
class order_search {
public:
    order_search(const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
                 const std::vector<index>& extents)
        : operands_(operands), output_(output), extents_(extents) {}

    std::vector<pairwise_contraction> run() {
        if (operands_.size() < 2) {
            return {};
        }
        std::vector<pairwise_contraction> steps = operands_.size() <= exact_order_limit ? exact() : greedy();
        label_results(steps);
        return steps;
    }

private:
    /// Elements of a tensor with these labels.
    [[nodiscard]] double size_of(const std::uint64_t* set, std::size_t words) const {
        double size = 1;
        for (std::size_t word = 0; word < words; ++word) {
            for (std::uint64_t rest = set[word]; rest != 0; rest &= rest - 1) {
                size *= static_cast<double>(extents_[word * 64 + lowest_bit(rest)]);
            }
        }
        return size;
    }
    static std::size_t lowest_bit(std::uint64_t word) { return static_cast<std::size_t>(std::countr_zero(word)); }

    /// Dynamic programming over subsets of operands: the cheapest way to make the product of a subset is the cheapest
    /// split into two. 3^r steps.
    std::vector<pairwise_contraction> exact() const {
        const std::size_t count = operands_.size();
        const std::size_t subsets = std::size_t{1} << count;
        label_sets any(extents_.size(), subsets);   // labels of the operands in the subset
        label_sets kept(extents_.size(), subsets);  // those that the product of the subset must still have
        const std::size_t words = any.words();
        label_sets written(extents_.size(), 1);
        for (const label_id label : output_) {
            insert(written, 0, label);
        }
        for (std::size_t operand = 0; operand < count; ++operand) {
            for (const label_id label : operands_[operand]) {
                insert(any, std::size_t{1} << operand, label);
            }
        }
        for (std::size_t subset = 1; subset < subsets; ++subset) {
            const std::size_t lowest = subset & (~subset + 1);
            for (std::size_t word = 0; word < words && subset != lowest; ++word) {
                any.of(subset)[word] = any.of(lowest)[word] | any.of(subset ^ lowest)[word];
            }
        }
        for (std::size_t subset = 1; subset < subsets; ++subset) {
            for (std::size_t word = 0; word < words; ++word) {
                kept.of(subset)[word] =
                    any.of(subset)[word] & (written.of(0)[word] | any.of(subsets - 1 - subset)[word]);
            }
        }
        struct best {
            double operations = std::numeric_limits<double>::infinity();
            double elements = 0;  // of all results on the way
            std::size_t left = 0;
        };
        std::vector<best> table(subsets);
        std::vector<std::uint64_t> joined(words);
        for (std::size_t subset = 1; subset < subsets; ++subset) {
            best& mine = table[subset];
            if ((subset & (subset - 1)) == 0) {
                mine.operations = 0;
                continue;
            }
            const double size = size_of(kept.of(subset), words);
            const std::size_t lowest = subset & (~subset + 1);
            bool found = false;
            for (std::size_t left = (subset - 1) & subset; left != 0; left = (left - 1) & subset) {
                if ((left & lowest) == 0) {  // each split once
                    continue;
                }
                const std::size_t right = subset ^ left;
                for (std::size_t word = 0; word < words; ++word) {
                    joined[word] = kept.of(left)[word] | kept.of(right)[word];
                }
                const double operations =
                    table[left].operations + table[right].operations + size_of(joined.data(), words);
                const double elements = table[left].elements + table[right].elements + size;
                if (!found || operations < mine.operations ||
                    (operations == mine.operations && elements < mine.elements)) {
                    mine = {operations, elements, left};
                    found = true;
                }
            }
        }
        // Children before parents: list the splits from the root, then turn the list round.
        std::vector<std::size_t> listed{subsets - 1};
        for (std::size_t position = 0; position < listed.size(); ++position) {
            const std::size_t left = table[listed[position]].left;
            for (const std::size_t part : {left, listed[position] ^ left}) {
                if ((part & (part - 1)) != 0) {
                    listed.push_back(part);
                }
            }
        }
        std::reverse(listed.begin(), listed.end());
        std::vector<std::size_t> number(subsets, 0);
        for (std::size_t operand = 0; operand < count; ++operand) {
            number[std::size_t{1} << operand] = operand;
        }
        std::vector<pairwise_contraction> steps;
        for (const std::size_t subset : listed) {
            const std::size_t left = table[subset].left;
            number[subset] = count + steps.size();
            steps.push_back({number[left], number[subset ^ left], {}});
        }
        return steps;
    }

    /// The pair whose product is smallest beside what it replaces goes first, among pairs that share a label; whatever
    /// is left then has nothing in common and is multiplied smallest first.
    std::vector<pairwise_contraction> greedy() const {
        const std::size_t count = operands_.size();
        const std::size_t labels = extents_.size();
        label_sets has(labels, 2 * count - 1);
        const std::size_t words = has.words();
        std::vector<std::size_t> users(labels, 0);  // tensors not yet contracted that have the label, and the output
        for (const label_id label : output_) {
            if (label != no_label) {
                ++users[static_cast<std::size_t>(label)];
            }
        }
        std::vector<double> size(2 * count - 1, 0);
        std::vector<bool> alive(2 * count - 1, false);
        std::vector<std::vector<std::size_t>> having(labels);
        const auto enter = [&](std::size_t tensor) {
            for (std::size_t label = 0; label < labels; ++label) {
                if (has.has(tensor, label)) {
                    ++users[label];
                    having[label].push_back(tensor);
                }
            }
            alive[tensor] = true;
        };
        for (std::size_t operand = 0; operand < count; ++operand) {
            for (const label_id label : operands_[operand]) {
                insert(has, operand, label);
            }
            enter(operand);
        }
        const auto drop_private = [&](std::size_t tensor) {
            for (std::size_t label = 0; label < labels; ++label) {
                if (users[label] == 1 && has.has(tensor, label)) {
                    has.of(tensor)[label / 64] &= ~(std::uint64_t{1} << (label % 64));
                    users[label] = 0;
                }
            }
            size[tensor] = size_of(has.of(tensor), words);
        };
        for (std::size_t operand = 0; operand < count; ++operand) {
            drop_private(operand);
        }

        struct candidate {
            double gain;  // elements that appear less those that vanish: smallest first
            std::size_t left;
            std::size_t right;
            bool operator<(const candidate& other) const {
                return std::tie(gain, left, right) > std::tie(other.gain, other.left, other.right);
            }
        };
        std::priority_queue<candidate> queue;
        std::vector<std::uint64_t> result(words);
        const auto product = [&](std::size_t left, std::size_t right) {
            for (std::size_t word = 0; word < words; ++word) {
                const std::uint64_t both = has.of(left)[word] & has.of(right)[word];
                result[word] = has.of(left)[word] | has.of(right)[word];
                for (std::uint64_t rest = both; rest != 0; rest &= rest - 1) {
                    if (users[word * 64 + lowest_bit(rest)] == 2) {
                        result[word] &= ~(rest & (~rest + 1));
                    }
                }
            }
        };
        const auto propose = [&](std::size_t left, std::size_t right) {
            product(left, right);
            queue.push({size_of(result.data(), words) - size[left] - size[right], left, right});
        };
        std::vector<std::size_t> seen(2 * count - 1, static_cast<std::size_t>(-1));
        const auto propose_neighbours = [&](std::size_t tensor, bool only_earlier) {
            for (std::size_t label = 0; label < labels; ++label) {
                if (!has.has(tensor, label)) {
                    continue;
                }
                for (const std::size_t other : having[label]) {
                    if (other != tensor && alive[other] && seen[other] != tensor && (!only_earlier || other < tensor)) {
                        seen[other] = tensor;
                        propose(other, tensor);
                    }
                }
            }
        };
        for (std::size_t operand = 0; operand < count; ++operand) {
            propose_neighbours(operand, true);
        }

        std::vector<pairwise_contraction> steps;
        const auto contract = [&](std::size_t left, std::size_t right) {
            const std::size_t made = count + steps.size();
            product(left, right);
            std::copy(result.begin(), result.end(), has.of(made));
            for (const std::size_t gone : {left, right}) {
                alive[gone] = false;
                for (std::size_t label = 0; label < labels; ++label) {
                    users[label] -= has.has(gone, label) ? 1 : 0;
                }
            }
            enter(made);
            size[made] = size_of(has.of(made), words);
            steps.push_back({left, right, {}});
            return made;
        };
        while (!queue.empty()) {
            const candidate next = queue.top();
            queue.pop();
            if (alive[next.left] && alive[next.right]) {
                propose_neighbours(contract(next.left, next.right), false);
            }
        }
        using sized = std::pair<double, std::size_t>;
        std::priority_queue<sized, std::vector<sized>, std::greater<>> apart;
        for (std::size_t tensor = 0; tensor < count + steps.size(); ++tensor) {
            if (alive[tensor]) {
                apart.emplace(size[tensor], tensor);
            }
        }
        while (apart.size() > 1) {
            const std::size_t left = apart.top().second;
            apart.pop();
            const std::size_t right = apart.top().second;
            apart.pop();
            const std::size_t made = contract(std::min(left, right), std::max(left, right));
            apart.emplace(size[made], made);
        }
        return steps;
    }

    static void insert(label_sets& sets, std::size_t set, label_id label) {
        if (label != no_label) {
            sets.insert(set, label);
        }
    }

    /// Labels of every result: those of the left tensor, then the right one's own, without what nobody needs any more.
    void label_results(std::vector<pairwise_contraction>& steps) const {
        std::vector<std::size_t> users(extents_.size(), 0);
        std::vector<std::vector<label_id>> labels(operands_.size());
        const auto count_in = [&](const std::vector<label_id>& list) {
            for (const label_id label : list) {
                ++users[static_cast<std::size_t>(label)];
            }
        };
        const auto without_repeats = [](std::vector<label_id>& into, const std::vector<label_id>& list) {
            for (const label_id label : list) {
                if (label != no_label && std::find(into.begin(), into.end(), label) == into.end()) {
                    into.push_back(label);
                }
            }
        };
        std::vector<label_id> written;
        without_repeats(written, output_);
        count_in(written);
        for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
            without_repeats(labels[operand], operands_[operand]);
            count_in(labels[operand]);
        }
        for (pairwise_contraction& step : steps) {
            std::vector<label_id> joined = labels[step.left];
            without_repeats(joined, labels[step.right]);
            for (const std::size_t gone : {step.left, step.right}) {
                for (const label_id label : labels[gone]) {
                    --users[static_cast<std::size_t>(label)];
                }
            }
            std::erase_if(joined, [&](label_id label) { return users[static_cast<std::size_t>(label)] == 0; });
            count_in(joined);
            step.labels = joined;
            labels.push_back(std::move(joined));
        }
        steps.back().labels = output_;
    }

    const std::vector<std::vector<label_id>>& operands_;
    const std::vector<label_id>& output_;
    const std::vector<index>& extents_;
};

}  // namespace einparallel::detail

namespace einparallel {

/// The order in which to contract Σ of the product of all operands pair by pair; empty for fewer than two operands,
/// otherwise one step less than there are operands. The last step's labels are the output's, in the output's order.
/// Up to exact_order_limit operands: the fewest multiply-adds (∏ of the extents of all labels of a pair, once labels of
/// a single tensor are summed), then the fewest elements of intermediates; outer products are considered. Beyond:
/// greedy, by the growth of memory. Deterministic.
/// @param extents by label id
template <class Lazy = void>
std::vector<pairwise_contraction> contraction_order(const std::vector<std::vector<label_id>>& operands,
                                                    const std::vector<label_id>& output,
                                                    const std::vector<index>& extents) {
    return detail::order_search<Lazy>(operands, output, extents).run();
}

}  // namespace einparallel
