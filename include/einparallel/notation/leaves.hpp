#pragma once
// Walks through expressions: rebuilds nodes with other arguments, lists and visits leaves, and checks whether all
// leaves may stand in a statement.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// Calls what(arguments…) with the arguments of a node.
template <class Function, class... Arguments>
auto with_arguments(const join_node<Function, Arguments...>& node, const auto& what) {
    return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
        return what(argument<Position>(node.arguments)...);
    }
    (std::index_sequence_for<Arguments...>{});
}
/// A node like this one, with each(argument) in place of each argument. A number stays as it is.
auto rebuilt(const auto& number, const auto& /*each*/) {
    return number;
}
template <class Function, class... Arguments>
auto rebuilt(const join_node<Function, Arguments...>& node, const auto& each) {
    return with_arguments(node, [&](const auto&... own) { return make_join(node.function, each(own)...); });
}
template <class Op, class Over, class Inner>
auto rebuilt(const reduce_node<Op, Over, Inner>& node, const auto& each) {
    return reduce_node<Op, Over, decltype(each(node.inner))>(node.op, each(node.inner));
}
template <class Function, class Over, class Inner>
auto rebuilt(const row_node<Function, Over, Inner>& node, const auto& each) {
    return row_node<Function, Over, decltype(each(node.inner))>(each(node.inner));
}

/// The leaves of an expression, except numbers, in the order written.
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

/// Calls visit(leaf, reduced) for all leaves except numbers. `reduced` is a std::bool_constant, true inside a
/// reduction, softmax or running sum.
template <bool Reduced = false, class Operand, class Labels, class Visit>
void for_each_leaf(const leaf<Operand, Labels>& node, const Visit& visit) {
    visit(node, std::bool_constant<Reduced>{});
}
template <bool Reduced = false, class T, class Number, class Visit>
void for_each_leaf(const constant<T, Number>& /*node*/, const Visit& /*visit*/) {}
template <bool Reduced = false, class Function, class... Arguments, class Visit>
void for_each_leaf(const join_node<Function, Arguments...>& node, const Visit& visit) {
    with_arguments(node, [&](const auto&... each) { (for_each_leaf<Reduced>(each, visit), ...); });
}
template <bool Reduced = false, class E, class Visit>
void for_each_leaf(const E& node, const Visit& visit) {
    for_each_leaf<true>(node.inner, visit);
}

/// True where an operand waits for extents, which are known once the statement is computed or recorded.
template <class Operand>
inline constexpr bool waits = requires {
    Operand::waits;
};
/// True where the operand may stand in a statement that is recorded (`Recorded`), or in one that runs at once.
template <class Operand, bool Recorded>
inline constexpr bool stands_in = !Recorded || waits<Operand>;
template <bool Recorded>
inline constexpr bool stands_in<refused_operand, Recorded> = true;

/// True where all leaves of E may stand in such a statement.
template <bool Recorded, class E>
inline constexpr bool leaves_stand_in = []<class... Leaves>(type_list<Leaves...> /*all*/) {
    return (stands_in<typename Leaves::operand_type, Recorded> && ...);
}(leaves_t<E>{});

}  // namespace einparallel::detail
