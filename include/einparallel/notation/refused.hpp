#pragma once
// Calls that fit no function. A compiler lists all functions that do not fit, with several lines each. So one more
// overload takes such calls and returns a type with a static_assert that says what fits. The type is needed where the
// user wrote the call; a static_assert inside the function would be reported one line deeper.

#include <type_traits>

namespace einparallel::detail {

/// False, whatever the types are.
template <class... Any>
inline constexpr bool fits = false;

/// The base of types that stand for a mistake. Its message has been given, so nothing else is reported about it.
struct refusal {};
template <class T>
inline constexpr bool is_refused = std::is_base_of_v<refusal, std::remove_cvref_t<T>>;

/// The result of a call that fits no function. It converts to any type, so that the compiler reports nothing else.
struct refused : refusal {
    template <class T>
    operator T() const;
};

/// Any argument. An overload that takes a braced list of these is chosen where the braces name a field that the options
/// do not have. g++ then reports this name instead of listing all overloads.
struct anything {
    template <class T>
    anything(const T& /*element*/);
};

}  // namespace einparallel::detail
