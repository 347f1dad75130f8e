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
void contract_pair(const block_call& call, T scale, half_bits halves) {
    if (halves == 0 && product_of_few_points(call, scale)) {
        return;
    }
    loop_nest nest(call);
    if (has_terms(nest, call, scale)) {
        pair_contraction<T>(nest, {call.operands[0].data, halves & 3U}, {call.operands[1].data, halves >> 2U & 3U},
                            static_cast<T*>(call.output.data), scale, call.mode)
            .run();
    }
}

/// … of one operand, or more than two.
template <Element T>
void contract_several(const block_call& call, T scale, half_bits halves) {
    loop_nest nest(call);
    if (!has_terms(nest, call, scale)) {
        return;
    }
    T* const output = static_cast<T*>(call.output.data);
    row_operands operands;
    for (const operand_block& operand : call.operands) {
        operands.push_back(product_operand<T>{operand.data, halves >> 2 * operands.size() & 3U}.row());
    }
    nest.sort_by(0);
    if (operands.size() == 1 && halves == 0 && scale == T(1) && call.mode == write_mode::overwrite &&
        nest.all_in_output() && call.operands[0].data != output) {
        copy_nest(nest, sizeof(T), output, call.operands[0].data);
        return;
    }
    product_rows<T> worker(output, operands, scale, call.mode);
    run_rows(nest, worker);
}

template <Element T>
void contract_product(const block_call& call, T scale, half_bits halves) {
    const auto factor = static_cast<summed_as_t<T>>(scale);
    call.operands.size() == 2 ? contract_pair(call, factor, halves) : contract_several(call, factor, halves);
}

template <Element T>
op_program product_program(T scale, std::size_t operands, half_bits halves) {
    constexpr element_type type = element_type_of<T>();
    std::vector<element_type> types(operands, type);
    for (std::size_t operand = 0; operand < operands && halves != 0; ++operand) {
        if (const half_bits half = halves >> 2 * operand & 3U; half != 0) {
            types[operand] =
                with_half(half, []<class Half>(std::type_identity<Half> /*half*/) { return element_type_of<Half>(); });
        }
    }
    op_program made(reduction::sum, types);
    const auto join = [&](op_code code, std::initializer_list<op_register> arguments) {
        return made.call({code}, type, {}, arguments);
    };
    op_register product = join(op_code::cast, {0});
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
std::shared_ptr<const kernel> make_product_kernel(T scale, std::size_t operands, half_bits halves) {
    return std::make_shared<product_kernel<T>>(scale, operands, halves);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
