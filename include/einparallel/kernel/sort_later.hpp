#pragma once
// Sorting for templates on nothing (plan/numbering.hpp). A call of std::sort in one of them depends on none of its
// arguments, and as std::sort is constexpr, compilers instantiate it where they read it; this one waits.

#include <algorithm>

namespace einparallel::detail {

template <class Lazy, class Range>
void sort_later(Range& range) {
    std::sort(range.begin(), range.end());
}

}  // namespace einparallel::detail
