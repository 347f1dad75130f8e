#pragma once
// How much of the caches blocks of a matrix product may take, and how threads share the product.

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes that packed blocks may take of the caches: `a` is for a block of A in the second level, `b` for a block of B
/// in the last level, `b_alone` for a block of B in the second level where A is one block, `micro_panel` for a
/// micro-panel of B in the first level. They are constants, since many virtual machines do not report their caches
/// truly. They were best with 512 KiB in the second level, and, where vectors are `wide`, with the 1 MiB or more that
/// such processors have.
struct gemm_budget {
    bool wide = supported(instruction_set::avx512);
    std::size_t a = std::size_t{wide ? 480U : 240U} << 10;
    std::size_t b = std::size_t{2} << 20;
    std::size_t b_alone = std::size_t{wide ? 256U : 128U} << 10;
    std::size_t micro_panel = std::size_t{wide ? 32U : 20U} << 10;
    index longest = 4096;  ///< rows or columns of a block
};

/// How many cache lines, `step` bytes apart, fit into one way of the first-level cache: few where the step is a
/// multiple of a large power of two, since they fall into few sets.
inline index lines_of_a_way(index step) {
    constexpr index way = 4096;  // bytes that far apart fall into the same set
    return way / std::clamp<index>(step & -step, 64, way);
}

/// Packing an element costs as much as this many multiply-adds.
inline constexpr index packing_cost = 12;

/// How many threads are worth starting for `points` multiply-adds.
inline int threads_for(index points) {
    constexpr index worth = index{1} << 20;
    return points < worth ? 1 : int(std::min<index>(available_threads(), points / (worth / 2)));
}

/// Threads for a batch of products of `points` multiply-adds each. The first number of threads share the points of the
/// batch; the second number share each product, where the batch has too few points.
inline std::pair<int, int> threads_for_batch(index points, index batch) {
    const int inside = batch < available_threads() ? threads_for(points) : 1;
    return {inside > 1 ? 1 : int(std::min<index>(threads_for(points * batch), batch)), inside};
}

/// A grid of threads over the rows and the columns of C.
struct thread_grid {
    index rows = 1;
    index columns = 1;

    /// The grid of `threads` threads whose busiest thread has the least work, including the packing of its own rows and
    /// columns. Of two equal grids it is the one with more threads along the columns.
    /// @param row_tile, column_tile rows and columns that are computed together
    EINPARALLEL_INLINE static thread_grid of(index threads, index m, index row_tile, index n, index column_tile) {
        const auto share = [](index size, index tile, index shares) {
            const index tiles = (size + tile - 1) / tile;
            return (tiles + shares - 1) / shares * tile;
        };
        thread_grid best;
        index least = std::numeric_limits<index>::max();
        for (index rows = 1; rows <= threads; ++rows) {
            if (threads % rows == 0) {
                const index high = share(m, row_tile, rows);
                const index wide = share(n, column_tile, threads / rows);
                if (const index work = high * wide + packing_cost * (high + wide); work < least) {
                    least = work;
                    best = {rows, threads / rows};
                }
            }
        }
        return best;
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
