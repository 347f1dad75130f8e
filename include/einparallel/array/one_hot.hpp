#pragma once
// Computes sums of products with a one-hot operand as reads at indices that are data: Σ_v one_hot(token(i), v) · W(v,
// d) is W(token(i), d).

#include <einparallel/array/resolve.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/leaves.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// times_in: how often label V is in a list. leaves_with: how many leaves have label V.
template <class V, class... Labels>
constexpr std::size_t times_in(label_list<Labels...> /*labels*/) {
    return ((std::is_same_v<V, Labels> ? 1U : 0U) + ... + std::size_t{0});
}
template <class V, class... Leaves>
constexpr std::size_t leaves_with(type_list<Leaves...> /*all*/) {
    return ((appears_in<V, typename Leaves::labels> ? 1U : 0U) + ... + std::size_t{0});
}

/// True where the product of A and B is a read of B at the token of A. Whole is the right-hand side of the statement.
template <class Left, class Whole, class A, class B>
inline constexpr bool selects_by_product = false;
template <class Left, class Whole, class Token, class V, class Operand, class Labels>
inline constexpr bool selects_by_product<Left, Whole, join_node<is_one_hot, Token, leaf<iota_operand, label_list<V>>>,
                                         leaf<Operand, Labels>> =
    Whole::is_flat && !appears_in<V, Left> && times_in<V>(Labels{}) == 1 && leaves_with<V>(leaves_t<Whole>{}) == 2 &&
    std::is_same_v<arithmetic_t<bool, typename Operand::value_type>, typename Operand::value_type> && !waits<Operand>;

template <class Token, class V, class Operand, class... Labels>
auto selection_of(const join_node<is_one_hot, Token, leaf<iota_operand, label_list<V>>>& hot,
                  const leaf<Operand, label_list<Labels...>>& read) {
    const auto index_at = [&]<class Label>(const Label& own) {
        if constexpr (std::is_same_v<Label, V>) {
            return named_token<V, Token>{argument<0>(hot.arguments)};
        } else {
            return own;
        }
    };
    return indexed(read.operand, index_at(Labels{})...);
}

/// The expression with each such product replaced by a read.
template <class Left, class Whole, class E>
auto with_selections(const E& node) {
    return node;
}
template <class Left, class Whole, class A>
auto with_selections(const join_node<negate, A>& node) {
    return make_join(negate{}, with_selections<Left, Whole>(argument<0>(node.arguments)));
}
template <class Left, class Whole, class Function, class A, class B>
    requires(joins_terms<Function> || std::is_same_v<Function, times>)
auto with_selections(const join_node<Function, A, B>& node) {
    const auto& a = argument<0>(node.arguments);
    const auto& b = argument<1>(node.arguments);
    if constexpr (std::is_same_v<Function, times> && selects_by_product<Left, Whole, A, B>) {
        return selection_of(a, b);
    } else if constexpr (std::is_same_v<Function, times> && selects_by_product<Left, Whole, B, A>) {
        return selection_of(b, a);
    } else {
        return make_join(node.function, with_selections<Left, Whole>(a), with_selections<Left, Whole>(b));
    }
}
/// True where a statement has such a product. A statement without ep::iota has no one-hot operand, so nothing is
/// compiled for it.
template <class Left, class E, bool Waits = waits_for_extents<E>>
inline constexpr bool has_selections = false;
template <class Left, class E>
inline constexpr bool has_selections<Left, E, true> =
    !std::is_same_v<decltype(with_selections<Left, E>(std::declval<const E&>())), E>;

}  // namespace einparallel::EINPARALLEL_DETAIL
