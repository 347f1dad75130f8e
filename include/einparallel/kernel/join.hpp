#pragma once
// The kernel of general ⊕ and ⊗ on strided blocks: as a blocked product where there is something to reuse, else row by
// row.

#include <einparallel/kernel/join_product.hpp>
#include <einparallel/kernel/join_rows.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/op_program.hpp>

#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a join kernel does and says whatever f is, so that each f compiles little beside its own rows.
template <class Out, class Reduce>
class reducing_kernel : public kernel {
public:
    reducing_kernel(Reduce reduce, op_program program) : kernel(std::move(program)), reduce_(std::move(reduce)) {}

    void combine(std::span<const index> extents, void* into, std::span<const index> into_strides, const void* from,
                 std::span<const index> from_strides) const override {
        loop_nest nest(2);
        if (nest.add_box(extents, into_strides, from_strides)) {
            nest.sort_by(0);
            reduced_rows<Out, Reduce> rows(reduce_, static_cast<Out*>(into),
                                           row_operands_at(static_cast<const Out*>(from)), write_mode::combine);
            run_rows(nest, rows);
        }
    }

    [[nodiscard]] bool is_contraction() const override { return false; }

    [[nodiscard]] const Reduce& reduce() const { return reduce_; }

protected:
    /// Computes the block with these rows, or writes identities where there is nothing to aggregate.
    void run(const block_call& call, row_worker& rows) const {
        loop_nest nest(call);
        if (nest.output_empty) {
            return;
        }
        if (!nest.sum_empty) {
            nest.sort_by(0);
            run_rows(nest, rows);
        } else if (call.mode == write_mode::overwrite) {
            fill_output(nest, call.output.data, Reduce::template identity<Out>());
        }
    }

    Reduce reduce_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

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
        if constexpr (sizeof...(In) == 2 && detail::is_tiled<Out> && (detail::is_tiled<In> && ...)) {
            if (contract_in_tiles<In...>(call)) {
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
    template <class A, class B>
    bool contract_in_tiles(const block_call& call) const {
        detail::loop_nest nest(call);
        if (nest.output_empty || nest.sum_empty || nest.all_in_output()) {
            return false;
        }
        const detail::join_functors<Reduce, Function> functors{this->reduce_, function_};
        return detail::run_in_tiles(nest, detail::join_tile_kernel<Out, Reduce, Function, A, B>(functors),
                                    call.operands[0].data, call.operands[1].data, call.output.data, call.mode);
    }

    Function function_;
};

}  // namespace einparallel
