#pragma once
// The products of float.

#include <einparallel/source/products.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_DETAIL_REAL_PRODUCTS(float)

}  // namespace einparallel::EINPARALLEL_DETAIL
