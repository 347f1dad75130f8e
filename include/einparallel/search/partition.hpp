#pragma once
// Over how many ranks extents can be cut.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <bit>
#include <span>

namespace einparallel {

/// The number of ranks that the planner plans for: `processes`, or the next power of two as in the paper.
/// @pre 1 <= processes <= 2^30
[[nodiscard]] constexpr int planned_processes(int processes, bool powers_of_two) {
    return powers_of_two ? int(std::bit_ceil(unsigned(processes))) : processes;
}

/// The largest number of ranks, at most `processes`, over which these extents can be cut: the largest q for which a
/// partition vector with ∏d = q exists. A vertex leaves all other ranks idle. With `powers_of_two` the processes are
/// rounded up, and every entry of the vector is a power of two.
/// @pre processes >= 1
EINPARALLEL_INLINE [[nodiscard]] int largest_product(std::span<const index> extents, int processes,
                                                     bool powers_of_two = false);

}  // namespace einparallel
