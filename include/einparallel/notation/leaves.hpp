#pragma once
// The leaves of an expression: as a list of types, one after the other, and whether all of them may stand in a
// statement.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::detail {

/// The leaves of an expression but its numbers, in the order written.
template <class E>
struct leaves_of : std::type_identity<typename leaves_of<decltype(E::inner)>::type> {};
template <class Operand, class Labels>
struct leaves_of<leaf<Operand, Labels>> : std::type_identity<type_list<leaf<Operand, Labels>>> {};
template <class T, class Number>
struct leaves_of<constant<T, Number>> : std::type_identity<type_list<>> {};
template <class Function, class... Arguments>
struct leaves_of<join_node<Function, Arguments...>>
    : std::type_identity<concatenate_t<type_list<>, typename leaves_of<Arguments>::type...>> {};
template <class E>
using leaves_t = typename leaves_of<E>::type;

/// Calls visit(leaf, reduced) for all of them; `reduced` is a std::bool_constant, true inside a reduction, softmax or
/// running sum.
template <bool Reduced = false, class Operand, class Labels, class Visit>
void for_each_leaf(const leaf<Operand, Labels>& node, const Visit& visit) {
    visit(node, std::bool_constant<Reduced>{});
}
template <bool Reduced = false, class T, class Number, class Visit>
void for_each_leaf(const constant<T, Number>& /*node*/, const Visit& /*visit*/) {}
template <bool Reduced = false, class Function, class... Arguments, class Visit>
void for_each_leaf(const join_node<Function, Arguments...>& node, const Visit& visit) {
    [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
        (for_each_leaf<Reduced>(argument<Position>(node.arguments), visit), ...);
    }
    (std::index_sequence_for<Arguments...>{});
}
template <bool Reduced = false, class E, class Visit>
void for_each_leaf(const E& node, const Visit& visit) {
    for_each_leaf<true>(node.inner, visit);
}

/// An operand waits for extents.
template <class Operand>
inline constexpr bool waits = requires {
    Operand::waits;
};
/// It may stand in a statement that is recorded, or in one that runs at once.
template <class Operand, bool Recorded>
inline constexpr bool stands_in = !Recorded || waits<Operand>;
template <bool Recorded>
inline constexpr bool stands_in<refused_operand, Recorded> = true;

/// All leaves of E may.
template <bool Recorded, class E>
inline constexpr bool leaves_stand_in = []<class... Leaves>(type_list<Leaves...> /*all*/) {
    return (stands_in<typename Leaves::operand_type, Recorded> && ...);
}(leaves_t<E>{});

}  // namespace einparallel::detail
