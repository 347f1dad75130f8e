#pragma once
// Products of a statement, for an element type.

#include <einparallel/array/immediate.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/notation/search_range.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T, std::size_t Operands>
void run_product(const product_form& form, std::span<strided_block> blocks, T scale, growth grow) {
    if constexpr (Operands > 2) {
        const std::vector<statement_leaf> leaves = leaves_of(form, blocks);
        const label_span out(form.output, blocks[0].extents.size());
        immediate_builder builder(form.names, {blocks[0], out}, leaves, grow);
        const std::vector<strided_block> operands = list_of(leaves, &statement_leaf::block);
        builder.product<T>(form.mode, out, std::span<const strided_block>(operands), scale);
    } else {
        small_vector<index, 16> extents;
        const block_call call = checked_call(form, blocks, extents, grow);
        if constexpr (Operands == 2) {
            contract_pair(call, static_cast<summed_as_t<T>>(scale));
        } else {
            contract_product(call, scale);
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
