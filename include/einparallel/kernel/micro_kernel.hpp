#pragma once
// The innermost block of a matrix product, one function per instruction set. All sets are compiled into every program,
// whatever its -march, and the caller picks at run time.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

namespace einparallel::detail {

/// C(rows × columns) (+)= A(rows × depth) · B(depth × columns), A packed depth-major in slivers of `rows`, B in slivers
/// of `columns`. Row i of C starts at c + row_offsets[i] and is contiguous; C is read only where `add`.
///
/// This one, the plain kernel, is for every element type: integers, bool, and what has no vector kernel.
template <class T, instruction_set Set>
struct micro_kernel {
    static constexpr index rows = 4;
    static constexpr index columns = 8;

    static void run(index depth, const T* a, const T* b, T* c, const index* row_offsets, bool add) {
        using semiring = sum_of_products<T>;
        T sums[rows][columns] = {};
        for (index step = 0; step < depth; ++step) {
            for (index row = 0; row < rows; ++row) {
                for (index column = 0; column < columns; ++column) {
                    sums[row][column] = semiring::plus(sums[row][column], semiring::times(a[row], b[column]));
                }
            }
            a += rows;
            b += columns;
        }
        for (index row = 0; row < rows; ++row) {
            T* into = c + row_offsets[row];
            for (index column = 0; column < columns; ++column) {
                into[column] = add ? semiring::plus(into[column], sums[row][column]) : sums[row][column];
            }
        }
    }
};

#if defined(__GNUC__)

// The accumulators must stay in registers, which takes complete unrolling: asked for by name, because -O2 alone may
// not.
#if defined(__clang__)
#define EINPARALLEL_DETAIL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define EINPARALLEL_DETAIL_UNROLL _Pragma("GCC unroll 32")
#endif

#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675  // nvcc passes GCC's pragma on to the host compiler, and warns of it
#endif

// A macro, because nothing else gives one body several targets: the target attribute takes no template argument, and
// g++ splits wide vectors in a function of narrow target before it inlines it into one of wide target.
#define EINPARALLEL_DETAIL_MICRO_KERNEL(SET, TARGET, ROWS, VECTORS, BYTES)                                      \
    template <class T>                                                                                          \
    struct micro_kernel<T, instruction_set::SET> {                                                              \
        static constexpr index lanes = BYTES / static_cast<index>(sizeof(T));                                   \
        static constexpr index rows = ROWS;                                                                     \
        static constexpr index columns = VECTORS * lanes;                                                       \
                                                                                                                \
        TARGET static void run(index depth, const T* a, const T* b, T* c, const index* row_offsets, bool add) { \
            typedef T vector __attribute__((vector_size(BYTES)));                                               \
            typedef T unaligned_vector __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));      \
            vector sums[ROWS][VECTORS];                                                                         \
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < ROWS; ++row) {                                    \
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < VECTORS; ++part) {                          \
                    sums[row][part] = vector{};                                                                 \
                }                                                                                               \
            }                                                                                                   \
            for (index step = 0; step < depth; ++step) {                                                        \
                vector right[VECTORS];                                                                          \
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < VECTORS; ++part) {                          \
                    right[part] = *reinterpret_cast<const unaligned_vector*>(b + part * lanes);                 \
                }                                                                                               \
                EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < ROWS; ++row) {                                \
                    EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < VECTORS; ++part) {                      \
                        sums[row][part] += a[row] * right[part];                                                \
                    }                                                                                           \
                }                                                                                               \
                a += rows;                                                                                      \
                b += columns;                                                                                   \
            }                                                                                                   \
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < ROWS; ++row) {                                    \
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < VECTORS; ++part) {                          \
                    auto* into = reinterpret_cast<unaligned_vector*>(c + row_offsets[row] + part * lanes);      \
                    *into = add ? *into + sums[row][part] : sums[row][part];                                    \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
    };

EINPARALLEL_DETAIL_MICRO_KERNEL(baseline, , 4, 2, 16)
#if EINPARALLEL_DETAIL_X86
EINPARALLEL_DETAIL_MICRO_KERNEL(avx2, __attribute__((target("avx2,fma"))), 6, 2, 32)
EINPARALLEL_DETAIL_MICRO_KERNEL(avx512, __attribute__((target("avx2,fma,avx512f"))), 12, 2, 64)
#endif

#undef EINPARALLEL_DETAIL_MICRO_KERNEL
#undef EINPARALLEL_DETAIL_UNROLL
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

#endif

}  // namespace einparallel::detail
