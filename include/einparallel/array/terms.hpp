#pragma once
// The right-hand side of a statement as a sum of terms: which of them are summed straight into the output, and one
// expression of the others, all in the type of the statement.

#include <einparallel/array/lower.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// A term that can be accumulated straight into an output of all left labels: Σ over something, and nothing broadcast.
template <class Statement, class E>
inline constexpr bool is_direct = Statement::template aggregates<E>;
template <class Statement, class Over, class Inner>
inline constexpr bool is_direct<Statement, reduce_node<op::sum_type, Over, Inner>> =
    !Statement::template aggregates<reduce_node<op::sum_type, Over, Inner>> &&
    Statement::template fills_left<reduce_node<op::sum_type, Over, Inner>>;

/// A whole reduction, softmax or running sum: a vertex by itself, whatever its ⊕.
template <class Out, class E>
inline constexpr bool is_vertex = false;
template <class Out, class Op, class Over, class Inner>
inline constexpr bool is_vertex<Out, reduce_node<Op, Over, Inner>> = true;
template <class Out, class Over, class Inner>
inline constexpr bool is_vertex<Out, reduce_node<ranked_sum, Over, Inner>> =
    std::is_same_v<typename Inner::value_type, Out>;
template <class Out, class Function, class Over, class Inner>
inline constexpr bool is_vertex<Out, row_node<Function, Over, Inner>> =
    std::is_same_v<computed_t<typename Inner::value_type>, Out>;
template <class Statement, class Out, class E>
inline constexpr bool is_alone =
    is_vertex<Out, E> && !Statement::template aggregates<E> && Statement::template fills_left<E>;

/// One term, under any signs: not a sum of terms.
template <class E>
inline constexpr bool is_single_term = true;
template <class Sign, class A, class B>
inline constexpr bool is_single_term<join_node<Sign, A, B>> = !joins_terms<Sign>;
template <class A>
inline constexpr bool is_single_term<join_node<negate, A>> = is_single_term<A>;

/// What a direct term sums: itself, or the inside of an explicit sum.
template <class E>
const E& summand(const E& term) {
    return term;
}
template <class Over, class Inner>
const Inner& summand(const reduce_node<op::sum_type, Over, Inner>& term) {
    return term.inner;
}

/// A term as it is subtracted.
template <bool Negative, class E>
decltype(auto) with_sign(const E& term) {
    if constexpr (Negative) {
        return make_join(negate{}, term);
    } else {
        return (term);
    }
}

/// Calls visit(term, std::bool_constant of its being subtracted) for every term of a sum, in the order written.
template <bool Negative, class E, class Visit>
void for_each_term(const E& term, const Visit& visit) {
    visit(term, std::bool_constant<Negative>{});
}
template <bool Negative, class Sign, class... Terms, class Visit>
    requires joins_terms<Sign>
void for_each_term(const join_node<Sign, Terms...>& node, const Visit& visit) {
    constexpr std::size_t last = sizeof...(Terms) - 1;
    if constexpr (last > 0) {
        for_each_term<Negative>(argument<0>(node.arguments), visit);
    }
    for_each_term<Negative == std::is_same_v<Sign, plus>>(argument<last>(node.arguments), visit);
}

/// No term.
struct no_terms {};

template <class A, class B, class Join>
auto join_terms(const A& a, const B& b, Join join) {
    if constexpr (std::is_same_v<B, no_terms>) {
        return a;
    } else if constexpr (std::is_same_v<A, no_terms>) {
        return with_sign<std::is_same_v<Join, minus>>(b);
    } else {
        return make_join(join, a, b);
    }
}

/// The terms that are not direct (all of them with KeepDirect), as one expression in which every sum is said; no_terms
/// where there are none.
template <class Statement, bool KeepDirect, class E>
auto elementwise_terms(const E& node) {
    if constexpr (!KeepDirect && is_direct<Statement, E>) {
        return no_terms{};
    } else if constexpr (Statement::template aggregates<E>) {
        return reduce_node<op::sum_type, missing_labels, E>(op::sum, node);
    } else {
        return node;
    }
}
template <class Statement, bool KeepDirect, class Sign, class... Terms>
    requires joins_terms<Sign>
auto elementwise_terms(const join_node<Sign, Terms...>& node) {
    const auto last = elementwise_terms<Statement, KeepDirect>(argument<sizeof...(Terms) - 1>(node.arguments));
    if constexpr (sizeof...(Terms) == 1) {
        return join_terms(no_terms{}, last, minus{});
    } else {
        return join_terms(elementwise_terms<Statement, KeepDirect>(argument<0>(node.arguments)), last, Sign{});
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
