#pragma once
// The products of both complex types.

#include <einparallel/source/products.hpp>

#include <complex>

namespace einparallel::EINPARALLEL_DETAIL {

#define EINPARALLEL_DETAIL_PRODUCTS(T)                                                                              \
    template void contract_product<T>(const block_call&, T);                                                        \
    template void add_box<T>(std::span<const index>, T*, std::span<const index>, const T*, std::span<const index>); \
    template std::shared_ptr<const kernel> make_product_kernel<T>(T, std::size_t);

EINPARALLEL_DETAIL_PRODUCTS(std::complex<float>)
EINPARALLEL_DETAIL_PRODUCTS(std::complex<double>)

#undef EINPARALLEL_DETAIL_PRODUCTS

}  // namespace einparallel::EINPARALLEL_DETAIL
