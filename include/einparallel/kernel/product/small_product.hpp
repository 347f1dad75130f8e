#pragma once
// Many products that are too small to be worth packing: tables of offsets are made once, and each product reads its
// operands in place.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/product/small_call.hpp>
#include <einparallel/kernel/product/vector_strip.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/vector_tile.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Products of one shape at different addresses.
/// @tparam Columns  what vectors of columns hold
template <Element T, small_vectors Columns = small_vectors::columns>
class small_product {
public:
    static constexpr index longest = 64;  ///< largest m, n and k
    /// Computed in vectors: floating-point numbers, and integers that are not short.
    static constexpr bool in_vectors = std::is_floating_point_v<T> || (std::is_integral_v<T> && sizeof(T) >= 4);

    /// How many numbers the tables have: offsets along each index in both of its matrices, and the steps along k.
    static std::size_t tables_of(const gemm_axes& axes) {
        return std::size_t(2 * (axes.m.size + axes.n.size + 2 * axes.k.size));
    }
    static constexpr std::size_t largest_tables = std::size_t(8 * longest);

    /// @param tables  uninitialised memory for tables_of(axes) numbers
    /// @param are_points  whether vectors hold points of a batch; columns are evenly apart then
    /// @param add  whether runs may add to C
    /// Axes, scale and tables must outlive this object.
    small_product(const gemm_axes& axes, const T& scale, bool add, index* tables, bool are_points = false)
        : axes_(axes),
          scale_(scale),
          a_rows_(tables),
          b_columns_(a_rows_ + 2 * axes.m.size),
          a_along_(b_columns_ + 2 * axes.n.size),
          along_(reinterpret_cast<small_step*>(a_along_ + 2 * axes.k.size)) {
        gemm_blocks(axes.m, axes.m.size, a_rows_).take_all();
        gemm_blocks(axes.k, axes.k.size, a_along_).take_all();
        if constexpr (in_vectors) {
            const index n = axes.n.size;
            const gemm_axis::loop column = n > 1 ? axes.n.loops.back() : gemm_axis::loop{};
            for (index step = 0; step < axes.k.size; ++step) {
                std::construct_at(along_ + step, small_step{a_along_[step], b_along_[step]});
            }
            small_ = {axes.m.size, n, axes.k.size, a_rows_, along_, c_rows_, &scale_};
            small_.is_even = are_even(small_);
            if (are_points) {
                small_.b_column = n > 1 ? column.first : 0;
                small_.c_column = n > 1 ? column.second : 0;
                with_best_instructions([&](auto set) {
                    run_ =
                        &vector_strip<lane, set.value>::template small<vector_bytes(set.value), small_vectors::points>;
                });
            } else if (n == 1 || (axes.n.loops.size() == 1 && column.first == 1 && column.second == 1)) {
                choose(n, add);
            }
        }
        if (run_ == nullptr) {  // vectors need no table of many columns
            gemm_blocks(axes.n, axes.n.size, b_columns_).take_all();
        }
    }

    /// Notes that the products at all points together read and write more than caches near the processor hold.
    void comes_from_far() { small_.is_far = true; }

    /// Computes the products at `points` points. From one point to the next, A, B and C move by these steps, in
    /// elements. C is not read unless `add`.
    void run(const T* a, const T* b, T* c, index points, index a_step, index b_step, index c_step, bool add) const {
        if (run_ != nullptr) {
            small_call call = small_;
            call.points = points;
            call.a_point = a_step;
            call.b_point = b_step;
            call.c_point = c_step;
            run_(call, reinterpret_cast<const lane*>(a), reinterpret_cast<const lane*>(b), reinterpret_cast<lane*>(c),
                 add);
            return;
        }
        for (index point = 0; point < points; ++point) {
            run_alone(a + point * a_step, b + point * b_step, c + point * c_step, add);
        }
    }

private:
    void run_alone(const T* a, const T* b, T* c, bool add) const {
        for (index row = 0; row < axes_.m.size; ++row) {
            for (index column = 0; column < axes_.n.size; ++column) {
                const T* const left = a + a_rows_[row];
                const T* const right = b + b_columns_[column];
                T sum = op::prod(left[a_along_[0]], right[b_along_[0]]);
                for (index step = 1; step < axes_.k.size; ++step) {
                    sum = op::sum(sum, op::prod(left[a_along_[step]], right[b_along_[step]]));
                }
                sum = scale_ == T(1) ? sum : op::prod(scale_, sum);
                T& into = c[c_rows_[row] + c_columns_[column]];
                into = add ? op::sum(into, sum) : sum;
            }
        }
    }

    using lane = typename lane_of<T>::type;  // one code for signed and unsigned integers
    static constexpr index element = index(sizeof(T));

    /// Chooses the shortest vectors that hold n columns where there are masks, else the widest that n columns fill,
    /// whether or not they are added to C.
    void choose(index n, bool adds) {
        const auto fits = [&](instruction_set set, index bytes) {
            const index lanes = bytes / element;
            // Two vectors may overlap: both read C before one of them writes it.
            return supported(set) && n >= lanes && (!adds || n % lanes == 0 || n <= 2 * lanes);
        };
#if EINPARALLEL_DETAIL_X86
        if (supported(instruction_set::avx512)) {
            using code = vector_strip<lane, instruction_set::avx512>;
            run_ = n * element <= 32 ? &code::template small<32, Columns> : &code::template small<64, Columns>;
            return;
        }
        if (fits(instruction_set::avx2, 32)) {
            run_ = &vector_strip<lane, instruction_set::avx2>::template small<32, Columns>;
            return;
        }
        if (fits(instruction_set::avx2, 16) && n * element <= 32) {
            run_ = &vector_strip<lane, instruction_set::avx2>::template small<16, Columns>;
            return;
        }
#endif
        if (fits(instruction_set::baseline, 16)) {
            run_ = &vector_strip<lane, instruction_set::baseline>::template small<16, Columns>;
        }
    }

    const gemm_axes& axes_;
    const T& scale_;
    small_call small_;
    void (*run_)(const small_call&, const lane*, const lane*, lane*, bool) = nullptr;
    // Offsets in one matrix and in the other.
    index* a_rows_;
    index* b_columns_;
    index* a_along_;
    small_step* along_;
    index* c_rows_ = a_rows_ + axes_.m.size;
    index* c_columns_ = b_columns_ + axes_.n.size;
    index* b_along_ = a_along_ + axes_.k.size;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
