#pragma once
// Divisions of integers in the sides of ep::where. Both sides are computed; the side that is not chosen divides by 1.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/notation/operations/statement_type.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// True where the expression contains a division or remainder of integers.
template <class E>
inline constexpr bool divides_integers = false;
template <class Function, class... Arguments>
inline constexpr bool divides_integers<join_node<Function, Arguments...>> =
    role_of<Function>() ==
            type_role::divides&& std::is_integral_v<typename join_node<Function, Arguments...>::value_type>
        ? true
        : (divides_integers<Arguments> || ...);
template <class Op, class Over, class Inner>
inline constexpr bool divides_integers<reduce_node<Op, Over, Inner>> = divides_integers<Inner>;
template <class Function, class Over, class Inner>
inline constexpr bool divides_integers<row_node<Function, Over, Inner>> = divides_integers<Inner>;

/// One side of an ep::where. Both sides are computed; where the other side is chosen, this one divides integers by 1.
template <bool IfTrue, class E, class Condition>
auto divided_where(const E& node, const Condition& /*condition*/) {
    return node;
}
template <bool IfTrue, class E, class Condition>
    requires divides_integers<E>
auto divided_where(const E& node, const Condition& condition) {
    return rebuilt(node, [&](const auto& each) { return divided_where<IfTrue>(each, condition); });
}
template <bool IfTrue, class Function, class A, class B, class Condition>
    requires(role_of<Function>() == type_role::divides &&
             std::is_integral_v<typename join_node<Function, A, B>::value_type>)
auto divided_where(const join_node<Function, A, B>& node, const Condition& condition) {
    const auto divisor = divided_where<IfTrue>(argument<1>(node.arguments), condition);
    const constant<typename std::remove_const_t<decltype(divisor)>::value_type> one(1);
    const auto guarded = [&] {
        if constexpr (IfTrue) {
            return make_join(choice{}, condition, divisor, one);
        } else {
            return make_join(choice{}, condition, one, divisor);
        }
    }();
    return make_join(node.function, divided_where<IfTrue>(argument<0>(node.arguments), condition), guarded);
}

}  // namespace einparallel::detail
