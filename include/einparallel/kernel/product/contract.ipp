#pragma once

#include <einparallel/kernel/product/contract.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/few_points.hpp>
#include <einparallel/kernel/product/pair_contraction.hpp>
#include <einparallel/kernel/product/product_rows.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>

#include <initializer_list>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Whether there are terms to sum; where not, writes zeros if the call overwrites. Loops that move nothing become part
/// of the scale.
template <Element T>
bool has_terms(loop_nest& nest, const block_call& call, T& scale) {
    if (!has_points(nest, call, row_reduction_of<T>(op::sum))) {
        return false;
    }
    if (const index repeats = drop_resting(nest); repeats > 1) {
        scale = op::prod(scale, converted<T>(repeats));
    }
    return true;
}

template <Element T>
void contract_pair(const block_call& call, T scale) {
    if (product_of_few_points(call, scale)) {
        return;
    }
    loop_nest nest(call);
    if (has_terms(nest, call, scale)) {
        const auto start = [&](std::size_t operand) { return static_cast<const T*>(call.operands[operand].data); };
        pair_contraction<T>(nest, start(0), start(1), static_cast<T*>(call.output.data), scale, call.mode).run();
    }
}

/// … of one operand, or more than two.
template <Element T>
void contract_several(const block_call& call, T scale) {
    loop_nest nest(call);
    if (!has_terms(nest, call, scale)) {
        return;
    }
    T* const output = static_cast<T*>(call.output.data);
    row_operands operands;
    for (const operand_block& operand : call.operands) {
        operands.push_back({static_cast<const std::byte*>(operand.data), index(sizeof(T))});
    }
    nest.sort_by(0);
    if (operands.size() == 1 && scale == T(1) && call.mode == write_mode::overwrite && nest.all_in_output() &&
        call.operands[0].data != output) {
        copy_nest(nest, sizeof(T), output, call.operands[0].data);
        return;
    }
    product_rows<T> worker(output, operands, scale, call.mode);
    run_rows(nest, worker);
}

template <Element T>
void contract_product(const block_call& call, T scale) {
    const auto factor = static_cast<summed_as_t<T>>(scale);
    call.operands.size() == 2 ? contract_pair(call, factor) : contract_several(call, factor);
}

template <Element T>
op_program product_program(T scale, std::size_t operands) {
    constexpr element_type type = element_type_of<T>();
    op_program made(reduction::sum, std::vector<element_type>(operands, type));
    const auto join = [&](op_code code, std::initializer_list<op_register> arguments) {
        return made.call({code}, type, {}, arguments);
    };
    op_register product = 0;
    if (scale == T(-1) && scale != T(1)) {
        product = join(op_code::negate, {product});
    } else if (scale != T(1)) {
        product = join(op_code::multiply, {made.number(type, bits_of(scale)), product});
    }
    for (std::size_t operand = 1; operand < operands; ++operand) {
        product = join(op_code::multiply, {product, op_register(operand)});
    }
    return made;
}

template <Element T>
std::shared_ptr<const kernel> make_product_kernel(T scale, std::size_t operands) {
    return std::make_shared<product_kernel<T>>(scale, operands);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
