#pragma once
// The one rule for types. A statement is computed in one type: the common type (element_type.hpp) of its left-hand side
// and of all operands whose values reach it. Such an operand is converted where it is read, and the result once, to the
// type of the left-hand side. The functions on the way decide which values reach the statement, and which have a type
// of their own:
//
//   + − · sum prod cumsum        the type of their arguments, computed in the statement's type
//   exp sqrt pow …               a type of fractions: integers become double; real for real arguments
//   abs                          the real type of a complex argument
//   max min sign relu floor …    the type of their arguments, real for real ones; integers are compared as numbers
//   / of integers                a statement of its own, in the common type of the arguments
//   < <= == …, where's condition a statement of its own, which makes a bool; argmax makes an index
//   a user's functor or ⊕         gets arguments in their own types, and gives the type that it returns
//
// A number takes the type of the statement. A fraction in a statement of integers gives the statement its own type.
// Beside integers that are compared or divided, a number counts with its type in C++.

#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// What expressions contribute to the type of a statement: the common type of their values, and that of their numbers;
/// void where there are none.
template <class Values, class Numbers = void>
struct contribution {
    using values = Values;
    using numbers = Numbers;
};

template <class A, class B>
struct common_of : std::type_identity<arithmetic_t<A, B>> {};
template <class A>
struct common_of<A, void> : std::type_identity<computed_t<A>> {};
template <class B>
struct common_of<void, B> : std::type_identity<computed_t<B>> {};
template <>
struct common_of<void, void> : std::type_identity<void> {};
template <class A, class B>
using common_of_t = typename common_of<A, B>::type;

template <class... All>
struct all_contributions : std::type_identity<contribution<void>> {};
template <class First>
struct all_contributions<First> : std::type_identity<First> {};
template <class First, class Second, class... Rest>
struct all_contributions<First, Second, Rest...>
    : all_contributions<contribution<common_of_t<typename First::values, typename Second::values>,
                                     common_of_t<typename First::numbers, typename Second::numbers>>,
                        Rest...> {};

/// The type that values of type `Values` and numbers of type `Numbers` have together.
template <class Values, class Numbers>
constexpr auto type_beside() {
    if constexpr (std::is_void_v<Values> || std::is_void_v<Numbers>) {
        return std::type_identity<common_of_t<Values, Numbers>>();
    } else if constexpr (is_complex<Numbers>::value && !is_complex<Values>::value && !std::is_integral_v<Values>) {
        return std::type_identity<std::complex<Values>>();
    } else if constexpr (std::is_integral_v<Values> && !std::is_integral_v<Numbers>) {
        return std::type_identity<common_of_t<Values, Numbers>>();
    } else {
        return std::type_identity<Values>();
    }
}
template <class Contribution>
using type_of_contribution =
    typename decltype(type_beside<typename Contribution::values, typename Contribution::numbers>())::type;

template <class T>
using fraction_t = std::conditional_t<std::is_integral_v<T>, double, T>;

/// How the functor relates the types of its arguments to that of its result.
template <class Function>
constexpr type_role role_of() {
    if constexpr (requires { requires std::is_same_v<decltype(Function::code), const op_code>; }) {
        const bool is_logic = std::is_same_v<Function, both> || std::is_same_v<Function, either>;
        return is_logic ? type_role::compares : operation_of(Function::code).role;
    } else {
        return type_role::foreign;
    }
}

template <class E>
struct contribution_of;
template <class E>
using contribution_of_t = typename contribution_of<E>::type;
/// The type of an expression as a statement of its own.
template <class E>
using own_type = type_of_contribution<contribution_of_t<E>>;

template <class Operand, class Labels>
struct contribution_of<leaf<Operand, Labels>>
    : std::type_identity<contribution<computed_t<typename Operand::value_type>>> {};
template <class T, class Number>
struct contribution_of<constant<T, Number>> : std::type_identity<contribution<void, computed_t<Number>>> {};

/// The common type of the values and the numbers of these arguments, where numbers count with their own types.
template <class... Arguments>
using counted_type = common_of_t<typename all_contributions<contribution_of_t<Arguments>...>::type::values,
                                 typename all_contributions<contribution_of_t<Arguments>...>::type::numbers>;
template <class... Arguments>
inline constexpr bool are_integers = std::is_integral_v<counted_type<Arguments...>>;

