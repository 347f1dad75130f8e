#pragma once
// The right-hand side of a statement as a sum of terms: which of them are summed straight into the output, and one
// expression of the others. A sign before a term, or its being subtracted, is taken in the type of the result.

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

/// A sign before a term stands in a type that holds less than the sum's, which is to hold what it makes.
template <class Out, class E>
inline constexpr bool has_narrow_sign = false;
template <class Out, class A>
inline constexpr bool has_narrow_sign<Out, join_node<negate, A>> =
    !std::is_same_v<typename join_node<negate, A>::value_type, Out> &&
    !loses<typename join_node<negate, A>::value_type, Out>;
template <class Out, class Sign, class A, class B>
    requires joins_terms<Sign>
inline constexpr bool has_narrow_sign<Out, join_node<Sign, A, B>> = has_narrow_sign<Out, A> || has_narrow_sign<Out, B>;

/// What a direct term sums: itself, or the inside of an explicit sum.
template <class E>
const E& summand(const E& term) {
    return term;
}
template <class Over, class Inner>
const Inner& summand(const reduce_node<op::sum_type, Over, Inner>& term) {
    return term.inner;
}

/// A term of a sum of type Out, negated as one of that type where it holds all of the term's values: 0 − 1 is −1,
/// whatever the type of the 1.
template <bool Negative, class Out, class E>
decltype(auto) with_sign(const E& term) {
    using T = typename E::value_type;
    if constexpr (!Negative) {
        return (term);
    } else if constexpr (std::is_same_v<T, Out> || loses<T, Out>) {
        return make_join(negate{}, term);
    } else {
        return make_join(negate{}, make_join(converted_to<Out>{}, term));
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

template <class Out, class A, class B, class Join>
auto join_parts(const A& a, const B& b, Join join) {
    if constexpr (std::is_same_v<B, no_terms>) {
        return a;
    } else if constexpr (std::is_same_v<A, no_terms>) {
        return with_sign<std::is_same_v<Join, minus>, Out>(b);
    } else {
        return make_join(join, a, b);
    }
}

/// A sum in the type Out where that holds all of the terms' values.
template <class Out, class Over, class E>
auto summed_in(const E& terms) {
    if constexpr (std::is_same_v<typename E::value_type, Out> || loses<typename E::value_type, Out>) {
        return reduce_node<op::sum_type, Over, E>(op::sum, terms);
    } else {
        return summed_in<Out, Over>(make_join(converted_to<Out>{}, terms));
    }
}

/// The terms that are not direct (all of them with KeepDirect), as one expression of which Out is the type of sums, and
/// in which every sum is said; no_terms where there are none.
template <class Statement, bool KeepDirect, class Out, class E>
auto elementwise_part(const E& node) {
    if constexpr (!KeepDirect && is_direct<Statement, E>) {
        return no_terms{};
    } else if constexpr (Statement::template aggregates<E>) {
        return summed_in<Out, missing_labels>(node);
    } else {
        return node;
    }
}
template <class Statement, bool KeepDirect, class Out, class Over, class Inner>
    requires(KeepDirect&& is_direct<Statement, reduce_node<op::sum_type, Over, Inner>>)
auto elementwise_part(const reduce_node<op::sum_type, Over, Inner>& node) {
    return summed_in<Out, Over>(node.inner);
}
template <class Statement, bool KeepDirect, class Out, class Sign, class... Terms>
    requires joins_terms<Sign>
auto elementwise_part(const join_node<Sign, Terms...>& node) {
    const auto last = elementwise_part<Statement, KeepDirect, Out>(argument<sizeof...(Terms) - 1>(node.arguments));
    if constexpr (sizeof...(Terms) == 1) {
        return join_parts<Out>(no_terms{}, last, minus{});
    } else {
        return join_parts<Out>(elementwise_part<Statement, KeepDirect, Out>(argument<0>(node.arguments)), last, Sign{});
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
