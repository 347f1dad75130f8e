#pragma once
// Products and softmax, for every element type that a unit uses.

#include <einparallel/source/interface.hpp>

#include <einparallel/array/run_product.ipp>
#include <einparallel/kernel/product/contract.ipp>
#include <einparallel/kernel/softmax.ipp>

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
#define EINPARALLEL_DETAIL_REAL_PRODUCTS(T)                      \
    EINPARALLEL_DETAIL_PRODUCTS(T)                               \
    template void softmax_block<T>(const block_call&, label_id);
