#pragma once
// Products of a statement, for an element type.

#include <einparallel/array/immediate.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/notation/search_range.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

template <Element T, std::size_t Operands>
void run_product(const product_form& form, std::span<block_handle> blocks, T scale, growth grow) {
    if constexpr (Operands > 2) {
        const std::vector<statement_leaf> leaves = leaves_of(form, blocks);
        const label_span out(form.output, blocks[0].extents.size());
        immediate_builder builder(form.names, {blocks[0], out}, leaves, grow);
        const std::vector<labelled_block> operands = list_of(leaves, &statement_leaf::block);
        builder.product<T>(form.mode, out, std::span<const labelled_block>(operands), scale);
    } else {
        small_vector<index, 16> extents;
        operand_block operands[2];
        const block_call call = checked_call(form, blocks, extents, operands, grow);
        stored_codes stored = 0;
        for (std::size_t operand = 0; operand < Operands; ++operand) {
            stored |= stored_code_of(blocks[operand + 1].element, element_type_of<T>()) << 4 * operand;
        }
        if constexpr (Operands == 2) {
            contract_pair(call, static_cast<summed_as_t<T>>(scale), stored);
        } else {
            contract_product(call, scale, stored);
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
