#pragma once
// ⊕ over f(x, y) as a blocked product: what a matrix product is to Σ of products, for any ⊕ and ⊗ of two operands.

#include <einparallel/kernel/gemm.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/micro_kernel.hpp>
#include <einparallel/kernel/pack.hpp>
#include <einparallel/kernel/product_axes.hpp>
#include <einparallel/kernel/thread_grid.hpp>
#include <einparallel/kernel/vector_join.hpp>
#include <einparallel/kernel/vector_pack.hpp>
#include <einparallel/kernel/visit_points.hpp>
#include <einparallel/notation/box.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::detail {

/// Types whose tiles the compiler vectorises.
template <class T>
inline constexpr bool is_tiled = std::is_arithmetic_v<T>;

template <class T, index Panel, instruction_set Set>
void pack_for_join(const void* /*context*/, void* into, const void* from, const pack_source& source) {
    pack_slivers<T, Panel, Set>(into, from, source);
}

template <class Out, class Reduce>
void scatter_joined(const Reduce& reduce, const Out* tile, index columns, Out* c, const index* row_offsets, index high,
                    const index* column_offsets, index wide, bool add) {
    for (index row = 0; row < high; ++row, tile += columns) {
        Out* const into = c + row_offsets[row];
        for (index column = 0; column < wide; ++column) {
            Out& element = into[column_offsets[column]];
            element = add ? static_cast<Out>(reduce(element, tile[column])) : tile[column];
        }
    }
}

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
    kernel.pack_a = &pack_for_join<A, code::rows, Set>;
    kernel.pack_b = &pack_for_join<B, code::columns, Set>;
    kernel.scatter = [](const void* context, const void* tile, index columns, void* c, const index* row_offsets,
                        index high, const index* column_offsets, index wide, bool add) {
        scatter_joined(static_cast<const join_functors<Reduce, Function>*>(context)->reduce,
                       static_cast<const Out*>(tile), columns, static_cast<Out*>(c), row_offsets, high, column_offsets,
                       wide, add);
    };
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
inline bool run_in_tiles(loop_nest& nest, const tile_kernel& kernel, const void* x, const void* y, void* z,
                         write_mode mode) {
    gemm_axis m;
    gemm_axis n;
    gemm_axis k;
    const odometer::loop_list batch = sort_axes(nest, x_slot, y_slot, m, n, k);
    if (m.size < 4 || n.size < kernel.columns / 2 || k.size < 4 || m.size * n.size * k.size < 4096) {
        return false;
    }
    const auto [outside, inside] = threads_for_batch(m.size * n.size * k.size, odometer(nest, batch).size());
    const blocked_gemm product(kernel, m, n, k, inside);
    const auto moved = [](auto* start, index offset, std::size_t element) {
        return start + offset * static_cast<index>(element);
    };
    for_each_point(nest, batch, outside, [&](const index* at) {
        product.run(moved(static_cast<const std::byte*>(x), at[x_slot], kernel.a_element),
                    moved(static_cast<const std::byte*>(y), at[y_slot], kernel.b_element),
                    moved(static_cast<std::byte*>(z), at[z_slot], kernel.c_element), mode == write_mode::combine);
    });
    return true;
}

}  // namespace einparallel::detail
