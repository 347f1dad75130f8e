#pragma once

#include <einparallel/device/blas_product.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double seconds_of(const blas_product& product, element_type type, write_mode mode,
                                     const device_rates& rates) {
    const auto number = [](index value) { return static_cast<double>(value); };
    const auto padded = [&](index value, index tile) { return number((value + tile - 1) / tile * tile); };
    const auto tile = [](index value) { return value > 64 ? index{64} : value > 32 ? index{32} : index{16}; };
    const index m_tile = tile(product.m);
    const index n_tile = tile(product.n);
    const double work = padded(product.m, m_tile) * padded(product.n, n_tile) * padded(product.k, 8) *
                        number(product.batch) * (type.kind == 'c' ? 4 : 1);
    // Small tiles reuse less of what they load.
    const double reuse = std::min(1.0, number(m_tile * n_tile) / 4096 + 0.1);
    const double tiles = padded(product.m, m_tile) / number(m_tile) * padded(product.n, n_tile) / number(n_tile) *
                         number(product.batch) * std::max(1.0, number(product.k) / 512);
    const double computing = work / (rates.multiply_adds * reuse * std::min(1.0, tiles / rates.processors));
    const auto share = [&](index contiguous) {  // of a sector that is used
        return std::min(1.0, number(contiguous) * static_cast<double>(type.bytes) / 32);
    };
    const auto matrices = [&](index step) { return step == 0 ? 1.0 : number(product.batch); };
    const double a = number(product.m) * number(product.k) * matrices(product.a_step) /
                     share(product.transpose_a ? product.k : product.m);
    const double b = number(product.k) * number(product.n) * matrices(product.b_step) /
                     share(product.transpose_b ? product.n : product.k);
    const double c = number(product.m) * number(product.n) * number(product.batch) / share(product.m) *
                     (mode == write_mode::combine ? 2 : 1);
    const double streaming = 1.15 * (a + b + c) * static_cast<double>(type.bytes) / rates.bytes;
    return std::max(computing, streaming);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
