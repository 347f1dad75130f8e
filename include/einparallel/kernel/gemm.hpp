#pragma once
// The library's own matrix product on scattered matrices: rows, columns and the summed index may each be several fused
// labels of a strided tensor, and panels are packed straight from it.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/micro_kernel.hpp>
#include <einparallel/kernel/pack.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace einparallel::detail {

/// One index of a matrix product, made of any number of loops (outermost first), with the strides in elements of the
/// two matrices that have it: m moves A and C, n moves B and C, k moves A and B.
struct gemm_axis {
    index size = 1;
    small_vector<index, 4> extents;
    small_vector<index, 4> first;
    small_vector<index, 4> second;

    void add(index extent, index first_stride, index second_stride) {
        size *= extent;
        extents.push_back(extent);
        first.push_back(first_stride);
        second.push_back(second_stride);
    }

    /// Offsets of `count` consecutive values of the index from `begin` on, in one of the two matrices.
    void fill(const small_vector<index, 4>& strides, index begin, index count, index* offsets) const;
};

inline void gemm_axis::fill(const small_vector<index, 4>& strides, index begin, index count, index* offsets) const {
    if (extents.size() == 1) {
        for (index position = 0; position < count; ++position) {
            offsets[position] = (begin + position) * strides[0];
        }
        return;
    }
    small_vector<index, 4> counters(extents.size(), 0);
    index offset = 0;
    for (std::size_t loop = extents.size(); loop-- > 0;) {
        counters[loop] = begin % extents[loop];
        begin /= extents[loop];
        offset += counters[loop] * strides[loop];
    }
    for (index position = 0; position < count; ++position) {
        offsets[position] = offset;
        for (std::size_t loop = extents.size(); loop-- > 0;) {
            offset += strides[loop];
            if (++counters[loop] < extents[loop]) {
                break;
            }
            offset -= extents[loop] * strides[loop];
            counters[loop] = 0;
        }
    }
}

/// C(m, n) (+)= scale · Σ_k A(m, k) · B(k, n). C is not read unless `add`.
template <Element T>
struct gemm_call {
    gemm_axis m;  ///< strides of A, C
    gemm_axis n;  ///< strides of B, C; fastest where its last loop has stride 1 in C
    gemm_axis k;  ///< strides of A, B
    const T* a = nullptr;
    const T* b = nullptr;
    T* c = nullptr;
    T scale = sum_of_products<T>::one;
    bool add = false;
};

/// Type of the numbers that the micro-kernel for T multiplies.
template <class T>
struct packed_type {
    using type = T;
    static constexpr index parts = 1;
};
template <class R>
struct packed_type<std::complex<R>> {
    using type = R;
    static constexpr index parts = 2;
};

/// A micro-kernel with its packing routines and block sizes, as run-time values, so that one blocked product per
/// element type serves all instruction sets. Rows, columns and block sizes count elements of T.
template <Element T>
struct gemm_kernel {
    using packed = typename packed_type<T>::type;

    index rows = 0;
    index columns = 0;
    void (*run)(index, const packed*, const packed*, packed*, const index*, bool) = nullptr;
    void (*pack_rows)(packed*, const T*, const index*, index, const index*, index, T) = nullptr;
    void (*pack_columns)(packed*, const T*, const index*, index, const index*, index, T) = nullptr;
};

/// The kernel for one instruction set.
template <Element T, instruction_set Set>
gemm_kernel<T> gemm_kernel_of() {
    using packed = typename packed_type<T>::type;
    using micro = micro_kernel<packed, Set>;
    if constexpr (is_complex<T>::value) {
        constexpr index columns = micro::columns / 2;
        return {micro::rows, columns, &micro::run, &pack_complex_rows<packed, micro::rows>,
                &pack_complex_columns<packed, columns>};
    } else {
        return {micro::rows, micro::columns, &micro::run, &pack_panels<T, micro::rows>,
                &pack_panels<T, micro::columns>};
    }
}

/// The kernel for a set chosen at run time.
/// @pre supported(set)
template <Element T>
gemm_kernel<T> gemm_kernel_for(instruction_set set) {
    if constexpr (std::is_integral_v<T>) {
        return gemm_kernel_of<T, instruction_set::plain>();
    } else {
#if EINPARALLEL_DETAIL_X86
        if (set == instruction_set::avx512) {
            return gemm_kernel_of<T, instruction_set::avx512>();
        }
        if (set == instruction_set::avx2) {
            return gemm_kernel_of<T, instruction_set::avx2>();
        }
#endif
        return gemm_kernel_of<T, instruction_set::baseline>();
    }
}

/// The length of equal blocks, a multiple of `unit`, that cover `size` with none longer than `limit`.
constexpr index even_block(index size, index limit, index unit) {
    const index blocks = (size + limit - 1) / limit;
    const index length = blocks == 0 ? unit : (size + blocks - 1) / blocks;
    return (length + unit - 1) / unit * unit;
}

/// Largest blocks: a packed block of A stays in the second-level cache (about 240 KiB; 480 KiB with AVX-512, whose
/// processors have more), a sliver of B in the first, a packed block of B (2 MiB) in the last.
inline constexpr index gemm_depth_block = 256;
inline constexpr index gemm_column_block = 2048;
inline constexpr index gemm_row_block = 480;

/// The blocked product (Goto and van de Geijn's five loops) over packed blocks.
template <Element T>
class blocked_gemm {
    using packed = typename packed_type<T>::type;
    static constexpr index parts = packed_type<T>::parts;

public:
    blocked_gemm(const gemm_call<T>& call, const gemm_kernel<T>& kernel) : call_(call), kernel_(kernel) {}

