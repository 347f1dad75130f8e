#pragma once
// The instruction sets that this processor has, for tests that run each of them, and a product with one of them.

#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/micro_kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <doctest/doctest.h>

#include <random>
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

/// Calls check.template operator()<Set>() for every set of this processor.
template <class Check>
void with_each_set(Check&& check) {
    for (const einparallel::detail::instruction_set set : sets_here()) {
        CAPTURE(name_of(set));
        if (set == einparallel::detail::instruction_set::baseline) {
            check.template operator()<einparallel::detail::instruction_set::baseline>();
        }
#if EINPARALLEL_DETAIL_X86
        if (set == einparallel::detail::instruction_set::avx2) {
            check.template operator()<einparallel::detail::instruction_set::avx2>();
        }
        if (set == einparallel::detail::instruction_set::avx512) {
            check.template operator()<einparallel::detail::instruction_set::avx512>();
        }
#endif
    }
}

inline einparallel::index pick(std::mt19937& random, einparallel::index low, einparallel::index high) {
    return std::uniform_int_distribution<einparallel::index>(low, high)(random);
}

/// An integer from -4 to 4, or a complex number of two.
template <class T>
T small_integer(std::mt19937& random) {
    const auto value = static_cast<int>(pick(random, -4, 4));
    if constexpr (einparallel::detail::is_complex<T>::value) {
        using real = typename T::value_type;
        return {static_cast<real>(value), static_cast<real>(pick(random, -4, 4))};
    } else {
        return static_cast<T>(value);
    }
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
