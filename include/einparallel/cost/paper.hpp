#pragma once
// The paper's three cost functions (EinDecomp §7): numbers moved, an upper bound, with real division.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>

namespace einparallel::cost {

/// Elements of one block of a tensor with these labels: ∏ (b/d)[ℓ] over its dimensions, where b are the `extents` and d
/// the `parts`, both by unique label. A dimension without label counts 1.
[[nodiscard]] constexpr double block_elements(label_span labels, index_span extents, std::span<const int> parts) {
    double elements = 1;
    for (const label_id label : labels) {
        if (label != no_label) {
            const auto position = std::size_t(label);
            elements *= double(extents[position]) / double(parts[position]);
        }
    }
    return elements;
}

/// Kernel calls of a vertex: ∏d, the product of the parts of its unique labels.
[[nodiscard]] constexpr double kernel_calls(std::span<const int> parts) {
    return detail::product_in(parts, 1.0);
}

/// Numbers moved into the join: ∏d · Σ_r n_r, with n_r the elements of one block of operand r. `extents` and `parts`
/// are by label of `form`.
[[nodiscard]] constexpr double join(const einsum_form& form, index_span extents, std::span<const int> parts) {
    return kernel_calls(parts) * detail::sum_in(std::span(form.operands), 0.0, [&](const auto& labels) {
               return block_elements(labels, extents, parts);
           });
}

/// Numbers moved into the aggregation: (∏d / n_agg) · (n_agg − 1) · n_Z, where n_agg is the number of blocks that are
/// aggregated into one (∏ d over the labels that the output lacks) and n_Z the elements of one block of the output.
[[nodiscard]] constexpr double aggregate(const einsum_form& form, index_span extents, std::span<const int> parts) {
    double aggregated = 1;
    for (std::size_t label = 0; label < parts.size(); ++label) {
        aggregated *= form.in_output(label_id(label)) ? 1 : parts[label];
    }
    return kernel_calls(parts) / aggregated * (aggregated - 1) * block_elements(form.output, extents, parts);
}

/// Numbers moved between a producer and a consumer of one tensor that cut its dimensions into `producer` and `consumer`
/// parts: (n_c/n_int − 1) · (n/n_c) · (n_c + n_p), and n_p · n/n_c more where n_p ≠ n_int. Here n is the number of
/// elements of the tensor, n_p and n_c those of a block of the producer and of the consumer, and n_int those of a block
/// that is cut along each dimension into the larger number of parts. Nothing moves where the partitionings are equal or
/// the tensor is empty. (The paper writes n = ∏d and d[ℓ_Z]; it means the product of the bounds and the cuts of this
/// tensor's own dimensions.)
[[nodiscard]] constexpr double repartition(index_span bounds, std::span<const int> producer,
                                           std::span<const int> consumer) {
    double whole = 1;
    double producer_block = 1;
    double consumer_block = 1;
    double common = 1;
    bool producer_is_common = true;
    bool equal = true;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        const auto bound = double(bounds[dimension]);
        whole *= bound;
        producer_block *= bound / producer[dimension];
        consumer_block *= bound / consumer[dimension];
        const bool is_finer = producer[dimension] >= consumer[dimension];
        common *= bound / (is_finer ? producer[dimension] : consumer[dimension]);
        producer_is_common = producer_is_common && is_finer;
        equal = equal && producer[dimension] == consumer[dimension];
    }
    if (equal || whole == 0) {
        return 0;
    }
    const double consumers = whole / consumer_block;
    const double moved = (consumer_block / common - 1) * consumers * (consumer_block + producer_block);
    return moved + (producer_is_common ? 0 : producer_block * consumers);
}

/// The same with braces: `repartition({8, 8}, {2, 4}, {4, 1})` is 320.
[[nodiscard]] constexpr double repartition(std::initializer_list<index> bounds, std::initializer_list<int> producer,
                                           std::initializer_list<int> consumer) {
    return repartition(index_span(bounds.begin(), bounds.size()),
                       std::span<const int>(producer.begin(), producer.size()),
                       std::span<const int>(consumer.begin(), consumer.size()));
}

}  // namespace einparallel::cost
