#pragma once
// Rows of Σ of products: the typed half of a nest whose ⊕ is + and whose ⊗ is ×, for any number of operands.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_small.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Long rows, because what is summed over may lie a page apart: 16 KiB, but no row shorter than a tile needs.
template <class T>
inline constexpr index product_row_width = 16384 / index(sizeof(T) < 8 ? 8 : sizeof(T));

/// Accumulates Σ of products of `operands` tensors of type T into the output, times a scale.
template <Element T>
class product_rows final : public reduced_rows<T, op::sum_type, product_row_width<T>> {
    using base = reduced_rows<T, op::sum_type, product_row_width<T>>;

public:
    product_rows(T* output, const row_operands& operands, T scale, write_mode mode)
        : base(op::sum, output, operands, mode), scale_(scale) {}

    void accumulate(const std::byte* const* places, const index* moves, index count, bool first) override {
        const std::size_t operands = this->operands().size();
        const auto operand = [places](std::size_t number) { return reinterpret_cast<const T*>(places[number]); };
        T* __restrict const sums = this->results_;
        if (operands == 1 && moves[0] == 1 && !first) {
            in_blocks(count, [sums, x = operand(0)](index at) { sums[at] = op::sum(sums[at], x[at]); });
            return;
        }
        if constexpr (std::is_floating_point_v<T>) {
            constexpr index least = 16;  // points that are worth the call
            const index y_move = operands == 2 ? moves[1] : 0;
            if (operands <= 2 && (moves[0] | y_move | 1) == 1 && (first || count >= least)) {
                const T one = 1;
                product_plane<T> row;
                row.rows = 1;
                row.columns = count;
                row.x_moves = moves[0] == 1;
                row.y_moves = y_move == 1;
                row.add = !first;
                const T* const y = operands == 2 ? operand(1) : &one;
                with_best_instructions(
                    [&](auto set) { vector_small<T, set.value>::products(row, this->results_, operand(0), y); });
                return;
            }
        }
        T products[product_row_width<T>];
        T* const terms = first ? this->results_ : products;  // not added to zeros: a product keeps the sign of −0
        for (std::size_t number = 0; number < operands; ++number) {
            const T* const x = operand(number);
            const index move = moves[number];
            for (index i = 0; i < count; ++i) {
                terms[i] = number == 0 ? x[i * move] : op::prod(terms[i], x[i * move]);
            }
        }
        if (!first) {
            in_blocks(count, [&](index at) { sums[at] = op::sum(sums[at], products[at]); });
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
    T scale_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
