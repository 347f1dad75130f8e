#pragma once
// In which order to contract a product of many tensors pair by pair: pure arithmetic on sets of labels and extents.

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

/// One contraction of two tensors. Tensors are numbered in the order in which they come to be: the r operands are
/// 0 … r − 1, the result of step s is r + s. Every number is used once, but that of the last result.
struct pairwise_contraction {
    std::size_t left = 0;
    std::size_t right = 0;
    std::vector<label_id> labels;  ///< of the result: those that the output or a tensor not yet contracted still needs

    friend bool operator==(const pairwise_contraction&, const pairwise_contraction&) = default;
};

/// Up to this many operands the order is the cheapest one; beyond, a greedy one, annealed.
inline constexpr std::size_t exact_order_limit = 12;

/// The order in which to contract Σ of the product of all operands pair by pair; empty for fewer than two operands,
/// otherwise one step less than there are operands. The last step's labels are the output's, in the output's order.
/// Up to exact_order_limit operands: the fewest multiply-adds (∏ of the extents of all labels of a pair, once labels of
/// a single tensor are summed), then the fewest elements of intermediates; outer products are considered. Beyond: a
/// greedy order, annealed. Deterministic: the same on every rank, with every compiler.
/// @param extents by label id
/// @param at_once  not 0: contractions follow at once, so often; the search takes a share of their time, and they come
///                 depth first, so that few results are held at a time
EINPARALLEL_INLINE std::vector<pairwise_contraction> contraction_order(
    const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
    const std::vector<index>& extents, double at_once = 0);

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// The order for a product in memory: `extents` by label id, operands' dimensions without a label left out. None for an
/// element-wise product, in which every operand has every label of the output and nothing else.
EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    index_span extents, label_span out, const std::vector<std::vector<label_id>>& operands, double at_once = 0);

/// The order of a product that is contracted at once, and the labels that are fixed so that intermediate results hold
/// no more than a limit of bytes at a time (0: no limit). Labels are fixed one after the other, each time the one that
/// costs the fewest multiply-adds.
struct sliced_order {
    std::vector<pairwise_contraction> steps;
    std::vector<label_id> fixed;
    std::vector<bool> varies;  ///< which tensors, the operands and then the results, are others at other indices of
                               ///< fixed labels: the rest is kept; none: nothing is
};
/// @throws error where more bytes are held with all labels fixed
EINPARALLEL_INLINE sliced_order order_within(const std::vector<index>& extents, label_span out,
                                             const std::vector<std::vector<label_id>>& operands,
                                             std::size_t element_bytes, std::size_t most_bytes);

/// The order that contracts, among pairs that share a label, the one with the smallest size of result − `weight` ·
/// sizes of the pair first; whatever is left then has nothing in common and is multiplied smallest first.
EINPARALLEL_INLINE found_order greedy_order(const product_network& net, double weight);

/// The order with the fewest multiply-adds; none where every order takes more than `most`. The cheapest way to make the
/// product of a subset of tensors is the cheapest split of it into two, outer products included: 3^r / 2 splits of r
/// tensors, each two loads where it cannot win. Memory 2^r.
EINPARALLEL_INLINE std::vector<tensor_pair> exact_order(const product_network& net, double most);

/// The next of a sequence of numbers that is the same on every machine and compiler (splitmix64).
constexpr std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

/// A cheap order of many tensors: greedy ones, then the tree of the best annealed by turning one contraction at a time.
/// It never costs more than the greedy ones, and weighs no more turns than it takes operations, times `effort`.
EINPARALLEL_INLINE found_order annealed_order(const product_network& net, double effort = 1);

/// Labels of every result: those of the left tensor, then the right one's own, without what nobody needs any more.
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

/// Calls contract(is_last, labels, pair) for each contraction of operands, which are made of a handle and labels; it
/// returns the handle of its result. `is_last` is true for the one that makes the output, whose labels are `out`.
/// Without an order this is one contraction of all.
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
