#pragma once
// Products and softmax, for every element type that a unit uses.

#include <einparallel/source/interface.hpp>

#include <einparallel/array/run_product.ipp>
#include <einparallel/kernel/product/contract.ipp>
#include <einparallel/kernel/simd/coded_row.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/work/softmax.ipp>
#include <einparallel/notation/operations/operators.hpp>

#include <type_traits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

template <unsigned Numbers, class Function, class Out, class... In>
row_function prepared_row_function() {
    return made_row_function<Numbers, Function, Out, In...>();
}

/// The row functions of a real type T that the compiled library has. Taking their addresses makes the compiler
/// instantiate them.
template <class T>
std::vector<row_function (*)()> prepared_rows() {
    std::vector<row_function (*)()> all;
    const auto add = [&](auto... each) { (all.push_back(each), ...); };
    const auto of_two = [&]<class Function>(std::type_identity<Function> /*functor*/) {
        using Out = std::conditional_t<compares(Function::code), bool, T>;
        add(&prepared_row_function<0, Function, Out, T, T>, &prepared_row_function<1, Function, Out, T, T>,
            &prepared_row_function<2, Function, Out, T, T>);
    };
    const auto of_any = [&]<class Function>(std::type_identity<Function> functor) {
        if constexpr (!computes_in(Function::code, element_type_of<T>())) {
        } else if constexpr (arity_of(Function::code) == 1) {
            add(&prepared_row_function<0, Function, T, T>);
        } else {
            of_two(functor);
        }
    };
    const auto of_reduction = [&]<class Reduce>(std::type_identity<Reduce> reduce) {
        if constexpr (Reduction<Reduce, T>) {
            of_two(reduce);
        }
    };
    [&]<class... Function>(type_list<Function...> /*functors*/) {
        (of_any(std::type_identity<Function>()), ...);
    }(op_functors());
    [&]<class... Reduce>(type_list<Reduce...> /*reductions*/) {
        (of_reduction(std::type_identity<Reduce>()), ...);
    }(reduction_functors());
    add(&prepared_row_function<0, unchanged, T, T>, &prepared_row_function<0, converted_to<T>, T, T>);
    add(&prepared_row_function<0, choice, T, bool, T, T>, &prepared_row_function<2, choice, T, bool, T, T>,
        &prepared_row_function<4, choice, T, bool, T, T>, &prepared_row_function<6, choice, T, bool, T, T>);
    return all;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

/// The instantiations of products for an element type T, and of softmax for a real T, in the compiled library.
#define EINPARALLEL_DETAIL_PRODUCTS(T)                                                         \
    template void contract_product<T>(const block_call&, T);                                   \
    template void run_product<T, 1>(const product_form&, std::span<strided_block>, T, growth); \
    template void run_product<T, 2>(const product_form&, std::span<strided_block>, T, growth); \
    template void run_product<T, 3>(const product_form&, std::span<strided_block>, T, growth); \
    template op_program product_program<T>(T, std::span<const element_type>);                  \
    template std::shared_ptr<const kernel> make_product_kernel<T>(T, std::span<const element_type>);
#define EINPARALLEL_DETAIL_REAL_PRODUCTS(T)                      \
    EINPARALLEL_DETAIL_PRODUCTS(T)                               \
    template std::vector<row_function (*)()> prepared_rows<T>(); \
    template void softmax_block<T>(const block_call&, label_id);
