#pragma once
// Searching in functions that are marked EINPARALLEL_INLINE (notation/compiled.hpp).
//
// Algorithms of std::ranges check concepts where a compiler reads their call, used or not; these are instantiated no
// sooner than the marked function that calls them.

#include <algorithm>

namespace einparallel::detail {

/// True where an element of the range equals `value`.
template <class Value, class Range>
bool found_in(const Value& value, const Range& range) {
    return std::find(range.begin(), range.end(), value) != range.end();
}

/// True where the predicate holds for an element of the range at least.
template <class Range, class Predicate>
bool any_in(const Range& range, const Predicate& predicate) {
    return std::any_of(range.begin(), range.end(), predicate);
}

/// True where it holds for every element.
template <class Range, class Predicate>
bool all_in(const Range& range, const Predicate& predicate) {
    return std::all_of(range.begin(), range.end(), predicate);
}

}  // namespace einparallel::detail
