#pragma once
// Small products at the points of a batch, whatever the layout: some points at a time, matrices that vectors cannot
// read or write where they lie are copied to dense memory. Vectors hold columns, or points of the batch.

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/small_product.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// The matrices at the points of a batch, where they lie, and in packed memory: there, matrices follow one another, or
/// the elements of a matrix do, each as a vector of points.
template <class T>
class batched_matrix {
public:
    /// Notes where the elements of a matrix lie, and changes the strides in its axes to those in packed memory.
    /// @param unit  points of a vector; 1: a vector holds columns
    void pack(gemm_axis& rows, index gemm_axis::loop::*row, gemm_axis& columns, index gemm_axis::loop::*column,
              index unit) {
        constexpr index line = 64 / index(sizeof(T));
        is_packed = true;
        unit_ = unit;
        index stride = unit;
        index* offsets = tables_;
        const auto take = [&](gemm_axis& axis, index gemm_axis::loop::*side) {
            gemm_axis alone;
            for (const gemm_axis::loop& each : axis.loops) {
                alone.add(each.extent, each.*side, 0);
            }
            gemm_blocks(alone, small_product<T>::longest, offsets).take_all();
            offsets += 2 * small_product<T>::longest;
            for (std::size_t position = axis.loops.size(); position-- > 0;) {
                gemm_axis::loop& each = axis.loops[position];
                index* const by = elements_.add(each.extent);
                by[0] = stride;
                by[1] = std::exchange(each.*side, stride);
                stride *= each.extent;
            }
            return axis.size;
        };
        columns_ = offsets;
        column_count_ = take(columns, column);
        rows_ = offsets;
        size_ = take(rows, row) * column_count_;
        // Vectors of points: lest all fall into the same sets of a cache.
        step = unit == 1 ? stride : (rounded_up(stride, line) / line | 1) * line;
    }

    /// Packs the matrices at some points, or unpacks them. A vector of fewer points is filled up with zeros.
    template <bool Packs>
    void copy(T* packed, T* memory, index points) const {
        if (moves == 1 && unit_ > 1) {
            along<Packs>(packed, memory, points);
            return;
        }
        const index whole = points / unit_;
        const index rest = points % unit_;
        copy_units<Packs>(packed, memory, whole, unit_);
        if (rest > 0) {
            T* const last = packed + whole * step;
            if constexpr (Packs) {
                std::fill_n(last, step, T(0));
            }
            copy_units<Packs>(last, memory + whole * unit_ * moves, 1, rest);
        }
    }

    bool is_packed = false;
    index moves = 0;  ///< elements from one point to the next, where they lie
    index step = 0;   ///< in packed memory: elements from one unit of points to the next

private:
    /// Copies `units` units of `lanes` points.
    template <bool Packs>
    void copy_units(T* packed, T* memory, index units, index lanes) const {
        if (units == 0) {
            return;
        }
        loop_nest nest = elements_;
        const auto add = [&](index extent, index in_packed, index in_memory) {
            if (extent > 1) {
                index* const by = nest.add(extent);
                by[0] = in_packed;
                by[1] = in_memory;
            }
        };
        add(units, step, unit_ * moves);
        add(lanes, 1, moves);
        for (std::size_t loop = 0; !Packs && loop < nest.size(); ++loop) {
            std::swap(nest.of(loop)[0], nest.of(loop)[1]);
        }
        nest.fuse();
        nest.sort_by(0);
        copy_nest(nest, sizeof(T), Packs ? packed : memory, Packs ? memory : packed);
    }

    /// Copies matrices that are contiguous along the batch. Prefetches elements ahead: they lie far apart.
    template <bool Packs>
    void along(T* packed, T* memory, index points) const {
        with_best_instructions([&](auto set) {
            constexpr index lanes = vector_bytes(set.value) / index(sizeof(T));
            constexpr index line = 64 / index(sizeof(T));
            constexpr index ahead = 8;
            const auto address_of = [&](index number) {
                return memory + (rows_[number / column_count_] + columns_[number % column_count_]);
            };
            for (index number = 0; number < size_; ++number, packed += lanes) {
                T* const address = address_of(number);
                const T* const soon = address_of(std::min(number + ahead, size_ - 1));
                for (index point = 0; point < points; point += line) {
                    __builtin_prefetch(soon + point, Packs ? 0 : 1);
                }
                T* vectors = packed;
                index point = 0;
                for (; point + lanes <= points; point += lanes, vectors += step) {
                    __builtin_memcpy(Packs ? vectors : address + point, Packs ? address + point : vectors,
                                     lanes * sizeof(T));
                }
                for (index lane = 0; point < points && lane < lanes; ++lane) {  // a vector is filled up with zeros
                    if constexpr (Packs) {
                        vectors[lane] = point + lane < points ? address[point + lane] : T(0);
                    } else if (point + lane < points) {
                        address[point + lane] = vectors[lane];
                    }
                }
            }
        });
    }

