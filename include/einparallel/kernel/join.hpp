#pragma once
// The kernel of general ⊕ and ⊗ on strided blocks: as a blocked product where there is something to reuse, else row by
// row.

#include <einparallel/kernel/join_rows.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_join.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/op_program.hpp>

#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

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
        kernel.run = &code::run;
        kernel.pack_a = kernel.pack_b = &pack_panels;
        kernel.scatter = &scatter_tile<Out, join_functors<Reduce, Function>>;
        kernel.context = &functors;
        return kernel;
    });
}

}  // namespace EINPARALLEL_DETAIL

/// The kernel of any ⊕ and ⊗: Z[ℓZ] (⊕)= ⊕ f(x1, …, xr) over the labels that the output lacks. The functors are stored
/// by value and called through a const reference. ⊕ is taken in any order and grouping; its identity is used only where
/// there is nothing to aggregate. Where nothing is aggregated f alone is applied, and the output may be the same memory
/// as operands whose strides per label are the output's.
/// `Reduce` has `template <class T> static constexpr T identity()` and `T operator()(T, T) const`.
/// Work ∏ of all extents: no one-sided label is reduced before the join, since f need not distribute.
template <class Out, class Reduce, class Function, class... In>
class join_kernel final : public detail::reducing_kernel<Out, Reduce> {
public:
    /// @param program  of f and ⊕, where somebody asks
    join_kernel(Reduce reduce, Function function, op_program program = {})
        : detail::reducing_kernel<Out, Reduce>(std::move(reduce), std::move(program)), function_(std::move(function)) {}

    void contract(const block_call& call) const override {
        if constexpr (sizeof...(In) == 2 && std::is_arithmetic_v<Out> && (std::is_arithmetic_v<In> && ...)) {
            detail::loop_nest nest(call);
            const detail::join_functors<Reduce, Function> functors{this->reduce_, function_};
            if (!nest.output_empty && !nest.sum_empty && !nest.all_in_output() &&
                detail::run_in_tiles(
                    nest,
                    detail::join_tile_kernel<Out, Reduce, Function, In...>(detail::best_instruction_set(), functors),
                    call.operands[0].data, call.operands[1].data, call.output.data, call.mode)) {
                return;
            }
        }
        detail::join_rows<Out, Reduce, Function, In...> rows(this->reduce_, function_,
                                                             static_cast<Out*>(call.output.data),
                                                             detail::operands_of(call, {sizeof(In)...}), call.mode);
        this->run(call, rows);
    }

    [[nodiscard]] double operations_per_point() const override { return 2.0 * sizeof...(In); }

    [[nodiscard]] const Function& function() const { return function_; }

private:
    Function function_;
};

}  // namespace einparallel
