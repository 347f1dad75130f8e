#pragma once
// A product of many tensors as a network: its sets of labels, their sizes, and orders of pairwise contractions.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Sets of labels as bits. The number of labels is not limited; all sets of one computation lie in one array.
class label_sets {
public:
    label_sets(std::size_t label_count, std::size_t set_count)
        : words_(std::max<std::size_t>((label_count + 63) / 64, 1)), bits_(words_ * set_count, 0) {}

    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::uint64_t* of(std::size_t set) { return bits_.data() + set * words_; }
    [[nodiscard]] const std::uint64_t* of(std::size_t set) const { return bits_.data() + set * words_; }
    void insert(std::size_t set, std::size_t label) { of(set)[label / 64] |= std::uint64_t{1} << (label % 64); }

    /// Calls visit(label) for every label of a set, ascending.
    template <class Visit>
    void each(std::size_t set, Visit&& visit) const {
        for (std::size_t word = 0; word < words_; ++word) {
            for (std::uint64_t rest = of(set)[word]; rest != 0; rest &= rest - 1) {
                visit(word * 64 + std::size_t(std::countr_zero(rest)));
            }
        }
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// Operands and output of a product. Labels that stand in exactly the same operands and output are merged to one label,
/// whose extent is the product of theirs. The network has no labels of extent 1, and none that are summed in a single
/// operand, because this happens before anything is contracted.
struct product_network {
    std::size_t operands = 0;
    std::vector<double> extents;                    ///< by label of this network
    label_sets labels;                              ///< of the operands, then of the output
    std::vector<std::array<double, 256>> products;  ///< of extents, for every subset of each eight labels in a row

    /// The number of elements of a tensor with this set of labels. Whole numbers below 2^53 are exact. What is beyond
    /// 1e300 counts as 1e300, so that sums of sizes stay finite and can be compared.
    EINPARALLEL_INLINE [[nodiscard]] double size_of(const std::uint64_t* set) const;
};

/// The network of a product. `extents` are by label id of the einsum.
EINPARALLEL_INLINE product_network make_network(const std::vector<std::vector<label_id>>& operands,
                                                const std::vector<label_id>& output, const std::vector<index>& extents);

/// The numbers of the two tensors that a step contracts; see pairwise_contraction.
struct tensor_pair {
    std::size_t left = 0;
    std::size_t right = 0;

    friend bool operator==(const tensor_pair&, const tensor_pair&) = default;
};

/// An order and its multiply-adds.
struct found_order {
    std::vector<tensor_pair> steps;
    double operations = 0;
};

/// Sorts the steps of a tree of contractions, given in any sequence with the root last: each step comes after those
/// whose results it reads, and the subtree with the lowest operand is on the left. Equal trees give equal orders. With
/// `depth_first`, one subtree is complete before the next one begins.
EINPARALLEL_INLINE std::vector<tensor_pair> in_order(std::vector<tensor_pair> steps, bool depth_first = false);

}  // namespace einparallel::EINPARALLEL_DETAIL
