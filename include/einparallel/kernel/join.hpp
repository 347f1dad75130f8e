#pragma once
// General ⊕ and ⊗ on strided blocks: the functors are inlined into rows, everything around the rows is shared.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// Points of a row: every operand may need a copy of its own beside the results.
inline constexpr index join_row_width = 256;

/// An operand's value at every point of a row along which it does not change.
template <class T>
struct constant_row {
    T value;
    constexpr T operator[](index) const { return value; }
};

/// One operand's elements along a row, side by side: the tensor itself where it has them so, else a copy.
template <class T>
class gathered_row {
public:
    /// @param x element of the row's first point; valid until the next call
    const T* get(const T* x, index move, index count) {
        if (move == 1) {
            return x;
        }
        if (move == 0) {
            if (x != filled_from_ || count > filled_) {
                std::fill(copy_, copy_ + count, *x);
                filled_from_ = x;
                filled_ = count;
            }
            return copy_;
        }
        filled_from_ = nullptr;
        for (index i = 0; i < count; ++i) {
            copy_[i] = x[i * move];
        }
        return copy_;
    }

private:
    const T* filled_from_ = nullptr;
    index filled_ = 0;
    T copy_[join_row_width];
};

/// Rows of ⊕ over f(x1, …, xr).
template <class Out, class Reduce, class Function, class... In>
class join_rows final : public row_worker {
public:
    join_rows(const Reduce& reduce, const Function& function, Out* output, const std::tuple<const In*...>& operands,
              write_mode mode)
        : row_worker(join_row_width),
          reduce_(reduce),
          function_(function),
          output_(output),
          operands_(operands),
          mode_(mode) {}

    void accumulate(const index* offsets, const index* moves, index count, bool first) override {
        accumulate(offsets + 1, moves + 1, count, first, std::index_sequence_for<In...>{});
    }

    void write(index offset, index move, index count) override {
        Out* const into = output_ + offset;
        if (mode_ == write_mode::combine) {
            for (index i = 0; i < count; ++i) {
                into[i * move] = static_cast<Out>(reduce_(into[i * move], results_[i]));
            }
        } else if (move == 1) {
            std::copy(results_, results_ + count, into);
        } else {
            for (index i = 0; i < count; ++i) {
                into[i * move] = results_[i];
            }
        }
    }

    void write_total(index offset, index count) override {
        Out total = results_[0];
        for (index i = 1; i < count; ++i) {
            total = static_cast<Out>(reduce_(total, results_[i]));
        }
        results_[0] = total;
        write(offset, 1, 1);
    }

private:
    template <std::size_t... R>
    void accumulate([[maybe_unused]] const index* offsets, [[maybe_unused]] const index* moves, index count, bool first,
                    std::index_sequence<R...>) {
        if (first) {
            assign(count, std::get<R>(rows_).get(std::get<R>(operands_) + offsets[R], moves[R], count)...);
            return;
        }
        if constexpr (sizeof...(In) == 2) {
            // The shape of A(i,j) ⊗ B(j,k): one operand stands still along the row.
            const auto* const x = std::get<0>(operands_) + offsets[0];
            const auto* const y = std::get<1>(operands_) + offsets[1];
            if (moves[0] == 0 && moves[1] == 1) {
                combine(count, constant_row<std::remove_cvref_t<decltype(*x)>>{*x}, y);
                return;
            }
            if (moves[0] == 1 && moves[1] == 0) {
                combine(count, x, constant_row<std::remove_cvref_t<decltype(*y)>>{*y});
                return;
            }
        }
        combine(count, std::get<R>(rows_).get(std::get<R>(operands_) + offsets[R], moves[R], count)...);
    }

    // Blocks of constant length, and results that alias nothing: what -O2 vectorises.
    static constexpr index block = 16;

    template <class... Row>
    void assign(index count, Row... x) {
        Out* __restrict const results = results_;
        index i = 0;
        for (; i + block <= count; i += block) {
            for (index lane = 0; lane < block; ++lane) {
                results[i + lane] = detail::converted<Out>(function_(x[i + lane]...));
            }
        }
        for (; i < count; ++i) {
            results[i] = detail::converted<Out>(function_(x[i]...));
        }
    }

    template <class... Row>
    void combine(index count, Row... x) {
        Out* __restrict const results = results_;
        index i = 0;
        for (; i + block <= count; i += block) {
            for (index lane = 0; lane < block; ++lane) {
                results[i + lane] =
                    static_cast<Out>(reduce_(results[i + lane], detail::converted<Out>(function_(x[i + lane]...))));
            }
        }
        for (; i < count; ++i) {
            results[i] = static_cast<Out>(reduce_(results[i], detail::converted<Out>(function_(x[i]...))));
        }
    }

