#pragma once

#include <einparallel/kernel/contract_in_order.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    std::span<const index> extents, std::span<const label_id> out,
    const std::vector<std::span<const label_id>>& operands) {
    const auto is_like_output = [&](std::span<const label_id> labels) {
        return labels.size() == out.size() && std::is_permutation(out.begin(), out.end(), labels.begin());
    };
    if (std::ranges::all_of(operands, is_like_output)) {
        return {};
    }
    std::vector<std::vector<label_id>> present;
    for (const std::span<const label_id> labels : operands) {
        present.emplace_back(labels.begin(), labels.end());
        std::erase(present.back(), no_label);
    }
    return contraction_order(present, {out.begin(), out.end()}, {extents.begin(), extents.end()});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
