#pragma once
// Products of a statement, for an element type.

#include <einparallel/array/immediate.hpp>
#include <einparallel/kernel/product/contract.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T, std::size_t Operands>
void run_product(const product_form& form, std::span<strided_block> blocks, T scale, growth grow) {
    const written_indices indices = write_indices(blocks.subspan(1));
    if constexpr (Operands > 2) {
        const std::span<const strided_block> operands = blocks.subspan(1);
        immediate_builder builder(form.names, blocks[0], leaves_of(operands, form.in_place), grow);
        builder.product<T>(form.mode, blocks[0].labels, operands, scale);
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
