#pragma once
// Products and softmax, for every element type that a unit uses.

#include <einparallel/source/interface.hpp>

#include <einparallel/array/run_product.ipp>
#include <einparallel/kernel/product/contract.ipp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/softmax.ipp>

namespace einparallel::EINPARALLEL_DETAIL {

template <unsigned Numbers, class Function, class Out, class... In>
row_function prepared_row_function() {
    return made_row_function<Numbers, Function, Out, In...>();
}

}  // namespace einparallel::EINPARALLEL_DETAIL

/// What the compiled library instantiates of products for an element type T, and of softmax for a real one.
#define EINPARALLEL_DETAIL_PRODUCTS(T)                                                                     \
    template void contract_product<T>(const block_call&, T);                                               \
    template void run_product<T, 1>(const product_form&, std::span<block_handle>, T, growth);              \
    template void run_product<T, 2>(const product_form&, std::span<block_handle>, T, growth);              \
    template void run_product<T, 3>(const product_form&, std::span<block_handle>, T, growth);              \
    template block_handle chain_product<T>(immediate_builder&, immediate_builder::destination,             \
                                           std::span<const label_id>, std::span<const labelled_block>, T); \
    template op_program product_program<T>(T, std::size_t);                                                \
    template std::shared_ptr<const kernel> make_product_kernel<T>(T, std::size_t);
#define EINPARALLEL_DETAIL_REAL_PRODUCTS(T) \
    EINPARALLEL_DETAIL_PRODUCTS(T)          \
    EINPARALLEL_DETAIL_ROWS_OF_ONE(T)       \
    EINPARALLEL_DETAIL_ROWS_OF_TWO(T)       \
    template void softmax_block<T>(const block_call&, label_id);

/// Rows of a real type T, by the functions of op_code.hpp.
#define EINPARALLEL_DETAIL_ROW(numbers, functor, ...) \
    template row_function prepared_row_function<numbers, functor, __VA_ARGS__>();
#define EINPARALLEL_DETAIL_ROWS_OF_ONE(T)             \
    EINPARALLEL_DETAIL_ROW(0, negate, T, T)           \
    EINPARALLEL_DETAIL_ROW(0, absolute, T, T)         \
    EINPARALLEL_DETAIL_ROW(0, conjugate, T, T)        \
    EINPARALLEL_DETAIL_ROW(0, floor_function, T, T)   \
    EINPARALLEL_DETAIL_ROW(0, round_function, T, T)   \
    EINPARALLEL_DETAIL_ROW(0, sign_function, T, T)    \
    EINPARALLEL_DETAIL_ROW(0, relu_function, T, T)    \
    EINPARALLEL_DETAIL_ROW(0, exp_function, T, T)     \
    EINPARALLEL_DETAIL_ROW(0, log_function, T, T)     \
    EINPARALLEL_DETAIL_ROW(0, sqrt_function, T, T)    \
    EINPARALLEL_DETAIL_ROW(0, tanh_function, T, T)    \
    EINPARALLEL_DETAIL_ROW(0, sin_function, T, T)     \
    EINPARALLEL_DETAIL_ROW(0, cos_function, T, T)     \
    EINPARALLEL_DETAIL_ROW(0, tan_function, T, T)     \
    EINPARALLEL_DETAIL_ROW(0, erf_function, T, T)     \
    EINPARALLEL_DETAIL_ROW(0, sigmoid_function, T, T) \
    EINPARALLEL_DETAIL_ROW(0, silu_function, T, T)    \
    EINPARALLEL_DETAIL_ROW(0, gelu_function, T, T)    \
    EINPARALLEL_DETAIL_ROW(0, unchanged, T, T)
#define EINPARALLEL_DETAIL_PAIR_OF_ROWS(functor, Out, T) \
    EINPARALLEL_DETAIL_ROW(0, functor, Out, T, T)        \
    EINPARALLEL_DETAIL_ROW(1, functor, Out, T, T)        \
    EINPARALLEL_DETAIL_ROW(2, functor, Out, T, T)
#define EINPARALLEL_DETAIL_ROWS_OF_TWO(T)                      \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(plus, T, T)                \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(minus, T, T)               \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(times, T, T)               \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(over, T, T)                \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(larger, T, T)              \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(smaller, T, T)             \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(power, T, T)               \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(atan2_function, T, T)      \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(less, bool, T)             \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(less_equal, bool, T)       \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(greater, bool, T)          \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(greater_equal, bool, T)    \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(equal, bool, T)            \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(not_equal, bool, T)        \
    EINPARALLEL_DETAIL_PAIR_OF_ROWS(shifted_exponential, T, T) \
    EINPARALLEL_DETAIL_ROW(0, op::sum_type, T, T, T)           \
    EINPARALLEL_DETAIL_ROW(0, op::prod_type, T, T, T)          \
    EINPARALLEL_DETAIL_ROW(0, op::max_type, T, T, T)           \
    EINPARALLEL_DETAIL_ROW(0, op::min_type, T, T, T)           \
    EINPARALLEL_DETAIL_ROW(0, choice, T, bool, T, T)           \
    EINPARALLEL_DETAIL_ROW(2, choice, T, bool, T, T)           \
    EINPARALLEL_DETAIL_ROW(4, choice, T, bool, T, T)           \
    EINPARALLEL_DETAIL_ROW(6, choice, T, bool, T, T)
