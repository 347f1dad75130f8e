#pragma once
// Searching in functions that are marked EINPARALLEL_INLINE (notation/compiled.hpp).
//
// Algorithms of std::ranges check concepts where a compiler reads their call, used or not; these are instantiated no
// sooner than the marked function that calls them. Loops that are not unrolled: std::find's code is four times as long.

#include <functional>

namespace einparallel::detail {

/// True where an element of the range equals `value`.
template <class Value, class Range>
bool found_in(const Value& value, const Range& range) {
    for (const auto& each : range) {
        if (each == value) {
            return true;
        }
    }
    return false;
}

/// True where the predicate holds for an element of the range at least.
template <class Range, class Predicate>
bool any_in(const Range& range, const Predicate& predicate) {
    for (const auto& each : range) {
        if (std::invoke(predicate, each)) {
            return true;
        }
    }
    return false;
}

/// True where it holds for every element.
template <class Range, class Predicate>
bool all_in(const Range& range, const Predicate& predicate) {
    return !any_in(range, [&](const auto& each) { return !std::invoke(predicate, each); });
}

}  // namespace einparallel::detail
