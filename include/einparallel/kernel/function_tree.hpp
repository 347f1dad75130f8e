#pragma once
// The element-wise part of an expression as one function of its leaves' elements: the ⊗ of a vertex.

#include <einparallel/kernel/formula.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Element of leaf number `Leaf`.
template <std::size_t Leaf>
struct pick {
    template <class Elements>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(const Elements& elements) const {
        return boost::hana::at_c<Leaf>(elements);
    }
};

/// A number of the expression.
template <class T>
struct number {
    T value;
    template <class Elements>
    EINPARALLEL_HOST_DEVICE constexpr T operator()(const Elements& /*elements*/) const {
        return value;
    }
};

/// A function of subtrees.
template <class Function, class... Branches>
struct apply {
    Function function;
    boost::hana::basic_tuple<Branches...> branches;

    explicit constexpr apply(Function applied, Branches... to)
        : function(std::move(applied)), branches(std::move(to)...) {}

    template <class Elements>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(const Elements& elements) const {
        return call(elements, std::index_sequence_for<Branches...>{});
    }

private:
    template <class Elements, std::size_t... Branch>
    EINPARALLEL_HOST_DEVICE constexpr auto call(const Elements& elements,
                                                std::index_sequence<Branch...> /*all*/) const {
        return function(boost::hana::at_c<Branch>(branches)(elements)...);
    }
};

/// A tree as a function of r elements: what a join kernel calls.
template <class Tree>
struct tree_function {
    Tree tree;
    template <class... Elements>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(Elements... elements) const {
        return tree(boost::hana::basic_tuple<Elements...>(elements...));
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel::detail {

template <std::size_t Leaf>
inline constexpr bool is_plain<pick<Leaf>> = true;
template <class T>
inline constexpr bool is_plain<number<T>> = true;
template <class Function, class... Branches>
inline constexpr bool is_plain<apply<Function, Branches...>> = is_plain<Function> && (is_plain<Branches> && ...);
template <class Tree>
inline constexpr bool is_plain<tree_function<Tree>> = is_plain<Tree>;

}  // namespace einparallel::detail

namespace einparallel::EINPARALLEL_DETAIL {

/// The tree f(leaf 0, leaf 1, …) is f itself.
template <class Function, class... Branches, std::size_t... Leaf>
constexpr bool applies_to_leaves_in_order(std::type_identity<apply<Function, Branches...>> /*tree*/,
                                          std::index_sequence<Leaf...> /*all*/) {
    return (std::is_same_v<Branches, pick<Leaf>> && ...);
}
template <class Function, class... Branches>
auto flatten_tree(apply<Function, Branches...> tree) {
    if constexpr (applies_to_leaves_in_order(std::type_identity<apply<Function, Branches...>>{},
                                             std::index_sequence_for<Branches...>{})) {
        return std::move(tree.function);
    } else {
        return tree_function<apply<Function, Branches...>>{std::move(tree)};
    }
}
template <class Tree>
auto flatten_tree(Tree tree) {
    return tree_function<Tree>{std::move(tree)};
}

/// Two functions of one type are the same: they have no state, or numbers that are equal.
template <class Function>
bool same_function(const Function& /*a*/, const Function& /*b*/) {
    return std::is_empty_v<Function>;
}
template <class T>
bool same_function(const number<T>& a, const number<T>& b) {
    return same_bits(a.value, b.value);
}
template <class Function, class... Branches>
bool same_function(const apply<Function, Branches...>& a, const apply<Function, Branches...>& b) {
    return [&]<std::size_t... Branch>(std::index_sequence<Branch...> /*all*/) {
        return same_function(a.function, b.function) &&
               (same_function(boost::hana::at_c<Branch>(a.branches), boost::hana::at_c<Branch>(b.branches)) && ...);
    }
    (std::index_sequence_for<Branches...>{});
}
template <class Tree>
bool same_function(const tree_function<Tree>& a, const tree_function<Tree>& b) {
    return same_function(a.tree, b.tree);
}

// --- words for tables
// ---------------------------------------------------------------------------------------------------------

template <std::size_t Leaf>
formula_part part_of(const pick<Leaf>& /*tree*/) {
    return {operand_letter(Leaf)};
}
template <class T>
formula_part part_of(const number<T>& tree) {
    return {written_value(tree.value)};
}
template <class Function, class... Branches>
formula_part part_of(const apply<Function, Branches...>& tree) {
    std::vector<formula_part> arguments;
    [&]<std::size_t... Branch>(std::index_sequence<Branch...> /*all*/) {
        (arguments.push_back(part_of(boost::hana::at_c<Branch>(tree.branches))), ...);
    }
    (std::index_sequence_for<Branches...>{});
    if constexpr (requires { Function::name; }) {
        return call_part(Function::name, std::move(arguments));
    } else {
        return call_part("f", std::move(arguments));
    }
}

/// The tree as a reader would write it, operands as letters: `|x - y|`, `x/(y + z - u - v)`.
template <class Tree>
std::string written(const Tree& tree) {
    return part_of(tree).text;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
