#pragma once
// Block-cyclic distributions as boxes: a dimension that is cut in cycles is two, the number of a cycle and the index in
// it, and a process has the same indices of every cycle.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A box of a tensor whose dimensions are cut in cycles of these lengths, as boxes that have two sides for each of its
/// own: along every dimension the end of a cycle, whole ones, and the beginning of one.
EINPARALLEL_INLINE std::vector<box> in_cycles(const box& region, const std::vector<index>& lengths);

}  // namespace einparallel::EINPARALLEL_DETAIL
