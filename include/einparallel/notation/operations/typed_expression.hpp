#pragma once
// An expression in the type of its statement (statement_type.hpp). Operands and numbers become elements of this type
// where they are read. A part with a type of its own becomes one where it has been computed.

#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/guarded_division.hpp>
#include <einparallel/notation/operations/mixed_signs.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/notation/operations/statement_type.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// The node with values of type T. A node whose values are no elements stays as it is.
template <class T, class E>
auto value_as(const E& node) {
    if constexpr (std::is_same_v<computed_t<typename E::value_type>, T> || !Scalar<typename E::value_type>) {
        return node;
    } else {
        return make_join(converted_to<T>{}, node);
    }
}

/// The type of an argument that is compared with others: T, except that an unsigned integer of 64 bits, which a signed
/// T does not hold, keeps its own type.
template <class T, class Argument>
using ordered_type = std::conditional_t<std::is_integral_v<T> && std::is_integral_v<own_type<Argument>> &&
                                            !std::is_signed_v<own_type<Argument>> && sizeof(own_type<Argument>) == 8,
                                        own_type<Argument>, T>;
template <class... T>
inline constexpr bool have_mixed_signs = false;
template <class A, class B>
inline constexpr bool have_mixed_signs<A, B> = is_number<A>&& is_number<B>&& std::is_signed_v<A> != std::is_signed_v<B>;
/// T, or the type of its real part where all arguments are real.
template <class T, class... Arguments>
using real_like =
    std::conditional_t<is_complex<typename all_contributions<contribution_of_t<Arguments>...>::type::values>::value, T,
                       real_part_t<T>>;

template <class T, class E>
decltype(auto) typed(const E& node);

/// The expression in its own type, as if it were a statement of its own.
template <class E>
decltype(auto) typed_alone(const E& node) {
    return typed<own_type<E>>(node);
}

template <class T, class Operand, class Labels>
auto typed_node(const leaf<Operand, Labels>& node) {
    if constexpr (std::is_same_v<computed_t<typename Operand::value_type>, T>) {
        return node;
    } else {
        return leaf<read_as<T, Operand>, Labels>(read_as<T, Operand>{node.operand});
    }
}
template <class T, class Value, class Number>
auto typed_node(const constant<Value, Number>& node) {
    return constant<T>(node.value);
}
template <class T, class Function, class... Arguments>
auto typed_node(const join_node<Function, Arguments...>& node) {
    constexpr type_role role = role_of<Function>();
    const auto with = [&]<class... As>(std::type_identity<As>... /*types*/) {
        return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
            if constexpr (have_mixed_signs<As...>) {
                using Signed = common_of_t<typename all_contributions<contribution<As>...>::type::values, void>;
                return value_as<T>(
                    of_mixed_signs<Signed, As...>(node.function, typed<As>(argument<Position>(node.arguments))...));
            } else {
                return value_as<T>(make_join(node.function, typed<As>(argument<Position>(node.arguments))...));
            }
        }
        (std::index_sequence_for<Arguments...>{});
    };
    if constexpr (role == type_role::foreign) {
        return value_as<T>(rebuilt(node, [](const auto& each) { return typed_alone(each); }));
    } else if constexpr (role == type_role::compares || (role == type_role::divides && are_integers<Arguments...>)) {
        return with(std::type_identity<ordered_type<counted_type<Arguments...>, Arguments>>()...);
    } else if constexpr (role == type_role::orders && std::is_integral_v<T>) {
        return with(std::type_identity<ordered_type<common_of_t<T, counted_type<Arguments...>>, Arguments>>()...);
    } else if constexpr (role == type_role::chooses) {
        const auto condition = typed_alone(argument<0>(node.arguments));
        return make_join(node.function, condition,
                         divided_where<true>(typed<T>(argument<1>(node.arguments)), condition),
                         divided_where<false>(typed<T>(argument<2>(node.arguments)), condition));
    } else if constexpr (role == type_role::positions) {
        using Own = own_type<std::remove_cvref_t<decltype(argument<0>(node.arguments))>>;
        return with(std::type_identity<Own>(), std::type_identity<Own>(), std::type_identity<index>());
    } else if constexpr (role == type_role::fractions || role == type_role::orders) {
        return with(std::type_identity<std::conditional_t<true, real_like<T, Arguments...>, Arguments>>()...);
    } else {
        return with(std::type_identity<std::conditional_t<true, T, Arguments>>()...);
    }
}
template <class T, class A>
auto typed_node(const join_node<absolute, A>& node) {
    using Own = own_type<A>;
    using As =
        std::conditional_t<!is_complex<Own>::value, ordered_type<T, A>,
                           std::conditional_t<is_complex<T>::value, T, std::complex<fraction_t<real_part_t<T>>>>>;
    return value_as<T>(make_join(absolute{}, typed<As>(argument<0>(node.arguments))));
}
template <class T, class To, class A>
auto typed_node(const join_node<converted_to<To>, A>& node) {
    return typed<T>(argument<0>(node.arguments));
}
template <class T, class Op, class Over, class Inner>
auto typed_node(const reduce_node<Op, Over, Inner>& node) {
    constexpr type_role role = role_of<Op>();
    using As =
        std::conditional_t<role == type_role::foreign, own_type<Inner>,
                           std::conditional_t<role == type_role::orders, ordered_type<real_like<T, Inner>, Inner>, T>>;
    return value_as<T>(rebuilt(node, [](const Inner& inner) { return typed<As>(inner); }));
}
template <class T, class Over, class Function, class X, class Ranks>
auto typed_node(const reduce_node<ranked_sum, Over, join_node<Function, X, Ranks>>& node) {
    auto inner = make_join(node.inner.function, typed_alone(node.inner.arguments.first), node.inner.arguments.second);
    return value_as<T>(reduce_node<ranked_sum, Over, decltype(inner)>(node.op, std::move(inner)));
}
template <class T, class Function, class Over, class Inner>
auto typed_node(const row_node<Function, Over, Inner>& node) {
    using As = std::conditional_t<std::is_same_v<Function, softmax_function>, real_like<T, Inner>, T>;
    return value_as<T>(rebuilt(node, [](const Inner& inner) { return typed<As>(inner); }));
}

/// The expression with all its values in type T, except those with a type of their own; the expression itself where
/// they are in T already. T is void where no value is an element.
template <class T, class E>
decltype(auto) typed(const E& node) {
    if constexpr (std::is_void_v<T> || is_in<T, E>) {
        return (node);
    } else {
        return typed_node<T>(node);
    }
}

}  // namespace einparallel::detail
