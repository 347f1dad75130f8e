#pragma once
// Rows of Σ of products: the typed half of a nest whose ⊕ is + and whose ⊗ is ×, for any number of operands.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_product.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Calls body(0 … count − 1), most of it in blocks of constant length: what -O2 vectorises without a look at aliases.
template <class Body>
inline void in_blocks(index count, Body body) {
    constexpr index block = 16;
    index position = 0;
    for (; position + block <= count; position += block) {
        for (index lane = 0; lane < block; ++lane) {
            body(position + lane);
        }
    }
    for (; position < count; ++position) {
        body(position);
    }
}

/// Accumulates Σ of products of `operands` tensors of type T into the output, times a scale.
template <Element T>
class product_rows final : public row_worker {
    using semiring = sum_of_products<T>;
    /// Long rows, because what is summed over may lie a page apart: 16 KiB, but no row shorter than a tile needs.
    static constexpr index row_width = 16384 / static_cast<index>(sizeof(T) < 8 ? 8 : sizeof(T));
    static_assert(row_width >= row_worker::least_width);

public:
    /// @param operands first elements
    product_rows(T* output, const T* const* operands, std::size_t operand_count, T scale, write_mode mode)
        : product_rows(output, listed(operands, operand_count), scale, mode) {}

    void accumulate(const std::byte* const* places, const index* moves, index count, bool first) override {
        const T* const x = reinterpret_cast<const T*>(places[0]);
        if (operands().size() == 1) {
            single(x, moves[0], count, first);
        } else if (operands().size() == 2) {
            pair(x, moves[0], reinterpret_cast<const T*>(places[1]), moves[1], count, first);
        } else {
            several(places, moves, count, first);
        }
    }

    void write(index offset, index move, index count) override {
        T* const into = output_ + offset;
        if (scale_ != semiring::one) {
            in_blocks(count, [&](index at) { sums_[at] = semiring::times(scale_, sums_[at]); });
        }
        if (mode_ == write_mode::combine && move == 1) {
            const T* const sums = sums_;
            in_blocks(count, [=](index at) { into[at] = semiring::plus(into[at], sums[at]); });
        } else if (mode_ == write_mode::combine) {
            for (index i = 0; i < count; ++i) {
                into[i * move] = semiring::plus(into[i * move], sums_[i]);
            }
        } else {
            this->write_row(into, move, sums_, count);
        }
    }

    void write_total(index offset, index begin, index step, index count) override {
        T total = sums_[begin];
        for (index i = 1; i < count; ++i) {
            total = semiring::plus(total, sums_[begin + i * step]);
        }
        sums_[0] = total;
        write(offset, 1, 1);
    }

    void run_own(const row_walk& walk, index place) override {
        const bool piece = place != to_output;
        product_rows own(piece ? sums_ + place : output_, operands(), piece ? semiring::one : scale_,
                         piece ? write_mode::overwrite : mode_);
        run_walk(walk, own);
    }

private:
    product_rows(T* output, const row_operands& operands, T scale, write_mode mode)
        : row_worker(row_width, operands), output_(output), scale_(scale), mode_(mode) {}

    static row_operands listed(const T* const* operands, std::size_t count) {
        row_operands list;
        for (std::size_t operand = 0; operand < count; ++operand) {
            list.push_back({reinterpret_cast<const std::byte*>(operands[operand]), static_cast<index>(sizeof(T))});
        }
        return list;
    }

    void single(const T* x, index move, index count, bool first) {
        T* __restrict const sums = sums_;
        if (first && move == 1) {
            std::copy(x, x + count, sums);
        } else if (first) {
            for (index i = 0; i < count; ++i) {
                sums[i] = x[i * move];
            }
        } else if (move == 1) {
            in_blocks(count, [=](index at) { sums[at] = semiring::plus(sums[at], x[at]); });
        } else {
            for (index i = 0; i < count; ++i) {
                sums[i] = semiring::plus(sums[i], x[i * move]);
            }
        }
    }

    void pair(const T* x, index x_move, const T* y, index y_move, index count, bool first) {
        T* __restrict const sums = sums_;
        if constexpr (std::is_floating_point_v<T>) {
            if (first && (x_move | y_move | 1) == 1) {
                product_plane<T> row;
                row.rows = 1;
                row.columns = count;
                row.x_moves = x_move == 1;
                row.y_moves = y_move == 1;
                best_products<T>()(row, sums, x, y);
                return;
            }
        }
        if (first) {  // not added to zeros: an elementwise product keeps the sign of −0
            for (index i = 0; i < count; ++i) {
                sums[i] = semiring::times(x[i * x_move], y[i * y_move]);
            }
            return;
        }
        if (x_move == 1 && y_move == 1) {
            in_blocks(count, [=](index at) { sums[at] = semiring::plus(sums[at], semiring::times(x[at], y[at])); });
        } else if (x_move == 0 && y_move == 1) {
            const T factor = *x;
            in_blocks(count, [=](index at) { sums[at] = semiring::plus(sums[at], semiring::times(factor, y[at])); });
        } else if (x_move == 1 && y_move == 0) {
            const T factor = *y;
            in_blocks(count, [=](index at) { sums[at] = semiring::plus(sums[at], semiring::times(x[at], factor)); });
        } else {
            for (index i = 0; i < count; ++i) {
                sums[i] = semiring::plus(sums[i], semiring::times(x[i * x_move], y[i * y_move]));
            }
        }
    }

    void several(const std::byte* const* places, const index* moves, index count, bool first) {
        T products[row_width];
        T* __restrict const sums = sums_;
        for (std::size_t operand = 0; operand < operands().size(); ++operand) {
            const T* const x = reinterpret_cast<const T*>(places[operand]);
            const index move = moves[operand];
            for (index i = 0; i < count; ++i) {
                products[i] = operand == 0 ? x[i * move] : semiring::times(products[i], x[i * move]);
            }
        }
        for (index i = 0; i < count; ++i) {
            sums[i] = first ? products[i] : semiring::plus(sums[i], products[i]);
        }
    }

    T* output_;
    T scale_;
    write_mode mode_;
    alignas(64) T sums_[row_width];
};

}  // namespace einparallel::EINPARALLEL_DETAIL
