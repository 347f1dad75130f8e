#pragma once
// The element-wise part of an expression as one function of its leaves' elements: the ⊗ of a vertex.

#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/op_program.hpp>
#include <einparallel/notation/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

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

/// Which of the library's own ⊕ an operator is.
template <class Reduce>
inline constexpr reduction reduction_of = std::is_same_v<Reduce, op::sum_type>    ? reduction::sum
                                          : std::is_same_v<Reduce, op::prod_type> ? reduction::prod
                                          : std::is_same_v<Reduce, op::max_type>  ? reduction::max
                                          : std::is_same_v<Reduce, op::min_type>  ? reduction::min
                                                                                  : reduction::unknown;

}  // namespace einparallel::EINPARALLEL_DETAIL