template <class Function, class... Arguments>
constexpr auto contribution_of_join() {
    constexpr type_role role = role_of<Function>();
    using All = typename all_contributions<contribution_of_t<Arguments>...>::type;
    using Values = typename All::values;
    using Numbers = typename All::numbers;
    if constexpr (role == type_role::divides && are_integers<Arguments...>) {
        return std::type_identity<contribution<counted_type<Arguments...>>>();
    } else if constexpr (role == type_role::compares) {
        return std::type_identity<contribution<bool>>();
    } else if constexpr (role == type_role::positions) {
        return std::type_identity<contribution<index>>();
    } else if constexpr (role == type_role::fractions) {
        return std::type_identity<contribution<fraction_t<Values>, Numbers>>();
    } else if constexpr (role == type_role::magnitude) {
        return std::type_identity<contribution<real_part_t<Values>, real_part_t<Numbers>>>();
    } else if constexpr (role == type_role::foreign) {
        using Value = typename join_node<Function, Arguments...>::value_type;
        if constexpr (is_element<Value>) {
            return std::type_identity<contribution<computed_t<Value>>>();
        } else {
            return std::type_identity<contribution<void>>();
        }
    } else {
        return std::type_identity<All>();
    }
}
template <class Function, class... Arguments>
struct contribution_of<join_node<Function, Arguments...>> : decltype(contribution_of_join<Function, Arguments...>()) {};
template <class T, class A>
struct contribution_of<join_node<converted_to<T>, A>> : std::type_identity<contribution<T>> {};
template <class C, class A, class B>
struct contribution_of<join_node<choice, C, A, B>> : all_contributions<contribution_of_t<A>, contribution_of_t<B>> {};

template <class Op, class Over, class Inner>
struct contribution_of<reduce_node<Op, Over, Inner>>
    : std::conditional_t<role_of<Op>() == type_role::foreign, std::type_identity<contribution<own_type<Inner>>>,
                         contribution_of<Inner>> {};
template <class Over, class X, class Ranks>
struct contribution_of<reduce_node<ranked_sum, Over, join_node<element_of_rank, X, Ranks>>>
    : std::type_identity<contribution<own_type<X>>> {};
template <class Over, class X, class Ranks>
struct contribution_of<reduce_node<ranked_sum, Over, join_node<position_of_rank, X, Ranks>>>
    : std::type_identity<contribution<index>> {};
template <class Function, class Over, class Inner>
struct contribution_of<row_node<Function, Over, Inner>> : contribution_of<Inner> {};

/// True where everything in E is of type T already.
template <class T, class E>
inline constexpr bool is_in = false;
template <class T, class Operand, class Labels>
inline constexpr bool is_in<T, leaf<Operand, Labels>> = std::is_same_v<computed_t<typename Operand::value_type>, T>;
template <class T, class Number>
inline constexpr bool is_in<T, constant<T, Number>> = std::is_same_v<T, Number> ||
                                                      (!std::is_integral_v<T> &&
                                                       (is_complex<T>::value || !is_complex<Number>::value));
template <class T, class Function, class... Arguments>
inline constexpr bool is_in<T, join_node<Function, Arguments...>> = (role_of<Function>() == type_role::arithmetic ||
                                                                     (!std::is_integral_v<T> && !is_complex<T>::value &&
                                                                      role_of<Function>() != type_role::foreign &&
                                                                      role_of<Function>() != type_role::chooses &&
                                                                      role_of<Function>() != type_role::positions &&
                                                                      role_of<Function>() != type_role::compares)) &&
                                                                    (is_in<T, Arguments> && ...);
template <class T, class Op, class Over, class Inner>
inline constexpr bool is_in<T, reduce_node<Op, Over, Inner>> =
    !std::is_same_v<Op, ranked_sum> &&
    (role_of<Op>() == type_role::arithmetic || !std::is_integral_v<T>)&&is_in<T, Inner>;
template <class T, class Function, class Over, class Inner>
inline constexpr bool is_in<T, row_node<Function, Over, Inner>> = !is_complex<T>::value && is_in<T, Inner>;

/// The type of a statement with elements Out on the left and the expression E on the right.
template <class Out, class E, bool IsIn = is_in<computed_t<Out>, E>>
struct type_of_statement : std::type_identity<computed_t<Out>> {};
template <class Out, class E>
struct type_of_statement<Out, E, false>
    : std::type_identity<
          type_of_contribution<typename all_contributions<contribution<computed_t<Out>>, contribution_of_t<E>>::type>> {
};
template <class Out, class E>
using statement_type = typename type_of_statement<Out, E>::type;

/// True where a value of type From may become an element of type To: not where a complex number would become real
/// (keeps_imaginary), a fraction an integer (keeps_fraction), or an integer a half type of a smaller range
/// (keeps_range).
template <class From, class To>
inline constexpr bool keeps_imaginary = !is_complex<From>::value || is_complex<To>::value;
template <class From, class To>
inline constexpr bool keeps_fraction = !std::is_integral_v<To> || std::is_integral_v<From> || is_complex<From>::value;
template <class From, class To>
inline constexpr bool keeps_range = true;
template <class From, class To>
    requires(std::is_integral_v<From>&& is_half<To>)
inline constexpr bool keeps_range<From, To> =
    double(std::numeric_limits<From>::max()) <= double(std::numeric_limits<To>::max());
/// True where the values of an expression keep the range (is_in_range), and where they keep all of this (is_storable).
template <class E, class To>
inline constexpr bool is_in_range =
    std::is_void_v<typename contribution_of_t<E>::values> || keeps_range<own_type<E>, To>;
template <class E, class To>
inline constexpr bool is_storable =
    keeps_imaginary<typename E::value_type, To>&& keeps_fraction<typename E::value_type, To>&& is_in_range<E, To>;

}  // namespace einparallel::detail
