#pragma once

#include <einparallel/kernel/product/contract.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/few_points.hpp>
#include <einparallel/kernel/product/pair_contraction.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/work/product_rows.hpp>
#include <einparallel/kernel/work/work.hpp>

#include <initializer_list>
#include <memory>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where both operands have elements of T: plain loops take only these.
template <Element T>
bool are_of(const block_call& call) {
    return factor_type<T>(call.operands[0].element) == element_type_of<T>() &&
           factor_type<T>(call.operands[1].element) == element_type_of<T>();
}

template <Element T>
void contract_pair(const block_call& call, T scale) {
    if (are_of<T>(call)) {
        if (product_of_few_points<T> few(call, scale); few.fits()) {
            few.run(call);
            return;
        }
    }
    index tables[small_product<T>::largest_tables];
    pair_contraction<T>(call, scale, tables).run(call);
}

/// A contraction of one operand, or of more than two, row by row.
template <Element T>
class rows_contraction final : public prepared_call {
public:
    rows_contraction(const block_call& call, T scale) : nest_(call), scale_(scale), mode_(call.mode) {
        ++decisions_made();
        if (const index repeats = drop_resting(nest_); repeats > 1) {
            scale_ = op::prod(scale, converted<T>(repeats));
        }
        nest_.sort_by(0);
    }

    void run(const block_call& at) override {
        nest_.hook = at.hook;
        if (!has_points(nest_, at, row_reduction_of<T>(op::sum))) {
            return;
        }
        T* const output = static_cast<T*>(at.output.data);
        row_operands operands;
        for (const strided_block& operand : at.operands) {
            operands.push_back({operand.data, factor_type<T>(operand.element)});
        }
        if (operands.size() == 1 && operands[0].template is<T>() && scale_ == T(1) && mode_ == write_mode::overwrite &&
            nest_.all_in_output() && at.operands[0].data != output) {
            copy_nest(nest_, sizeof(T), output, at.operands[0].data);
            return;
        }
        product_rows<T> worker(output, operands, scale_, mode_);
        run_rows(nest_, worker);
    }

private:
    loop_nest nest_;
    T scale_;
    write_mode mode_;
};

/// Decides how products with elements of type T are computed.
template <class T>
std::unique_ptr<prepared_call> decided_product(const block_call& call, const kernel& of) {
    using S = summed_as_t<T>;
    const auto scale = static_cast<S>(number_of<T>(of.as<product_work>()->scale));
    if (call.operands.size() != 2) {
        return std::make_unique<rows_contraction<S>>(call, scale);
    }
    if (are_of<S>(call) && few_loops(call).fits) {
        return std::make_unique<product_of_few_points<S>>(call, scale);
    }
    return std::make_unique<pair_contraction<S>>(call, scale);
}

template <class T>
void contract_product(const block_call& call, T scale) {
    const auto factor = static_cast<summed_as_t<T>>(scale);
    call.operands.size() == 2 ? contract_pair(call, factor) : rows_contraction<summed_as_t<T>>(call, factor).run(call);
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
    return std::make_shared<const kernel>(
        product_work{operands.size(), bits_of(scale)}, product_program(scale, operands), row_reduction_of<T>(op::sum),
        operations,
        [](const block_call& call, const kernel& of) {
            contract_product<T>(call, number_of<T>(of.as<product_work>()->scale));
        },
        kept_functors{}, &decided_product<T>);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
