#pragma once

#include <einparallel/kernel/product/contract.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/few_points.hpp>
#include <einparallel/kernel/product/pair_contraction.hpp>
#include <einparallel/kernel/product/product_rows.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/work/work.hpp>

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

/// An operand of a product of T: integers of one size are elements of T as they are, modulo 2ⁿ.
template <Element T>
row_operand factor_of(const strided_block& block) {
    const element_type element = block.element;
    constexpr element_type own = element_type_of<T>();
    const auto is_whole = [](element_type type) { return type.kind == 'i' || type.kind == 'u'; };
    const bool is_same = is_whole(element) && is_whole(own) && element.bytes == own.bytes;
    return {block.data, is_same ? own : element};
}

template <Element T>
void contract_pair(const block_call& call, T scale) {
    const row_operand x = factor_of<T>(call.operands[0]);
    const row_operand y = factor_of<T>(call.operands[1]);
    if (x.template is<T>() && y.template is<T>() && product_of_few_points(call, scale)) {
        return;
    }
    loop_nest nest(call);
    if (has_terms(nest, call, scale)) {
        pair_contraction<T>(nest, x, y, static_cast<T*>(call.output.data), scale, call.mode).run();
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
    for (const strided_block& operand : call.operands) {
        operands.push_back(factor_of<T>(operand));
    }
    nest.sort_by(0);
    if (operands.size() == 1 && operands[0].template is<T>() && scale == T(1) && call.mode == write_mode::overwrite &&
        nest.all_in_output() && call.operands[0].data != output) {
        copy_nest(nest, sizeof(T), output, call.operands[0].data);
        return;
    }
    product_rows<T> worker(output, operands, scale, call.mode);
    run_rows(nest, worker);
}

template <class T>
void contract_product(const block_call& call, T scale) {
    const auto factor = static_cast<summed_as_t<T>>(scale);
    call.operands.size() == 2 ? contract_pair(call, factor) : contract_several(call, factor);
}

template <class T>
op_program product_program(T scale, std::span<const element_type> operands) {
    constexpr element_type type = element_type_of<T>();
    op_program made(reduction::sum, operands);
    const auto join = [&](op_code code, std::initializer_list<op_register> arguments) {
        return made.call({code}, type, {}, arguments);
    };
    op_register product = join(op_code::cast, {0});
    if (scale == T(-1) && scale != T(1)) {
        product = join(op_code::negate, {product});
    } else if (scale != T(1)) {
        product = join(op_code::multiply, {made.number(type, bits_of(scale)), product});
    }
    for (std::size_t operand = 1; operand < operands.size(); ++operand) {
        product = join(op_code::multiply, {product, op_register(operand)});
    }
    return made;
}

template <class T>
std::shared_ptr<const kernel> make_product_kernel(T scale, std::span<const element_type> operands) {
    // r − 1 multiplications and an addition; a complex multiply-add is eight real operations.
    const double operations = double(operands.size()) * (is_complex<T>::value ? 4.0 : 1.0);
    return std::make_shared<const kernel>(product_work{operands.size(), bits_of(scale)},
                                          product_program(scale, operands), row_reduction_of<T>(op::sum), operations,
                                          [](const block_call& call, const kernel& of) {
                                              contract_product<T>(call, number_of<T>(of.as<product_work>()->scale));
                                          });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
