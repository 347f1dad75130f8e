#pragma once
// General ⊕ and ⊗ on strided blocks: as a blocked product where there is something to reuse, else row by row.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/row_program.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_join.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The tile kernel of a join with the instructions of a set chosen at run time.
/// @pre supported(set); the functors outlive the kernel
template <class Out, class Reduce, class Function, class A, class B>
tile_kernel join_tile_kernel(instruction_set set, const join_functors<Reduce, Function>& functors) {
    return with_instruction_set(set, [&](auto chosen) {
        using code = vector_join<Out, Reduce, Function, A, B, chosen.value>;
        tile_kernel kernel;
        kernel.rows = kernel.row_step = code::rows;
        kernel.columns = kernel.lanes = code::columns;
        kernel.a_bytes = kernel.a_element = sizeof(A);
        kernel.b_bytes = kernel.b_element = sizeof(B);
        kernel.c_element = sizeof(Out);
        kernel.run = code::kernel();
        kernel.pack_a = kernel.pack_b = &pack_panels;
        kernel.scatter = &scatter_tile<Out, join_functors<Reduce, Function>>;
        kernel.context = &functors;
        return kernel;
    });
}

/// An integer is divided by zero. Code that knows the statement adds its name.
class integer_divided_by_zero : public error {
    using error::error;
};
/// @throws integer_divided_by_zero  where `are_none_zero` is false
EINPARALLEL_INLINE void check_divisors(bool are_none_zero);

/// Z (⊕)= ⊕ of the steps' results. It is computed in tiles where the work has a tile kernel and there is something to
/// reuse.
/// @throws integer_divided_by_zero  after the last element is computed
EINPARALLEL_INLINE void run_join(const block_call& call, const join_work& work);

/// The work of a program. calls[c] has the rows of its c-th instruction that calls a functor, where these are known;
/// the rows of other instructions follow from their codes. @throws error for an instruction that has no rows
EINPARALLEL_INLINE join_work join_work_of(const op_program& program, std::span<const row_call> calls);

/// into[i] = into[i] ⊕ from[i] over a box with these extents; strides in elements.
EINPARALLEL_INLINE void combine_boxes(const row_reduction& reduction, index_span extents, void* into,
                                      index_span into_strides, const void* from, index_span from_strides);

/// True for functors that are computed in tiles, where a join has two operands. Elementary functions are computed in
/// rows instead, which use vectors.
template <class Function>
inline constexpr bool has_tiles = !has_op_code<Function>;
template <class Function>
    requires has_op_code<Function>
inline constexpr bool has_tiles<Function> =
    !has_vector_math<Function::code, double> && !has_vector_math<Function::code, float>;
template <std::size_t Leaf, class T>
inline constexpr bool has_tiles<pick<Leaf, T>> = true;
template <class T, class Number>
inline constexpr bool has_tiles<constant<T, Number>> = true;
template <class Function, class... Arguments>
inline constexpr bool has_tiles<join_node<Function, Arguments...>> = has_tiles<Function> &&
                                                                     (has_tiles<Arguments> && ...);
template <class Tree>
inline constexpr bool has_tiles<tree_function<Tree>> = has_tiles<Tree>;

/// Any ⊕ and ⊗ with their functors: Z[ℓZ] (⊕)= ⊕ f(x1, …, xr) over the labels that the output lacks. The functors are
/// stored by value and called through a const reference. ⊕ is applied in any order and grouping. Its identity is used
/// only where there is nothing to aggregate. Where no label is aggregated, f alone is applied, and the output may be
/// the same memory as operands that have the output's stride along every label.
/// `Reduce` has `template <class T> static constexpr T identity()` and `T operator()(T, T) const`.
/// The work is the product of all extents: labels of a single operand are not reduced before the join, since f need not
/// distribute.
template <class Out, class Reduce, class Function, class... In>
struct functor_join : private not_copied {
    functor_join(Reduce by, Function called)
        : reduce(std::move(by)),
          function(std::move(called)),
          work(join_work_writer<Out, Reduce, In...>::written(reduce, function)) {
        if constexpr (sizeof...(In) == 2 && std::is_arithmetic_v<Out> && (std::is_arithmetic_v<In> && ...) &&
                      has_tiles<Function>) {
            constexpr bool fuses = fuses_expressions && !has_op_code<Function> && !std::is_same_v<Reduce, op::sum_type>;
            const instruction_set best = best_instruction_set();
            work.tiles = join_tile_kernel<Out, Reduce, Function, In...>(
                fuses ? std::min(best, instruction_set::avx2) : best, functors);
        }
    }

    Reduce reduce;
    Function function;
    join_functors<Reduce, Function> functors{reduce, function};
    join_work work;  ///< points to the other members
};

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
