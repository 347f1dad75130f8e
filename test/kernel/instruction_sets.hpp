#pragma once
// The instruction sets that this processor has, for tests that run each of them, and a product with one of them.

#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/micro_kernel.hpp>

#include <vector>

namespace kernel_test {

inline std::vector<einparallel::detail::instruction_set> sets_here() {
    using einparallel::detail::instruction_set;
    std::vector<instruction_set> sets;
    for (const instruction_set set : {instruction_set::baseline, instruction_set::avx2, instruction_set::avx512}) {
        if (einparallel::detail::supported(set)) {
            sets.push_back(set);
        }
    }
    return sets;
}

/// C(m, n) (+)= scale · Σ_k A(m, k) · B(k, n).
template <einparallel::Element T>
struct gemm_call : einparallel::detail::gemm_axes {
    T scale = T(1);
    bool add = false;
};

/// One blocked product with given instructions. @pre supported(set)
template <einparallel::Element T>
void gemm(gemm_call<T>& call, const T* a, const T* b, T* c, einparallel::detail::instruction_set set) {
    using namespace einparallel::detail;
    const tile_kernel kernel = product_tile_kernel<T>(set, &call.scale);
    run_blocked(kernel, call, {loop_nest(3), {}, a, 1, b, 2, c, call.add});
}

}  // namespace kernel_test
