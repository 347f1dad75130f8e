#pragma once
// Small products at the points of a batch along which all three tensors are contiguous: vectors hold points.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/product/tuning.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/small_product.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Where the elements of a batched matrix lie: there is a matrix at every point of a batch, and memory is contiguous
/// along the batch. In packed memory the elements follow one another, each as a vector of points.
template <class T>
struct batched_matrix {
    const index* rows = nullptr;     ///< offsets of its rows
    const index* columns = nullptr;  ///< offsets of its columns
    index row_count = 1;
    index column_count = 1;
    index step = 0;  ///< in packed memory: elements from one vector of points to the next

    /// Packs the matrices at some points, or unpacks them. Prefetches elements ahead: they lie far apart.
    template <index Lanes, bool Packs>
    void copy(T* packed, T* memory, index points) const {
        constexpr index line = 64 / index(sizeof(T));
        constexpr index ahead = 8;
        const index size = row_count * column_count;
        const auto address_of = [&](index number) {
            return memory + (rows[number / column_count] + columns[number % column_count]);
        };
        for (index number = 0; number < size; ++number, packed += Lanes) {
            T* const address = address_of(number);
            const T* const soon = address_of(std::min(number + ahead, size - 1));
            for (index point = 0; point < points; point += line) {
                __builtin_prefetch(soon + point, Packs ? 0 : 1);
            }
            T* vectors = packed;
            index point = 0;
            for (; point + Lanes <= points; point += Lanes, vectors += step) {
                __builtin_memcpy(Packs ? vectors : address + point, Packs ? address + point : vectors,
                                 Lanes * sizeof(T));
            }
            for (index lane = 0; point < points && lane < Lanes; ++lane) {  // a vector is filled up with zeros
                if constexpr (Packs) {
                    vectors[lane] = point + lane < points ? address[point + lane] : T(0);
                } else if (point + lane < points) {
                    address[point + lane] = vectors[lane];
                }
            }
        }
    }
};

/// Computes small products, with vectors that hold points. Packs some points at a time, so that the elements of one
/// product, which lie far apart, are read as neighbours.
template <class T>
class batch_in_lanes {
public:
    batch_in_lanes(const gemm_axes& axes, T scale, bool add) : axes_(axes), scale_(scale), add_(add) {
        using loop = gemm_axis::loop;
        lay_out(a_, axes_.m, &loop::first, axes_.k, &loop::first);
        lay_out(b_, axes_.k, &loop::second, axes_.n, &loop::first);
        lay_out(c_, axes_.m, &loop::second, axes_.n, &loop::second);
    }

    /// Computes the products at `points` points, and reports them.
    void run(const T* a, const T* b, T* c, index points, progress_hook* hook) const {
        index tables[small_product<T>::largest_tables];
        const small_product<T> product(axes_, scale_, add_, tables, true);
        const index step = a_.step + b_.step + c_.step;
        const index fits = std::max(index(gemm_budget().b / sizeof(T)) / step, index{2}) * lanes_;
        const index vectors = vectors_of(std::min(fits, points));
        const index work = axes_.m.size * axes_.n.size * axes_.k.size * lanes_;
        const index reported = units_between_reports(work);
        const scratch_memory memory(std::size_t(vectors * step) * sizeof(T));
        T* const left = reinterpret_cast<T*>(memory.data());
        T* const right = left + vectors * a_.step;
        T* const into = right + vectors * b_.step;
        with_best_instructions([&](auto set) {
            constexpr index lanes = vector_bytes(set.value) / index(sizeof(T));
            for (index first = 0; first < points; first += fits) {
                const index count = std::min(fits, points - first);
                a_.template copy<lanes, true>(left, const_cast<T*>(a + first), count);
                b_.template copy<lanes, true>(right, const_cast<T*>(b + first), count);
                if (add_) {
                    c_.template copy<lanes, true>(into, c + first, count);
                }
                for (index begin = 0; begin < vectors_of(count); begin += reported) {
                    const index computed = std::min(reported, vectors_of(count) - begin);
                    product.run(left + begin * a_.step, right + begin * b_.step, into + begin * c_.step, computed,
                                a_.step, b_.step, c_.step);
                    report(hook, work * computed);
                }
                c_.template copy<lanes, false>(into, c + first, count);
            }
        });
    }

private:
    static constexpr index line = 64 / index(sizeof(T));

    struct matrix : batched_matrix<T> {
        index tables[4 * small_product<T>::longest];
    };

    [[nodiscard]] index vectors_of(index points) const { return (points + lanes_ - 1) / lanes_; }

    /// Notes where the elements of a matrix lie, and changes the strides in its axes to those in packed memory.
    void lay_out(matrix& made, gemm_axis& rows, index gemm_axis::loop::*row, gemm_axis& columns,
                 index gemm_axis::loop::*column) const {
        index stride = lanes_;
        index* offsets = made.tables;
        const auto take = [&](gemm_axis& axis, index gemm_axis::loop::*side) {
            gemm_axis alone;
            for (const gemm_axis::loop& each : axis.loops) {
                alone.add(each.extent, each.*side, 0);
            }
            gemm_blocks(alone, small_product<T>::longest, offsets).take_all();
            for (std::size_t position = axis.loops.size(); position-- > 0;) {
                axis.loops[position].*side = stride;
                stride *= axis.loops[position].extent;
            }
            offsets += 2 * small_product<T>::longest;
            return axis.size;
        };
        made.columns = offsets;
        made.column_count = take(columns, column);
        made.rows = offsets;
        made.row_count = take(rows, row);
        made.step = (rounded_up(stride, line) / line | 1) * line;  // lest all fall into the same sets of a cache
    }

    gemm_axes axes_;  ///< axes of the packed matrices
    T scale_;
    bool add_;
    index lanes_ = vector_bytes(best_instruction_set()) / index(sizeof(T));
    matrix a_;
    matrix b_;
    matrix c_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
