#pragma once
// Block-cyclic distributions as boxes: a dimension that is cut in cycles is two, the number of a cycle and the index in
// it, and a process has the same indices of every cycle.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Splits a box of a tensor whose dimensions are cut in cycles of these lengths. The boxes returned have two sides for
/// each side of `region`: the numbers of the cycles, and the indices in each of these cycles. A side is split into up
/// to three ranges: the end of a cycle, whole cycles, and the beginning of a cycle.
EINPARALLEL_INLINE std::vector<box> in_cycles(const box& region, const std::vector<index>& lengths);

}  // namespace einparallel::EINPARALLEL_DETAIL
