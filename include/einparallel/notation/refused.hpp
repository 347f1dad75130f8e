#pragma once
// Calls that fit no function. A compiler lists all functions that do not fit, some lines each; so beside those that do
// stands one that takes the rest and returns a type of which a static_assert says what fits: a type is needed where the
// user wrote the call, the inside of a function one line deeper.

#include <type_traits>

namespace einparallel::detail {

/// False, whatever the types are.
template <class... Any>
inline constexpr bool fits = false;

/// A mistake that has got its sentence: nothing else is said about it.
struct refusal {};
template <class T>
inline constexpr bool is_refused = std::is_base_of_v<refusal, std::remove_cvref_t<T>>;

/// What such a call returns: whatever is wanted of it.
struct refused : refusal {
    template <class T>
    operator T() const;
};

/// Any argument. Functions of a list of these in braces are chosen where options have no field of a name that stands
/// there: g++ then says this name, instead of all functions that there are.
struct anything {
    template <class T>
    anything(const T& /*element*/);
};

}  // namespace einparallel::detail
