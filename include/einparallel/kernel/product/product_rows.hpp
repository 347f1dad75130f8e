#pragma once
// Rows of Σ of products: the typed half of a nest whose ⊕ is + and whose ⊗ is ×, for any number of operands.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_small.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Long rows, because what is summed over may lie a page apart: 16 KiB, but no row shorter than a tile needs.
template <class T>
inline constexpr index product_row_width = 16384 / static_cast<index>(sizeof(T) < 8 ? 8 : sizeof(T));

/// Accumulates Σ of products of `operands` tensors of type T into the output, times a scale.
template <Element T>
class product_rows final : public reduced_rows<T, op::sum_type, product_row_width<T>> {
    using base = reduced_rows<T, op::sum_type, product_row_width<T>>;

public:
    product_rows(T* output, const row_operands& operands, T scale, write_mode mode)
        : base(op::sum, output, operands, mode), scale_(scale) {}

    void accumulate(const std::byte* const* places, const index* moves, index count, bool first) override {
        const T* const x = reinterpret_cast<const T*>(places[0]);
        if (this->operands().size() == 1) {
            single(x, moves[0], count, first);
        } else if (this->operands().size() == 2) {
            pair(x, moves[0], reinterpret_cast<const T*>(places[1]), moves[1], count, first);
        } else {
            several(places, moves, count, first);
        }
    }

    void write(index offset, index move, index count) override {
        if (scale_ != T(1)) {
            in_blocks(count, [this](index at) { this->results_[at] = op::prod(scale_, this->results_[at]); });
        }
        base::write(offset, move, count);
    }

    void run_own(const row_walk& walk, index place) override {
        const bool piece = place != row_worker::to_output;
        product_rows own(piece ? this->results_ + place : this->output_, this->operands(), piece ? T(1) : scale_,
                         piece ? write_mode::overwrite : this->mode_);
        run_walk(walk, own);
    }

private:
    void single(const T* x, index move, index count, bool first) {
        T* __restrict const sums = this->results_;
        if (first || move != 1) {
            for (index i = 0; i < count; ++i) {
                sums[i] = first ? x[i * move] : op::sum(sums[i], x[i * move]);
            }
        } else {
            in_blocks(count, [=](index at) { sums[at] = op::sum(sums[at], x[at]); });
        }
    }

    void pair(const T* x, index x_move, const T* y, index y_move, index count, bool first) {
        T* __restrict const sums = this->results_;
        if constexpr (std::is_floating_point_v<T>) {
            constexpr index least = 16;  // points that are worth the call
            if ((x_move | y_move | 1) == 1 && (first || count >= least)) {
                product_plane<T> row;
                row.rows = 1;
                row.columns = count;
                row.x_moves = x_move == 1;
                row.y_moves = y_move == 1;
                row.add = !first;
                with_best_instructions([&](auto set) { vector_small<T, set.value>::products(row, sums, x, y); });
                return;
            }
        }
        if (!first && x_move == 1 && y_move == 1) {
            in_blocks(count, [=](index at) { sums[at] = op::sum(sums[at], op::prod(x[at], y[at])); });
            return;
        }
        for (index i = 0; i < count; ++i) {  // not added to zeros: an elementwise product keeps the sign of −0
            const T product = op::prod(x[i * x_move], y[i * y_move]);
            sums[i] = first ? product : op::sum(sums[i], product);
        }
    }

    void several(const std::byte* const* places, const index* moves, index count, bool first) {
        T products[product_row_width<T>];
        T* __restrict const sums = this->results_;
        for (std::size_t operand = 0; operand < this->operands().size(); ++operand) {
            const T* const x = reinterpret_cast<const T*>(places[operand]);
            const index move = moves[operand];
            for (index i = 0; i < count; ++i) {
                products[i] = operand == 0 ? x[i * move] : op::prod(products[i], x[i * move]);
            }
        }
        for (index i = 0; i < count; ++i) {
            sums[i] = first ? products[i] : op::sum(sums[i], products[i]);
        }
    }

    T scale_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
