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

// --- trees as programs
// ---------------------------------------------------------------------------------------------------------

/// Which of the library's own ⊕ an operator is.
template <class Reduce>
inline constexpr reduction reduction_of = std::is_same_v<Reduce, op::sum_type>    ? reduction::sum
                                          : std::is_same_v<Reduce, op::prod_type> ? reduction::prod
                                          : std::is_same_v<Reduce, op::max_type>  ? reduction::max
                                          : std::is_same_v<Reduce, op::min_type>  ? reduction::min
                                                                                  : reduction::unknown;

template <class Reduce, class Function>
constexpr op_function op_function_of() {
    op_function made;
    if constexpr (has_op_code<Function>) {
        made.code = Function::code;
    } else {
        made.has_state = !std::is_empty_v<Function>;
        made.distributes = distributes_over<Reduce, Function>;
        if constexpr (requires { Function::name; }) {
            made.name = Function::name;
        }
    }
    return made;
}

/// The register with a value of type T.
template <class T>
struct in_register {
    using type = T;
    op_register at;
};

/// Writes trees of elements In… that ⊕ = Reduce aggregates.
template <class Reduce, class... In>
struct op_program_writer {
    op_program& into;

    template <std::size_t Leaf>
    in_register<std::tuple_element_t<Leaf, std::tuple<In...>>> write(const pick<Leaf>& /*tree*/) const {
        return {op_register(Leaf)};
    }
    template <class T>
    in_register<T> write(const number<T>& tree) const {
        return {into.number(register_type<T>(), bits_of(tree.value))};
    }
    template <class Function, class... Branches>
    auto write(const apply<Function, Branches...>& tree) const {
        return call(tree, std::index_sequence_for<Branches...>{});
    }

    /// Of elements of types T….
    template <class Function, class... T>
    auto called(std::span<const op_register> arguments) const {
        using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, T...>>;
        element_type compared;
        if constexpr (has_op_code<Function> && std::is_same_v<Value, bool> && sizeof...(T) == 2) {
            compared = element_type_of<typename decltype(arithmetic_result<T...>())::type>();
        }
        return in_register<Value>{
            into.call(op_function_of<Reduce, Function>(), register_type<Value>(), compared, arguments)};
    }

private:
    template <class Function, class... Branches, std::size_t... Branch>
    auto call(const apply<Function, Branches...>& tree, std::index_sequence<Branch...> /*all*/) const {
        const op_register arguments[] = {write(boost::hana::at_c<Branch>(tree.branches)).at...};
        return called<Function, typename decltype(write(boost::hana::at_c<Branch>(tree.branches)))::type...>(arguments);
    }
};

/// The program of a vertex with results of type Out.
template <class Out, class Reduce, class... In, class Tree>
op_program program_of(const Tree& tree) {
    constexpr std::array<element_type, sizeof...(In)> operands{element_type_of<In>()...};
    op_program made(reduction_of<Reduce>, operands,
                    reduction_of<Reduce> == reduction::unknown && !std::is_empty_v<Reduce>);
    const op_register result = op_program_writer<Reduce, In...>{made}.write(tree).at;
    made.call({op_code::cast}, element_type_of<Out>(), {}, {&result, 1});
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
