#pragma once
// The element-wise operations of an expression as one function of its operands' elements: the ⊗ of a vertex.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A leaf of a tree: it stands for an element of operand number `Leaf`. A tree is an expression without tensors.
template <std::size_t Leaf, class T>
struct pick : expression_base {
    using node = pick;
    using labels = label_list<>;
    using value_type = T;
};

/// The value of a tree for given elements.
template <std::size_t Leaf, class T, class Elements>
EINPARALLEL_HOST_DEVICE constexpr T value_of_tree(const pick<Leaf, T>& /*tree*/, const Elements& elements) {
    return boost::hana::at_c<Leaf>(elements);
}
template <class T, class Number, class Elements>
EINPARALLEL_HOST_DEVICE constexpr T value_of_tree(const constant<T, Number>& tree, const Elements& /*elements*/) {
    return converted<T>(tree.value);
}
template <class Function, class... Arguments, class Elements>
EINPARALLEL_HOST_DEVICE constexpr auto value_of_tree(const join_node<Function, Arguments...>& tree,
                                                     const Elements& elements) {
    return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
        return tree.function(computed(value_of_tree(argument<Position>(tree.arguments), elements))...);
    }
    (std::index_sequence_for<Arguments...>{});
}

/// A tree as a function of one element of each operand.
template <class Tree>
struct tree_function {
    Tree tree;
    template <class... Elements>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(Elements... elements) const {
        return value_of_tree(tree, boost::hana::basic_tuple<Elements...>(elements...));
    }
};

/// True for the tree f(leaf 0, leaf 1, …), which is the functor f itself.
template <class Tree>
inline constexpr bool applies_to_leaves_in_order = false;
template <class Function, class... T, std::size_t... Leaf>
inline constexpr bool applies_to_leaves_in_order<join_node<Function, pick<Leaf, T>...>> =
    (!is_half<T> && ...) && std::is_same_v<std::index_sequence<Leaf...>, std::index_sequence_for<T...>>;
template <class Tree>
auto flatten_tree(Tree tree) {
    if constexpr (applies_to_leaves_in_order<Tree>) {
        return std::move(tree.function);
    } else {
        return tree_function<Tree>{std::move(tree)};
    }
}

/// The type to which a functor of the library casts elements T… to compute a Value; void where it takes them as they
/// are. An op_program does the same.
template <op_code Code, class Value, class... T>
constexpr auto computed_type() {
    if constexpr (compares(Code)) {
        return arithmetic_result<T...>();
    } else if constexpr (arity_of(Code) == 2 || operation_of(Code).role == type_role::fractions) {
        return std::type_identity<Value>();
    } else {
        return std::type_identity<void>();
    }
}

/// True for an expression whose functors are all the library's: its program alone describes it.
template <class E>
inline constexpr bool is_told = true;
template <class Function, class... Arguments>
inline constexpr bool is_told<join_node<Function, Arguments...>> = has_op_code<Function> && (is_told<Arguments> && ...);

/// True where the values of an expression, and of all expressions inside it, are elements.
template <class E>
inline constexpr bool has_elements = is_element<typename E::value_type>;
template <class Function, class... Arguments>
inline constexpr bool has_elements<join_node<Function, Arguments...>> =
    is_element<typename join_node<Function, Arguments...>::value_type> && (has_elements<Arguments> && ...);

/// The library's ⊕ that an operator is; unknown for an operator of the application.
template <class Reduce>
inline constexpr reduction reduction_of = reduction::unknown;
template <class Reduce>
    requires has_op_code<Reduce>
inline constexpr reduction reduction_of<Reduce> = reduction_by(Reduce::code);

}  // namespace einparallel::EINPARALLEL_DETAIL