    const Reduce& reduce_;
    const Function& function_;
    Out* output_;
    std::tuple<const In*...> operands_;
    write_mode mode_;
    std::tuple<gathered_row<In>...> rows_;
    Out results_[join_row_width];
};

/// Rows of into ⊕ from.
template <class Out, class Reduce>
class combining_rows final : public row_worker {
public:
    combining_rows(const Reduce& reduce, Out* into, const Out* from)
        : row_worker(join_row_width), reduce_(reduce), into_(into), from_(from) {}

    void accumulate(const index* offsets, const index* moves, index, bool) override {
        row_ = from_ + offsets[1];
        move_ = moves[1];
    }
    void write(index offset, index move, index count) override {
        Out* const into = into_ + offset;
        for (index i = 0; i < count; ++i) {
            into[i * move] = static_cast<Out>(reduce_(into[i * move], row_[i * move_]));
        }
    }
    void write_total(index offset, index) override { write(offset, 1, 1); }

private:
    const Reduce& reduce_;
    Out* into_;
    const Out* from_;
    const Out* row_ = nullptr;
    index move_ = 0;
};

}  // namespace einparallel::detail

namespace einparallel {

/// The kernel of any ⊕ and ⊗: Z[ℓZ] (⊕)= ⊕ f(x1, …, xr) over the labels that the output lacks. The functors are stored
/// by value and called through a const reference. ⊕ is taken in any order and grouping; its identity is used only where
/// there is nothing to aggregate. Where nothing is aggregated f alone is applied, and the output may be the same memory
/// as operands whose strides per label are the output's.
/// `Reduce` has `template <class T> static constexpr T identity()` and `T operator()(T, T) const`.
/// Work ∏ of all extents: no one-sided label is reduced before the join, since f need not distribute.
template <class Out, class Reduce, class Function, class... In>
class join_kernel final : public kernel {
public:
    /// @param operations arithmetic per point, for the time model
    join_kernel(Reduce reduce, Function function, bool distributive, double operations, std::string formula)
        : reduce_(std::move(reduce)),
          function_(std::move(function)),
          distributive_(distributive),
          operations_(operations),
          formula_(std::move(formula)) {}

    void contract(const block_call& call) const override {
        detail::loop_nest nest(call);
        Out* const output = static_cast<Out*>(call.output.data);
        if (nest.output_empty) {
            return;
        }
        if (nest.sum_empty) {
            if (call.mode == write_mode::overwrite) {
                fill_identity(nest, output);
            }
            return;
        }
        nest.sort_by(0);
        detail::join_rows<Out, Reduce, Function, In...> rows(
            reduce_, function_, output, pointers(call, std::index_sequence_for<In...>{}), call.mode);
        run_rows(nest, rows);
    }

    void combine(std::span<const index> extents, void* into, std::span<const index> into_strides, const void* from,
                 std::span<const index> from_strides) const override {
        detail::loop_nest nest(2);
        if (!nest.add_box(extents, into_strides, from_strides)) {
            return;
        }
        nest.sort_by(0);
        detail::combining_rows<Out, Reduce> rows(reduce_, static_cast<Out*>(into), static_cast<const Out*>(from));
        run_rows(nest, rows);
    }

    [[nodiscard]] element_type output_type() const override { return element_type_of<Out>(); }
    [[nodiscard]] bool is_contraction() const override { return false; }
    [[nodiscard]] bool is_distributive() const override { return distributive_; }
    [[nodiscard]] double operations_per_point() const override { return operations_; }
    [[nodiscard]] std::string formula() const override { return formula_; }

private:
    template <std::size_t... R>
    static std::tuple<const In*...> pointers([[maybe_unused]] const block_call& call, std::index_sequence<R...>) {
        return {static_cast<const In*>(call.operands[R].data)...};
    }

    static void fill_identity(const detail::loop_nest& nest, Out* output) {
        detail::odometer point = detail::output_points(nest);
        detail::small_vector<index, 12> offsets(nest.slots, 0);
        do {
            output[offsets[0]] = Reduce::template identity<Out>();
        } while (point.advance(offsets.data()));
    }

    Reduce reduce_;
    Function function_;
    bool distributive_;
    double operations_;
    std::string formula_;
};

}  // namespace einparallel
