#pragma once
// The products of the integers and bool.

#include <einparallel/source/products.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

#define EINPARALLEL_DETAIL_PRODUCTS(T)                                                                              \
    template void contract_product<T>(const block_call&, T);                                                        \
    template void add_box<T>(std::span<const index>, T*, std::span<const index>, const T*, std::span<const index>); \
    template std::shared_ptr<const kernel> make_product_kernel<T>(T, std::size_t);

EINPARALLEL_DETAIL_PRODUCTS(bool)
EINPARALLEL_DETAIL_PRODUCTS(char)
EINPARALLEL_DETAIL_PRODUCTS(signed char)
EINPARALLEL_DETAIL_PRODUCTS(unsigned char)
EINPARALLEL_DETAIL_PRODUCTS(short)
EINPARALLEL_DETAIL_PRODUCTS(unsigned short)
EINPARALLEL_DETAIL_PRODUCTS(int)
EINPARALLEL_DETAIL_PRODUCTS(unsigned)
EINPARALLEL_DETAIL_PRODUCTS(long)
EINPARALLEL_DETAIL_PRODUCTS(unsigned long)
EINPARALLEL_DETAIL_PRODUCTS(long long)
EINPARALLEL_DETAIL_PRODUCTS(unsigned long long)
EINPARALLEL_DETAIL_PRODUCTS(wchar_t)
EINPARALLEL_DETAIL_PRODUCTS(char8_t)
EINPARALLEL_DETAIL_PRODUCTS(char16_t)
EINPARALLEL_DETAIL_PRODUCTS(char32_t)

#undef EINPARALLEL_DETAIL_PRODUCTS

}  // namespace einparallel::EINPARALLEL_DETAIL