    loop_nest elements_{2};  ///< the loops of a matrix: slot 0 is packed memory
    const index* rows_ = nullptr;
    const index* columns_ = nullptr;
    index column_count_ = 1;
    index size_ = 1;
    index unit_ = 1;
    index tables_[4 * small_product<T>::longest];
};

/// Computes small products, some points of the batch at a time.
template <class T>
class product_panels {
public:
    /// @param moves  strides of A, B and C along the batch
    /// @param lanes  vectors hold points: all matrices are packed. Else those of B and C that `packs_b` and `packs_c`
    /// say
    product_panels(const gemm_axes& axes, T scale, bool add, bool lanes, bool packs_b, bool packs_c,
                   const index (&moves)[3])
        : axes_(axes),
          scale_(scale),
          add_(add),
          in_lanes_(lanes),
          unit_(lanes ? vector_bytes(best_instruction_set()) / index(sizeof(T)) : 1) {
        using loop = gemm_axis::loop;
        a_.moves = moves[0];
        b_.moves = moves[1];
        c_.moves = moves[2];
        if (lanes) {
            a_.pack(axes_.m, &loop::first, axes_.k, &loop::first, unit_);
        }
        if (lanes || packs_b) {
            b_.pack(axes_.k, &loop::second, axes_.n, &loop::first, unit_);
        }
        if (lanes || packs_c) {
            c_.pack(axes_.m, &loop::second, axes_.n, &loop::second, unit_);
        }
    }

    /// Computes the products at `points` points, and reports them.
    void run(const T* a, const T* b, T* c, index points, progress_hook* hook) const {
        index tables[small_product<T>::largest_tables];
        const small_product<T> product(axes_, scale_, add_, tables, in_lanes_);
        const index step = a_.step + b_.step + c_.step;
        const index fits = std::max(index(panel_bytes / sizeof(T)) / step, index{2}) * unit_;
        const index units = units_of(std::min(fits, points));
        const index work = axes_.m.size * axes_.n.size * axes_.k.size * unit_;
        const index reported = units_between_reports(work);
        const scratch_memory memory(std::size_t(units * step) * sizeof(T));
        T* const left = reinterpret_cast<T*>(memory.data());
        T* const right = left + units * a_.step;
        T* const into = right + units * b_.step;
        for (index first = 0; first < points; first += fits) {
            const index count = std::min(fits, points - first);
            const T* const a_from = packed(a_, left, a + first * a_.moves, count, true);
            const T* const b_from = packed(b_, right, b + first * b_.moves, count, true);
            T* const c_into = const_cast<T*>(packed(c_, into, c + first * c_.moves, count, add_));
            for (index begin = 0; begin < units_of(count); begin += reported) {
                const index computed = std::min(reported, units_of(count) - begin);
                product.run(a_from + begin * step_of(a_), b_from + begin * step_of(b_), c_into + begin * step_of(c_),
                            computed, step_of(a_), step_of(b_), step_of(c_));
                report(hook, work * computed);
            }
            if (c_.is_packed) {
                c_.template copy<false>(into, c + first * c_.moves, count);
            }
        }
    }

private:
    static constexpr std::size_t panel_bytes = std::size_t{256} << 10;  // of the second-level cache

    [[nodiscard]] index units_of(index points) const { return (points + unit_ - 1) / unit_; }
    [[nodiscard]] static index step_of(const batched_matrix<T>& of) { return of.is_packed ? of.step : of.moves; }

    /// Where a panel is read or written: in `memory`, to which it is copied where it `is_read`, or where it lies.
    static const T* packed(const batched_matrix<T>& of, T* memory, const T* from, index count, bool is_read) {
        if (of.is_packed && is_read) {
            of.template copy<true>(memory, const_cast<T*>(from), count);
        }
        return of.is_packed ? memory : from;
    }

    gemm_axes axes_;  ///< axes of the matrices as the products read and write them
    T scale_;
    bool add_;
    bool in_lanes_;
    index unit_;
    batched_matrix<T> a_;
    batched_matrix<T> b_;
    batched_matrix<T> c_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
