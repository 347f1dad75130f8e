#pragma once
// The products of both complex types.

#include <einparallel/source/products.hpp>

#include <complex>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_DETAIL_PRODUCTS(std::complex<float>)
EINPARALLEL_DETAIL_PRODUCTS(std::complex<double>)

}  // namespace einparallel::EINPARALLEL_DETAIL
