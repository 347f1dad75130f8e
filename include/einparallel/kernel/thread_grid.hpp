#pragma once
// How the threads of one matrix product share it out: among rows, columns and pieces of the sum.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Packing an element costs as much as so many multiply-adds.
inline constexpr index packing_cost = 12;

/// How many threads are worth starting for so many multiply-adds.
EINPARALLEL_INLINE int threads_for(index points);

/// Threads for a batch of products of so many multiply-adds each: how many share the points of the batch, and how many
/// each product, where the points are too few.
EINPARALLEL_INLINE std::pair<int, int> threads_for_batch(index points, index batch);

/// Threads as a grid over the rows of C, its columns, and pieces of the summed index.
struct thread_grid {
    index rows = 1;
    index columns = 1;
    index pieces = 1;

    [[nodiscard]] index row_of(index thread) const { return thread / columns % rows; }
    [[nodiscard]] index column_of(index thread) const { return thread % columns; }
    [[nodiscard]] index piece_of(index thread) const { return thread / (columns * rows); }

    /// The grid of so many threads with the least work for the busiest of them, packing of its own rows and columns
    /// included. Columns first where two are equal.
    /// @param row_tile, column_tile rows and columns that are computed together
    /// @param most_pieces into which the sum falls, whatever the number of threads
    EINPARALLEL_INLINE static thread_grid of(index threads, index m, index row_tile, index n, index column_tile,
                                             index most_pieces);
};

}  // namespace einparallel::EINPARALLEL_DETAIL
