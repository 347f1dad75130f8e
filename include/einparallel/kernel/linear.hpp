#pragma once
// Which ⊗ summands may go through one by one: f(x ⊕ x', y) = f(x, y) ⊕ f(x', y), read off the types of ⊕ and f.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

// The trees of functions (kernel/function_tree.hpp), of which only the types matter here.
template <std::size_t Leaf>
struct pick;
template <class T>
struct number;
template <class Function, class... Branches>
struct apply;
template <class Tree>
struct tree_function;

/// Which of the library's own ⊕ an operator is.
template <class Reduce>
inline constexpr reduction reduction_of = std::is_same_v<Reduce, op::sum_type>    ? reduction::sum
                                          : std::is_same_v<Reduce, op::prod_type> ? reduction::prod
                                          : std::is_same_v<Reduce, op::max_type>  ? reduction::max
                                          : std::is_same_v<Reduce, op::min_type>  ? reduction::min
                                                                                  : reduction::unknown;

/// How a function depends on the operands that come in summands: not at all, such that a sum of them may go through it
/// summand by summand, or in any other way.
enum class dependence : std::uint8_t { none, linear, other };

/// F(x1, …) ⊕ F(x1', …) = F(x1 ⊕ x1', …): ⊕ itself under the name that it has among functions, minus, and maps that
/// sums pass through.
template <class Reduce, class F, class T>
inline constexpr bool is_additive = std::is_same_v<Reduce, F> ||
                                    (std::is_same_v<Reduce, op::sum_type> && std::is_same_v<F, plus>) ||
                                    (std::is_same_v<Reduce, op::prod_type> && std::is_same_v<F, times>) ||
                                    (std::is_same_v<Reduce, op::max_type> && std::is_same_v<F, larger>) ||
                                    (std::is_same_v<Reduce, op::min_type> && std::is_same_v<F, smaller>) ||
                                    (std::is_same_v<Reduce, op::sum_type> && !std::is_same_v<T, bool> &&
                                     (std::is_same_v<F, minus> || std::is_same_v<F, negate> ||
                                      std::is_same_v<F, conjugate>));

template <class Reduce, class F, class T>
constexpr dependence dependence_of_call(std::initializer_list<dependence> of) {
    std::size_t linear = 0;
    std::size_t none = 0;
    for (const dependence each : of) {
        linear += each == dependence::linear ? 1 : 0;
        none += each == dependence::none ? 1 : 0;
    }
    if (none == of.size()) {
        return dependence::none;
    }
    if (linear + none < of.size()) {
        return dependence::other;
    }
    const bool all = none == 0 && is_additive<Reduce, F, T>;
    // Division is not among them, nor subtraction under max: by 0, or by an infinity that stands for "no edge",
    // summands one by one give what is no number where their sum gives one.
    const bool one = linear == 1 && distributes_over<Reduce, F>;
    return all || one ? dependence::linear : dependence::other;
}

/// A tree in which everything is of type T. `pending`: the operands that come in summands, a bit each.
template <class Reduce, class T, std::size_t Leaf>
constexpr dependence dependence_of(std::type_identity<pick<Leaf>> /*tree*/, std::uint64_t pending) {
    return Leaf < 64 && ((pending >> Leaf) & 1U) != 0 ? dependence::linear : dependence::none;
}
template <class Reduce, class T, class Number>
constexpr dependence dependence_of(std::type_identity<number<Number>> /*tree*/, std::uint64_t /*pending*/) {
    return std::is_same_v<Number, T> ? dependence::none : dependence::other;
}
template <class Reduce, class T, class F, class... Branches>
constexpr dependence dependence_of(std::type_identity<apply<F, Branches...>> /*tree*/, std::uint64_t pending) {
    return dependence_of_call<Reduce, F, T>({dependence_of<Reduce, T>(std::type_identity<Branches>{}, pending)...});
}
template <class Reduce, class T, std::size_t... Leaf, class Tree>
constexpr dependence dependence_of(std::index_sequence<Leaf...> /*all*/, std::type_identity<tree_function<Tree>> /*f*/,
                                   std::uint64_t pending) {
    return dependence_of<Reduce, T>(std::type_identity<Tree>{}, pending);
}
template <class Reduce, class T, std::size_t... Leaf, class F>
constexpr dependence dependence_of(std::index_sequence<Leaf...> /*all*/, std::type_identity<F> /*f*/,
                                   std::uint64_t pending) {
    return dependence_of_call<Reduce, F, T>({dependence_of<Reduce, T>(std::type_identity<pick<Leaf>>{}, pending)...});
}

/// True where f of elements In…, aggregated by Reduce as elements of type Out, takes these operands in summands of that
/// same ⊕. Where types differ, rounding and wrapping would happen at other places: never then. An operator with a state
/// may be another one elsewhere.
template <class Out, class Reduce, class F, class... In>
constexpr bool takes_summands(std::uint64_t pending) {
    if constexpr (reduction_of<Reduce> != reduction::unknown && (std::is_same_v<In, Out> && ...)) {
        return dependence_of<Reduce, Out>(std::index_sequence_for<In...>{}, std::type_identity<F>{}, pending) ==
               dependence::linear;
    } else {
        return false;
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
