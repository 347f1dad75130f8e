#pragma once
// Searches, sums and lists in functions that are marked EINPARALLEL_INLINE (notation/compiled.hpp).
//
// Algorithms of std::ranges check concepts where a compiler reads a call, used or not, for each range and function
// object. This takes a seventh of the memory that a header-only unit takes while it is read. The functions below are
// instantiated only with the marked function that calls them. Their loops are not unrolled: the code of std::find is
// four times as long.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace einparallel::detail {

/// True where the predicate holds for at least one element of the range.
bool any_in(const auto& range, const auto& predicate) {
    for (const auto& each : range) {
        if (std::invoke(predicate, each)) {
            return true;
        }
    }
    return false;
}

/// True where an element of the range equals `value`.
bool found_in(const auto& value, const auto& range) {
    return any_in(range, [&](const auto& each) { return each == value; });
}

/// True where the predicate holds for every element.
bool all_in(const auto& range, const auto& predicate) {
    return !any_in(range, [&](const auto& each) { return !std::invoke(predicate, each); });
}

/// Like std::ranges::find_if, find, count_if, count and equal, but without their concepts. find_if_in returns the
/// position of the first element for which is(of(element)) is true.
template <class Range, class Is, class Of = std::identity>
auto find_if_in(Range&& range, Is is, Of of = {}) {
    auto at = std::begin(range);
    while (at != std::end(range) && !std::invoke(is, std::invoke(of, *at))) {
        ++at;
    }
    return at;
}
template <class Range, class T, class Of = std::identity>
auto find_in(Range&& range, const T& value, Of of = {}) {
    return find_if_in(
        range, [&](const auto& each) { return each == value; }, of);
}

std::ptrdiff_t count_if_in(auto&& range, auto is) {
    return std::count_if(std::begin(range), std::end(range), is);
}
std::ptrdiff_t count_in(auto&& range, const auto& value) {
    return std::count(std::begin(range), std::end(range), value);
}

template <class A, class B, class Is = std::equal_to<>>
bool equal_in(const A& a, const B& b, Is is = {}) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), is);
}

/// The sum, or the product, of `start` and of(element) for all elements.
template <class T, class Range, class Of = std::identity>
constexpr T sum_in(const Range& range, T start, Of of = {}) {
    for (const auto& each : range) {
        start += std::invoke(of, each);
    }
    return start;
}
template <class T, class Range, class Of = std::identity>
constexpr T product_in(const Range& range, T start, Of of = {}) {
    for (const auto& each : range) {
        start *= std::invoke(of, each);
    }
    return start;
}

/// The list of of(element) for all elements.
template <class Range, class Of>
auto list_of(const Range& range, Of of) {
    std::vector<std::remove_cvref_t<std::invoke_result_t<Of&, decltype(*std::begin(range))>>> made;
    made.reserve(std::size(range));
    for (const auto& each : range) {
        made.push_back(std::invoke(of, each));
    }
    return made;
}

/// A list of the elements for which the predicate holds.
template <class Range, class Is>
auto those_in(const Range& range, Is is) {
    std::vector<std::remove_cvref_t<decltype(*std::begin(range))>> made;
    std::copy_if(std::begin(range), std::end(range), std::back_inserter(made), is);
    return made;
}

/// Appends to `list` the elements of `range` that it does not have yet.
void append_new(auto& list, const auto& range) {
    for (const auto& each : range) {
        if (!found_in(each, list)) {
            list.push_back(each);
        }
    }
}

void for_each_in(auto&& range, auto what) {
    std::for_each(std::begin(range), std::end(range), what);
}

}  // namespace einparallel::detail
