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

/// Of operands whose elements are not those of T as they are; integers of one size are, modulo 2ⁿ.
template <Element T>
constexpr stored_codes others_than(stored_codes stored) {
    stored_codes others = 0;
    for (std::size_t operand = 0; operand < 16 && stored != 0; ++operand) {
        const stored_code code = stored_code_in(stored, operand);
        const bool is_same = std::is_integral_v<T> && code != 0 && element_of_code(code).bytes == sizeof(T) &&
                             element_of_code(code).kind != 'f';
        others |= (is_same ? 0 : code) << 4 * operand;
    }
    return others;
}

template <Element T>
void contract_pair(const block_call& call, T scale, stored_codes codes) {
    const stored_codes stored = others_than<T>(codes);
    if (stored == 0 && product_of_few_points(call, scale)) {
        return;
    }
    loop_nest nest(call);
    if (has_terms(nest, call, scale)) {
        pair_contraction<T>(nest, {call.operands[0].data, stored_code_in(stored, 0)},
                            {call.operands[1].data, stored_code_in(stored, 1)}, static_cast<T*>(call.output.data),
                            scale, call.mode)
            .run();
    }
}

/// … of one operand, or more than two.
template <Element T>
void contract_several(const block_call& call, T scale, stored_codes codes) {
    const stored_codes stored = others_than<T>(codes);
    loop_nest nest(call);
    if (!has_terms(nest, call, scale)) {
        return;
    }
    T* const output = static_cast<T*>(call.output.data);
    row_operands operands;
    for (const operand_block& operand : call.operands) {
        operands.push_back(product_operand<T>{operand.data, stored_code_in(stored, operands.size())}.row());
    }
    nest.sort_by(0);
    if (operands.size() == 1 && stored == 0 && scale == T(1) && call.mode == write_mode::overwrite &&
        nest.all_in_output() && call.operands[0].data != output) {
        copy_nest(nest, sizeof(T), output, call.operands[0].data);
        return;
    }
    product_rows<T> worker(output, operands, scale, call.mode);
    run_rows(nest, worker);
}

template <Element T>
void contract_product(const block_call& call, T scale, stored_codes stored) {
    const auto factor = static_cast<summed_as_t<T>>(scale);
    call.operands.size() == 2 ? contract_pair(call, factor, stored) : contract_several(call, factor, stored);
}

template <Element T>
op_program product_program(T scale, std::size_t operands, stored_codes stored) {
    constexpr element_type type = element_type_of<T>();
    std::vector<element_type> types(operands, type);
    for (std::size_t operand = 0; operand < operands && stored != 0; ++operand) {
        const stored_code code = stored_code_in(stored, operand);
        types[operand] = code != 0 ? element_of_code(code) : type;
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
std::shared_ptr<const kernel> make_product_kernel(T scale, std::size_t operands, stored_codes stored) {
    // r − 1 multiplications and an addition; a complex multiply-add is eight real operations.
    const double operations = double(operands) * (is_complex<T>::value ? 4.0 : 1.0);
    return std::make_shared<const kernel>(
        product_work{element_type_of<T>(), operands, bits_of(scale), stored}, product_program(scale, operands, stored),
        row_reduction_of<T>(op::sum), operations,
        [](const block_call& call, const kernel& of) { run_product_work<T>(call, *of.as<product_work>()); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
