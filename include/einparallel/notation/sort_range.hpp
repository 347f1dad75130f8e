#pragma once
// Sorting and searching in functions that are marked EINPARALLEL_INLINE (notation/compiled.hpp).

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

namespace einparallel::detail {

/// std::sort, instantiated no sooner than the marked function that calls it: std::sort itself is constexpr, so
/// compilers instantiate it where they read a call that depends on no template parameter.
template <class Range, class Less = std::less<>>
void sort_range(Range& range, Less less = {}) {
    std::sort(range.begin(), range.end(), less);
}

/// The same, and every value once.
template <class Range>
void sort_unique(Range& range) {
    sort_range(range);
    range.erase(std::unique(range.begin(), range.end()), range.end());
}

/// What std::ranges has by these names, but for its concepts, which compilers check for each range and function object
/// where they read a call: a seventh of the memory that a header-only unit takes while it is read.
namespace ranges {

template <class Range, class Is, class Of = std::identity>
auto find_if(Range&& range, Is is, Of of = {}) {
    auto at = std::begin(range);
    while (at != std::end(range) && !std::invoke(is, std::invoke(of, *at))) {
        ++at;
    }
    return at;
}
template <class Range, class T, class Of = std::identity>
auto find(Range&& range, const T& value, Of of = {}) {
    return ranges::find_if(
        range, [&](const auto& each) { return each == value; }, of);
}

template <class Range, class Is>
std::ptrdiff_t count_if(Range&& range, Is is) {
    return std::count_if(std::begin(range), std::end(range), is);
}
template <class Range, class T>
std::ptrdiff_t count(Range&& range, const T& value) {
    return std::count(std::begin(range), std::end(range), value);
}

template <class A, class B, class Is = std::equal_to<>>
bool equal(const A& a, const B& b, Is is = {}) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), is);
}

template <class Range, class Do>
void for_each(Range&& range, Do what) {
    std::for_each(std::begin(range), std::end(range), what);
}

}  // namespace ranges

}  // namespace einparallel::detail