    /// @pre no axis is empty
    void run() {
        const auto bytes = static_cast<index>(sizeof(packed));
        const index depth = even_block(call_.k.size, gemm_depth_block / parts, 1);
        const index row_limit = std::min(gemm_row_block, kernel_.rows * (bytes <= 4 ? 40 : 20));
        const index rows = even_block(call_.m.size, row_limit, kernel_.rows);
        const index column_limit = std::max(kernel_.columns, gemm_column_block / parts * 4 / std::max<index>(bytes, 4));
        const index columns = even_block(call_.n.size, column_limit, kernel_.columns);
        const auto a_size = static_cast<std::size_t>(rows * depth * parts);
        const auto b_size = static_cast<std::size_t>(columns * depth * parts * parts);
        const std::size_t needed = (a_size + b_size) * sizeof(packed) + 64;
        alignas(64) std::byte on_stack[small_bytes];
        if (needed <= small_bytes) {
            walk(rows, columns, depth, reinterpret_cast<packed*>(on_stack), a_size);
        } else {
            const scratch_lease<scratch_purpose::packing> lease(needed);
            walk(rows, columns, depth, reinterpret_cast<packed*>(lease.data()), a_size);
        }
    }

private:
    static constexpr std::size_t small_bytes = 16384;

    void walk(index rows, index columns, index depth, packed* scratch, std::size_t a_size) {
        packed* const a = scratch;
        const std::size_t line = 64 / sizeof(packed);
        packed* const b = scratch + (a_size + line - 1) / line * line;
        index across[gemm_column_block];
        index a_along[gemm_depth_block];
        index b_along[gemm_depth_block];
        index row_offsets[gemm_row_block];
        index column_offsets[gemm_column_block];
        for (index column = 0; column < call_.n.size; column += columns) {
            const index width = std::min(columns, call_.n.size - column);
            call_.n.fill(call_.n.second, column, width, column_offsets);
            for (index step = 0; step < call_.k.size; step += depth) {
                const index deep = std::min(depth, call_.k.size - step);
                call_.k.fill(call_.k.first, step, deep, a_along);
                call_.k.fill(call_.k.second, step, deep, b_along);
                call_.n.fill(call_.n.first, column, width, across);
                kernel_.pack_columns(b, call_.b, across, width, b_along, deep, sum_of_products<T>::one);
                for (index row = 0; row < call_.m.size; row += rows) {
                    const index height = std::min(rows, call_.m.size - row);
                    call_.m.fill(call_.m.first, row, height, across);
                    kernel_.pack_rows(a, call_.a, across, height, a_along, deep, call_.scale);
                    call_.m.fill(call_.m.second, row, height, row_offsets);
                    multiply(a, b, deep, row_offsets, height, column_offsets, width, call_.add || step > 0);
                }
            }
        }
    }

    /// One packed block of A times one packed block of B.
    void multiply(const packed* a, const packed* b, index depth, const index* row_offsets, index height,
                  const index* column_offsets, index width, bool add) const {
        auto* const c = reinterpret_cast<packed*>(call_.c);
        for (index column = 0; column < width; column += kernel_.columns) {
            const index wide = std::min(kernel_.columns, width - column);
            const packed* const right = b + column * depth * parts * parts;
            const bool whole_columns = wide == kernel_.columns && consecutive(column_offsets + column, wide);
            for (index row = 0; row < height; row += kernel_.rows) {
                const index high = std::min(kernel_.rows, height - row);
                const packed* const left = a + row * depth * parts;
                index places[max_rows];
                if (whole_columns && high == kernel_.rows) {
                    for (index each = 0; each < high; ++each) {
                        places[each] = parts * row_offsets[row + each];
                    }
                    kernel_.run(depth * parts, left, right, c + parts * column_offsets[column], places, add);
                    continue;
                }
                alignas(64) packed tile[max_rows * max_columns];
                for (index each = 0; each < kernel_.rows; ++each) {
                    places[each] = each * kernel_.columns * parts;
                }
                kernel_.run(depth * parts, left, right, tile, places, false);
                scatter(reinterpret_cast<const T*>(tile), row_offsets + row, high, column_offsets + column, wide, add);
            }
        }
    }

    void scatter(const T* tile, const index* row_offsets, index high, const index* column_offsets, index wide,
                 bool add) const {
        for (index row = 0; row < high; ++row, tile += kernel_.columns) {
            T* const into = call_.c + row_offsets[row];
            if (add) {
                for (index column = 0; column < wide; ++column) {
                    T& element = into[column_offsets[column]];
                    element = sum_of_products<T>::plus(element, tile[column]);
                }
            } else {
                for (index column = 0; column < wide; ++column) {
                    into[column_offsets[column]] = tile[column];
                }
            }
        }
    }

    static constexpr index max_rows = 12;
    static constexpr index max_columns = 32;

    const gemm_call<T>& call_;
    gemm_kernel<T> kernel_;
};

/// Runs the product with the widest instructions of this processor.
/// @pre no axis is empty; C's elements are distinct and none of them is in A or B
template <Element T>
void gemm(const gemm_call<T>& call) {
    blocked_gemm<T>(call, gemm_kernel_for<T>(best_instruction_set())).run();
}

/// The same with given instructions: for tests and measurements.
/// @pre supported(set)
template <Element T>
void gemm(const gemm_call<T>& call, instruction_set set) {
    blocked_gemm<T>(call, gemm_kernel_for<T>(set)).run();
}

}  // namespace einparallel::detail
