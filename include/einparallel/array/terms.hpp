#pragma once
// Splits the right-hand side of a statement into terms: those that are summed directly into the output, and one
// expression of all others, in the type of the statement.

#include <einparallel/array/lower.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// True for a term that can be accumulated directly into the output: it is a sum over some labels, and it has all
/// labels of the left-hand side.
template <class Statement, class E>
inline constexpr bool is_direct = Statement::template aggregates<E>;
template <class Statement, class Over, class Inner>
inline constexpr bool is_direct<Statement, reduce_node<op::sum_type, Over, Inner>> =
    !Statement::template aggregates<reduce_node<op::sum_type, Over, Inner>> &&
    Statement::template fills_left<reduce_node<op::sum_type, Over, Inner>>;

/// True for a reduction, with any ⊕, a softmax or a running reduction: these are vertices by themselves.
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

/// True for one term with any signs, false for a sum of terms.
template <class E>
inline constexpr bool is_single_term = true;
template <class Sign, class A, class B>
inline constexpr bool is_single_term<join_node<Sign, A, B>> = !joins_terms<Sign>;
template <class A>
inline constexpr bool is_single_term<join_node<negate, A>> = is_single_term<A>;

/// The expression that a direct term sums: the term itself, or the argument of an explicit sum.
template <class E>
const E& summand(const E& term) {
    return term;
}
template <class Over, class Inner>
const Inner& summand(const reduce_node<op::sum_type, Over, Inner>& term) {
    return term.inner;
}

/// The term, negated if Negative.
template <bool Negative, class E>
decltype(auto) with_sign(const E& term) {
    if constexpr (Negative) {
        return make_join(negate{}, term);
    } else {
        return (term);
    }
}

/// Calls visit(term, is_subtracted) for every term of a sum, in the order written. `is_subtracted` is a
/// std::bool_constant.
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

/// Stands for an expression without terms.
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

/// The terms that are not direct (with KeepDirect: all terms), as one expression in which every sum is written
/// explicitly. It is no_terms where there are none.
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
