#pragma once
// Sorting in functions that are marked EINPARALLEL_INLINE (notation/compiled.hpp).

#include <algorithm>
#include <functional>

namespace einparallel::detail {

/// std::sort, but instantiated only with the EINPARALLEL_INLINE function that calls it. std::sort itself is constexpr,
/// so compilers instantiate it where they read a call that depends on no template parameter.
template <class Range, class Less = std::less<>>
void sort_range(Range& range, Less less = {}) {
    std::sort(range.begin(), range.end(), less);
}

/// Sorts the range and removes repeated values.
void sort_unique(auto& range) {
    sort_range(range);
    range.erase(std::unique(range.begin(), range.end()), range.end());
}

}  // namespace einparallel::detail
