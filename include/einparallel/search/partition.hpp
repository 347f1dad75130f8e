#pragma once
// How many ranks extents can be cut over.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <bit>
#include <span>

namespace einparallel {

/// Ranks that the planner counts with: `processes`, or the next power of two as in the paper.
/// @pre 1 <= processes <= 2^30
[[nodiscard]] constexpr int planned_processes(int processes, bool powers_of_two) {
    return powers_of_two ? int(std::bit_ceil(unsigned(processes))) : processes;
}

/// The largest number of ranks, at most `processes`, that extents like these can be cut over: the largest q for which
/// a partition vector with ∏d = q exists. Ranks beyond it idle in the vertex. With `powers_of_two` the processes are
/// rounded up and every entry is a power of two. @pre processes >= 1
EINPARALLEL_INLINE [[nodiscard]] int largest_product(std::span<const index> extents, int processes,
                                                     bool powers_of_two = false);

}  // namespace einparallel
