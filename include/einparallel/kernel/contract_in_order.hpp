#pragma once
// A product of many operands, contracted pair by pair in the cheapest order: shared by execution and recording.

#include <einparallel/kernel/contraction_order.hpp>
#include <einparallel/kernel/lower.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <span>
#include <type_traits>
#include <vector>

namespace einparallel::detail {

/// Chooses the order for these extents (by label id) and calls contract(is_last, labels, pair) for each contraction,
/// which returns the handle of its result. `is_last` is std::true_type for the one that makes the output, whose labels
/// are `out`. An element-wise product (every operand has every label of the output, and nothing else) is one
/// contraction of all.
template <class Handle, class Contract>
Handle contract_in_order(std::span<const index> extents, std::span<const label_id> out,
                         std::span<const labelled_handle<Handle>> operands, Contract&& contract) {
    const auto has_output_labels = [&](const labelled_handle<Handle>& operand) {
        return operand.labels.size() == out.size() &&
               std::is_permutation(out.begin(), out.end(), operand.labels.begin());
    };
    if (std::all_of(operands.begin(), operands.end(), has_output_labels)) {
        return contract(std::true_type{}, out, operands);
    }
    std::vector<std::vector<label_id>> labels;
    for (const labelled_handle<Handle>& operand : operands) {
        std::vector<label_id> present;
        for (const label_id label : operand.labels) {
            if (label != no_label) {
                present.push_back(label);
            }
        }
        labels.push_back(std::move(present));
    }
    const std::vector<pairwise_contraction> order = contraction_order(
        labels, std::vector<label_id>(out.begin(), out.end()), std::vector<index>(extents.begin(), extents.end()));

    // A list: the labels of an intermediate are referred to by its consumer and must stay where they are.
    std::vector<labelled_handle<Handle>> known(operands.begin(), operands.end());
    std::list<std::vector<label_id>> intermediate_labels;
    for (std::size_t position = 0; position + 1 < order.size(); ++position) {
        const pairwise_contraction& next = order[position];
        const std::array<labelled_handle<Handle>, 2> pair{known[next.left], known[next.right]};
        intermediate_labels.push_back(next.labels);
        const std::span<const label_id> made = intermediate_labels.back();
        known.push_back({contract(std::false_type{}, made, std::span<const labelled_handle<Handle>>(pair)), made});
    }
    const std::array<labelled_handle<Handle>, 2> pair{known[order.back().left], known[order.back().right]};
    return contract(std::true_type{}, out, std::span<const labelled_handle<Handle>>(pair));
}

}  // namespace einparallel::detail
