#pragma once
// The library's own matrix product on scattered matrices: rows, columns and the summed index may each be several labels
// of a strided tensor, and panels are packed straight from it.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

/// A batch of products: the loops of a nest whose slot 0 is C, the first elements of A, B and C, and the numbers of
/// threads that share the batch and each product.
struct gemm_batch {
    const loop_nest& nest;
    const odometer::loop_list& loops;
    const void* a;
    std::size_t a_slot;
    const void* b;
    std::size_t b_slot;
    void* c;
    bool add;
    int threads = 1;
    int threads_inside = 1;
};

/// Computes the blocked product (Goto and van de Geijn's five loops) of packed blocks, for any types and operators, at
/// every point of a batch.
/// @pre no axis is empty; C's elements are distinct and none of them is in A or B
EINPARALLEL_INLINE void run_blocked(const tile_kernel& kernel, gemm_axes& axes, const gemm_batch& batch);

/// The loops of a nest of two operands, sorted for blocked products.
struct tiled_loops {
    gemm_axes axes;
    odometer::loop_list batch;
    int threads = 1;  ///< as in gemm_batch
    int threads_inside = 1;
};

/// Sorts the loops into batch, m, n and k. Returns none where there is too little to reuse. m always has the labels of
/// the first operand, so that ⊗ gets its arguments in order. @pre the nest is sorted by the output
EINPARALLEL_INLINE std::optional<tiled_loops> in_tiles(const loop_nest& nest, const tile_kernel& kernel);

}  // namespace einparallel::EINPARALLEL_DETAIL
