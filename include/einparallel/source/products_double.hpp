#pragma once
// The products of double.

#include <einparallel/source/products.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_DETAIL_REAL_PRODUCTS(double)

}  // namespace einparallel::EINPARALLEL_DETAIL
