#pragma once
// The kernel of general ⊕ and ⊗ on strided blocks: as a blocked product where there is something to reuse, else row by
// row.

#include <einparallel/kernel/kernel.hpp>
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
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

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
        kernel.run = code::kernel();
        kernel.pack_a = kernel.pack_b = &pack_panels;
        kernel.scatter = &scatter_tile<Out, join_functors<Reduce, Function>>;
        kernel.context = &functors;
        return kernel;
    });
}

/// … of a statement that is still to be named.
class integer_divided_by_zero : public error {
    using error::error;
};

/// Z (⊕)= ⊕ of what the steps make of the operands; in tiles where there is a kernel of them and something to reuse.
/// @throws integer_divided_by_zero  behind the last element
EINPARALLEL_INLINE void run_join(const block_call& call, const join_work& work);

/// The work of a program. calls[c] are rows of its c-th instruction that calls something, where they are known;
/// others are told by codes. @throws error for one that has no rows
EINPARALLEL_INLINE join_work join_work_of(const op_program& program, std::span<const row_call> calls);

/// Owners of functors.
using kept_functors = std::vector<std::shared_ptr<const void>>;

/// The kernel of such work.
class work_kernel : public reducing_kernel {
public:
    /// @param keeps  who owns functors that the work refers to
    work_kernel(join_work work, op_program program, kept_functors keeps = {})
        : reducing_kernel(std::move(program), work.reduction), work_(std::move(work)), keeps_(std::move(keeps)) {}

    void contract(const block_call& call) const override { run_join(call, work_); }

    [[nodiscard]] const join_work& work() const { return work_; }

    [[nodiscard]] double operations_per_point() const override {
        double operations = 2.0 * double(work_.bytes.size());
        for_each_in(program().instructions(), [&](const auto& each) { operations += operation_of(each.code).cost; });
        return operations;
    }

protected:
    join_work work_;

private:
    kept_functors keeps_;
};

/// … of the library's own functors, or of those that others keep.
EINPARALLEL_INLINE std::shared_ptr<const kernel> make_join_kernel(join_work work, op_program program,
                                                                  kept_functors keeps = {});

/// Functors of two arguments with tiles of their own: elementary functions have rows instead, which are vectors.
template <class Function>
inline constexpr bool has_tiles = !has_op_code<Function>;
template <class Function>
    requires has_op_code<Function>
inline constexpr bool has_tiles<Function> =
    !has_vector_math<Function::code, double> && !has_vector_math<Function::code, float>;
template <std::size_t Leaf, class T>
inline constexpr bool has_tiles<pick<Leaf, T>> = true;
template <class T>
inline constexpr bool has_tiles<constant<T>> = true;
template <class Function, class... Arguments>
inline constexpr bool has_tiles<join_node<Function, Arguments...>> = has_tiles<Function> &&
                                                                     (has_tiles<Arguments> && ...);
template <class Tree>
inline constexpr bool has_tiles<tree_function<Tree>> = has_tiles<Tree>;

}  // namespace EINPARALLEL_DETAIL

/// The kernel of any ⊕ and ⊗: Z[ℓZ] (⊕)= ⊕ f(x1, …, xr) over the labels that the output lacks. The functors are stored
/// by value and called through a const reference. ⊕ is taken in any order and grouping; its identity is used only where
/// there is nothing to aggregate. Where nothing is aggregated f alone is applied, and the output may be the same memory
/// as operands whose strides per label are the output's.
/// `Reduce` has `template <class T> static constexpr T identity()` and `T operator()(T, T) const`.
/// Work ∏ of all extents: no one-sided label is reduced before the join, since f need not distribute.
template <class Out, class Reduce, class Function, class... In>
class join_kernel final : public detail::work_kernel {
public:
    /// @param program  of f and ⊕, where somebody asks
    join_kernel(Reduce reduce, Function called, op_program program = {})
        : detail::work_kernel({}, std::move(program)), reduce_(std::move(reduce)), function_(std::move(called)) {
        this->work_ = detail::join_work_writer<Out, Reduce, In...>::written(reduce_, function_);
        this->reduction_ = this->work_.reduction;
        if constexpr (sizeof...(In) == 2 && std::is_arithmetic_v<Out> && (std::is_arithmetic_v<In> && ...) &&
                      detail::has_tiles<Function>) {
            constexpr bool fuses =
                detail::fuses_expressions && !detail::has_op_code<Function> && !std::is_same_v<Reduce, op::sum_type>;
            const detail::instruction_set best = detail::best_instruction_set();
            this->work_.tiles = detail::join_tile_kernel<Out, Reduce, Function, In...>(
                fuses ? std::min(best, detail::instruction_set::avx2) : best, functors_);
        }
    }

    [[nodiscard]] const Reduce& reduce() const { return reduce_; }
    [[nodiscard]] const Function& function() const { return function_; }

private:
    Reduce reduce_;
    Function function_;
    detail::join_functors<Reduce, Function> functors_{reduce_, function_};
};

}  // namespace einparallel
