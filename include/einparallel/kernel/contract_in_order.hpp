#pragma once
// A product of many operands, contracted pair by pair in the cheapest order: shared by execution and recording.

#include <einparallel/kernel/contraction_order.hpp>
#include <einparallel/kernel/lower.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Chooses the order for these extents (by label id) and calls contract(is_last, labels, pair) for each contraction,
/// which returns the handle of its result. `is_last` is true for the one that makes the output, whose labels
/// are `out`. An element-wise product (every operand has every label of the output, and nothing else) is one
/// contraction of all.
template <class Handle, class Contract>
Handle contract_in_order(std::span<const index> extents, std::span<const label_id> out,
                         std::span<const labelled_handle<Handle>> operands, Contract&& contract) {
    std::vector<std::span<const label_id>> labels;
    labels.reserve(operands.size());
    for (const labelled_handle<Handle>& operand : operands) {
        labels.push_back(operand.labels);
    }
    const std::vector<pairwise_contraction> order = order_of_operands(extents, out, labels);
    if (order.empty()) {
        return contract(true, out, operands);
    }
    std::vector<labelled_handle<Handle>> known(operands.begin(), operands.end());
    for (const pairwise_contraction& step : order) {
        const bool is_last = &step == &order.back();
        const std::array<labelled_handle<Handle>, 2> pair{known[step.left], known[step.right]};
        const std::span<const label_id> made = is_last ? out : step.labels;
        known.push_back({contract(is_last, made, std::span<const labelled_handle<Handle>>(pair)), made});
    }
    return known.back().handle;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
