#pragma once
// Divisions of integers in the sides of ep::where, which are both computed: where the other side is chosen they are by
// 1.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/notation/operations/statement_type.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// There is a division of integers in it, by more than a number.
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

/// One side of a choice: both are computed, and where the other one is chosen integers are divided by 1.
template <bool IfTrue, class E, class Condition>
auto divided_where(const E& node, const Condition& /*condition*/) {
    return node;
}
template <bool IfTrue, class Function, class... Arguments, class Condition>
    requires divides_integers<join_node<Function, Arguments...>>
auto divided_where(const join_node<Function, Arguments...>& node, const Condition& condition) {
    const auto each = [&](const auto& argument) { return divided_where<IfTrue>(argument, condition); };
    using Value = typename join_node<Function, Arguments...>::value_type;
    if constexpr (role_of<Function>() == type_role::divides && std::is_integral_v<Value>) {
        const auto divisor = each(argument<1>(node.arguments));
        using Divisor = typename std::remove_const_t<decltype(divisor)>::value_type;
        const constant<Divisor> one(1);
        const auto guarded = [&] {
            if constexpr (IfTrue) {
                return make_join(choice{}, condition, divisor, one);
            } else {
                return make_join(choice{}, condition, one, divisor);
            }
        }();
        return make_join(node.function, each(argument<0>(node.arguments)), guarded);
    } else {
        return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
            return make_join(node.function, each(argument<Position>(node.arguments))...);
        }
        (std::index_sequence_for<Arguments...>{});
    }
}
template <bool IfTrue, class Op, class Over, class Inner, class Condition>
    requires divides_integers<Inner>
auto divided_where(const reduce_node<Op, Over, Inner>& node, const Condition& condition) {
    auto inner = divided_where<IfTrue>(node.inner, condition);
    return reduce_node<Op, Over, decltype(inner)>(node.op, std::move(inner));
}
template <bool IfTrue, class Function, class Over, class Inner, class Condition>
    requires divides_integers<Inner>
auto divided_where(const row_node<Function, Over, Inner>& node, const Condition& condition) {
    auto inner = divided_where<IfTrue>(node.inner, condition);
    return row_node<Function, Over, decltype(inner)>(std::move(inner));
}

}  // namespace einparallel::detail
