#pragma once
// One product, compiled by two units with different options.

#include <support/kernels.hpp>

#include <vector>

namespace kernel_test {

/// C = A · B, square, row-major, through the kernel.
inline void multiply(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c,
                     einparallel::index n) {
    const std::vector<einparallel::index> extents{n, n, n};
    const std::vector<einparallel::index> strides{n, 1};
    const std::vector<einparallel::label_id> ij{0, 1}, jk{1, 2}, ik{0, 2};
    const std::vector<einparallel::strided_block> operands{{a.data(), ij, strides}, {b.data(), jk, strides}};
    einparallel::testing::product_kernel<double>(1.0, 2).contract(
        {extents, operands, {c.data(), ik, strides}, einparallel::write_mode::overwrite});
}

/// The same, compiled in unit_for_this_processor.cpp.
void multiply_elsewhere(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c,
                        einparallel::index n);

}  // namespace kernel_test
