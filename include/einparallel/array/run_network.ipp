#pragma once
// Products of many operands, pair by pair, and in slices where memory is limited.

#include <einparallel/array/immediate.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/order/contraction_order.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE immediate_builder::handle immediate_builder::chain(
    destination sink, label_span out, std::span<const strided_block> operands,
    const std::vector<pairwise_contraction>* order, element_type element,
    function_ref<void(bool is_last, const block_call&)> contract, kept_results* kept) {
    std::size_t tensor = operands.size();
    return contract_in_order(
        order != nullptr ? *order : order_of_operands(learn_extents(operands), out, labels_of(operands)), out, operands,
        [&](bool is_last, label_span labels, std::span<const strided_block> read) {
            const std::size_t result = tensor++;
            const bool is_kept = kept != nullptr && !kept->varies.empty() && !kept->varies[result];
            if (is_kept && kept->is_made) {
                return kept->made[result];
            }
            const handle made = run(is_last ? sink : std::nullopt, labels, read, element,
                                    [&](const block_call& block) { contract(is_last, block); });
            std::erase_if(temporaries_, [&](const auto& own) {
                const auto is_it = [&](const strided_block& each) { return each.data == own->bytes.get(); };
                return any_in(read, [&](const strided_block& each) { return is_it(each); }) &&
                       (kept == nullptr || is_kept || !any_in(kept->made, is_it));
            });
            if (is_kept) {
                for (strided_block& each : kept->made) {
                    const bool is_gone = any_in(read, [&](const auto& one) { return one.data == each.data; });
                    each = is_gone ? strided_block() : each;
                }
                kept->made[result] = made;
            }
            return made;
        });
}

EINPARALLEL_INLINE void immediate_builder::network(std::span<const strided_block> operands, std::size_t most_bytes,
                                                   block_work contract) {
    const index_span learnt = learn_extents(operands);
    const std::vector<index> extents(learnt.begin(), learnt.end());
    const label_span out = target_.labels;
    const element_type element = target_.element;
    const sliced_order found = order_within(extents, out, labels_of(operands), element.bytes, most_bytes);

    // A fixed label becomes no_label, and every block begins at the fixed index.
    std::vector<strided_block> blocks(operands.begin(), operands.end());
    blocks.push_back(target_);
    std::vector<std::vector<label_id>> labels = labels_of(std::span<const strided_block>(blocks));
    std::vector<index> steps;  // in bytes, by fixed label and block
    for (const label_id fixed : found.fixed) {
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            index& step = steps.emplace_back(0);
            for (std::size_t dimension = 0; dimension < labels[block].size(); ++dimension) {
                if (labels[block][dimension] == fixed) {
                    step += blocks[block].strides[dimension] * index(element.bytes);
                    labels[block][dimension] = no_label;
                }
            }
            blocks[block].labels = labels[block];
        }
    }
    index slices = 1;
    for_each_in(found.fixed, [&](label_id fixed) { slices *= extents[std::size_t(fixed)]; });
    kept_results kept{found.varies, std::vector<strided_block>(found.varies.size())};
    const std::vector<strided_block> first = blocks;
    for (index number = 0; number < slices; ++number) {
        write_mode mode = write_mode::overwrite;
        blocks = first;
        index rest = number;
        for (std::size_t step = 0; step < steps.size(); ++step) {
            const std::size_t block = step % blocks.size();
            const label_id fixed = found.fixed[step / blocks.size()];
            const index at = rest % extents[std::size_t(fixed)];
            blocks[block].data = static_cast<std::byte*>(blocks[block].data) + at * steps[step];
            if (block + 1 == blocks.size()) {
                rest /= extents[std::size_t(fixed)];
                mode = at == 0 || found_in(fixed, out) ? mode : write_mode::combine;
            }
        }
        target_ = blocks.back();
        chain(
            mode, target_.labels, std::span(blocks).first(operands.size()), &found.steps, element,
            [&](bool /*is_last*/, const block_call& block) { contract(block); }, &kept);
        kept.is_made = true;
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
