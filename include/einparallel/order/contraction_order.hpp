#pragma once
// The order in which a product of many tensors is contracted pair by pair: pure arithmetic on sets of labels and
// extents.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/order/product_network.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace einparallel {

/// One contraction of two tensors. Tensors are numbered in the order in which they come to exist: the r operands are 0
/// … r − 1, and the result of step s is r + s. Every tensor except the last result is contracted once.
struct pairwise_contraction {
    std::size_t left = 0;
    std::size_t right = 0;
    std::vector<label_id> labels;  ///< of the result: labels that the output or a tensor not yet contracted needs

    friend bool operator==(const pairwise_contraction&, const pairwise_contraction&) = default;
};

/// Up to this many operands, the order found is the cheapest one. For more operands it is a greedy order, improved by
/// annealing.
inline constexpr std::size_t exact_order_limit = 12;

/// The order in which Σ of the product of all operands is contracted pair by pair. It is empty for fewer than two
/// operands; otherwise it has one step less than there are operands. The labels of the last step are the output's, in
/// the output's order.
/// Up to exact_order_limit operands, the order has the fewest multiply-adds, and among such orders the fewest elements
/// of intermediates. The multiply-adds of a pair are the product of the extents of all its labels, once labels of a
/// single tensor are summed. Outer products are considered. For more operands it is a greedy order, improved by
/// annealing. The result is deterministic: the same on every rank, with every compiler.
/// @param extents by label id
/// @param at_once  not 0: the contractions follow at once, this many times. The search then takes a share of their
/// time, and the steps come depth first, so that few results are held at a time
EINPARALLEL_INLINE std::vector<pairwise_contraction> contraction_order(
    const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
    const std::vector<index>& extents, double at_once = 0);

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// The order for a product in memory. `extents` are by label id; `operands` leave out dimensions without a label. The
/// order is empty for an element-wise product, in which every operand has exactly the labels of the output.
EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    index_span extents, label_span out, const std::vector<std::vector<label_id>>& operands, double at_once = 0);

/// The order of a product that is contracted at once, and the labels that are fixed so that intermediate results hold
/// no more than a limit of bytes at a time (0: no limit). Labels are fixed one by one, each time the one that costs the
/// fewest multiply-adds.
struct sliced_order {
    std::vector<pairwise_contraction> steps;
    std::vector<label_id> fixed;
    std::vector<bool> varies;  ///< by tensor, the operands and then the results: true where it changes with the
                               ///< fixed labels. The others are kept for all slices. Empty: nothing is kept
};
/// Finds such an order. @throws error where more bytes are held even with all labels fixed
EINPARALLEL_INLINE sliced_order order_within(const std::vector<index>& extents, label_span out,
                                             const std::vector<std::vector<label_id>>& operands,
                                             std::size_t element_bytes, std::size_t most_bytes);

/// The greedy order. Among pairs that share a label, it contracts the one with the smallest score first: size of the
/// result − `weight` · (sizes of the pair). The tensors that are left then share no label; the smallest are multiplied
/// first.
EINPARALLEL_INLINE found_order greedy_order(const product_network& net, double weight);

/// The order with the fewest multiply-adds; empty where every order takes more than `most`. The cheapest order of a
/// subset of tensors is its cheapest split into two, outer products included. r tensors have about 3^r / 2 splits, each
/// of which takes two loads where it cannot win. Memory is proportional to 2^r.
EINPARALLEL_INLINE std::vector<tensor_pair> exact_order(const product_network& net, double most);

/// The next number of a pseudo-random sequence that is the same on every machine and compiler (splitmix64).
constexpr std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

/// A cheap order of many tensors: the best of some greedy orders, improved by annealing, which changes the tree of
/// contractions one turn at a time. It never costs more than the greedy orders. Annealing weighs at most `effort` turns
/// per multiply-add of the best greedy order.
EINPARALLEL_INLINE found_order annealed_order(const product_network& net, double effort = 1);

/// Adds the labels of every result to the steps: those of the tensor with more labels (of the left one, if both have as
/// many), in their order, without labels that nothing needs any more. Those that only the other tensor has follow where
/// the first label vanished, so that a matrix times a tensor changes one dimension of it, and no order.
EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count);

/// The labels of each of these operands.
template <class Operand>
std::vector<std::vector<label_id>> labels_of(std::span<const Operand> operands) {
    return list_of(operands, [](const Operand& operand) {
        return std::vector<label_id>(operand.labels.begin(), operand.labels.end());
    });
}

/// Calls contract(is_last, labels, pair) for each contraction of operands. Operands consist of a handle and labels;
/// `contract` returns the handle of its result. `is_last` is true for the contraction that makes the output, whose
/// labels are `out`. Without an order there is one contraction of all operands.
template <class Operand, class Contract>
auto contract_in_order(const std::vector<pairwise_contraction>& order, label_span out,
                       std::span<const Operand> operands, const Contract& contract) {
    if (order.empty()) {
        return contract(true, out, operands);
    }
    std::vector<Operand> known(operands.begin(), operands.end());
    decltype(contract(true, out, operands)) last{};
    for (const pairwise_contraction& step : order) {
        const bool is_last = &step == &order.back();
        const Operand pair[] = {known[step.left], known[step.right]};
        const label_span made = is_last ? out : step.labels;
        last = contract(is_last, made, std::span<const Operand>(pair));
        known.push_back({last, made});
    }
    return last;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
