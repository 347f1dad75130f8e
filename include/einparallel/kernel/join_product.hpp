#pragma once
// ⊕ over f(x, y) as a blocked product: what a matrix product is to Σ of products, for any ⊕ and ⊗ of two operands.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_join.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Types whose tiles the compiler vectorises.
template <class T>
inline constexpr bool is_tiled = std::is_arithmetic_v<T>;

template <class Out, class Reduce, class Function, class A, class B, instruction_set Set>
tile_kernel join_tile_kernel_of(const join_functors<Reduce, Function>& functors) {
    using code = vector_join<Out, Reduce, Function, A, B, Set>;
    tile_kernel kernel;
    kernel.rows = code::rows;
    kernel.columns = code::columns;
    kernel.lanes = code::columns;
    kernel.a_bytes = kernel.a_element = sizeof(A);
    kernel.b_bytes = kernel.b_element = sizeof(B);
    kernel.c_element = sizeof(Out);
    kernel.run = &code::run;
    kernel.computed = [](index /*high*/) { return code::rows; };
    kernel.pack_a = kernel.pack_b = &pack_panels;
    kernel.scatter = &scatter_tile<Out, join_functors<Reduce, Function>>;
    kernel.context = &functors;
    return kernel;
}

/// @pre the functors outlive the kernel
template <class Out, class Reduce, class Function, class A, class B>
tile_kernel join_tile_kernel(const join_functors<Reduce, Function>& functors) {
    return with_instruction_set(best_instruction_set(), [&](auto set) {
        return join_tile_kernel_of<Out, Reduce, Function, A, B, set.value>(functors);
    });
}

/// Sorts the loops of a nest of two operands into batch, m, n and k and runs it as blocked products; false, and nothing
/// done, where there is too little to reuse. ⊗ keeps its sides: m are the labels of the first operand.
EINPARALLEL_INLINE bool run_in_tiles(loop_nest& nest, const tile_kernel& kernel, const void* x, const void* y, void* z,
                                     write_mode mode);

}  // namespace einparallel::EINPARALLEL_DETAIL
