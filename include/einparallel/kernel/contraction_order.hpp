#pragma once
// In which order to contract a product of many tensors pair by pair: pure arithmetic on labels and extents.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
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

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

struct tensor_pair;

/// Bounds of the search beyond the exact one: greedy runs, and pairs weighed in all of them.
inline constexpr std::size_t greedy_runs_limit = 64;
inline constexpr std::size_t greedy_proposals_limit = 200'000;

/// Labels of every result: those of the left tensor, then the right one's own, without what nobody needs any more.
EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

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
