#pragma once
// Functions that know the order along a label: indices, positions, softmax, running sums and products, the largest
// elements.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/functions.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace detail {

template <class Extent>
inline constexpr bool is_extent = std::is_convertible_v<Extent, index> && !std::is_floating_point_v<Extent>;
/// The result of ep::iota of anything else.
template <class... Arguments>
struct other_iota : refused_node {
    static_assert(fits<Arguments...>,
                  "ep::iota: it takes one label and, where no operand has this label, its extent as an integer: "
                  "ep::iota(i), ep::iota(i, 3)");
};

}  // namespace detail

/// The index along a label, of type ep::index: A(i, j) * ep::iota(i). The extent of the label comes from another
/// operand, from the left side, or from `extent`. Throws ep::error for a negative extent.
///@{
template <Label L>
auto iota(const L& /*along*/) {
    return detail::leaf<detail::iota_operand, detail::label_list<L>>({-1});
}
template <Label L, class Extent>
    requires detail::is_extent<Extent>
auto iota(const L& /*along*/, const Extent& extent) {
    detail::expect(index(extent) >= 0, "einsum: iota or top_k is given a negative number of elements");
    return detail::leaf<detail::iota_operand, detail::label_list<L>>({index(extent)});
}
template <class... Arguments>
detail::other_iota<Arguments...> iota(const Arguments&... /*arguments*/) {
    return {};
}
///@}

namespace detail {

/// The first position along a label at which the expression has its extreme element. The extreme of complex numbers is
/// refused where it is made.
auto position_of(const auto& along, const auto& expression, const auto& extreme) {
    if constexpr (is_complex<typename std::remove_cvref_t<decltype(expression)>::value_type>::value) {
        return refused_node();
    } else {
        return min(along, make_join(position_where{}, expression, extreme, iota(along)));
    }
}

}  // namespace detail

/// The position of the largest element (argmin: of the smallest) along label `along`, of type ep::index. Of equal
/// elements it is the lowest position; where there are NaNs, it is that of the first one. The element itself is max(j,
/// expr).
///@{
auto argmax(const Label auto& along, const Expression auto& expression) {
    return detail::position_of(along, expression, max(along, expression));
}
auto argmin(const Label auto& along, const Expression auto& expression) {
    return detail::position_of(along, expression, min(along, expression));
}
///@}

namespace detail {

template <class Function, class L, class E>
auto along(const E& expression) {
    if constexpr (appears_in<L, typename E::labels>) {
        return row_node<Function, L, typename E::node>(expression);
    } else {
        return typename E::node(expression);
    }
}

}  // namespace detail

/// exp(x − max x) / Σ exp(x − max x) over label `over`, for each value of the other labels. It is the EinSum macro of
/// the paper (EinDecomp §3): four vertices, computed in one pass where a rank has whole rows. A label of its argument
/// that is missing on the left must be reduced explicitly, inside, softmax(t, sum(d, Q(s, d) * K(t, d))), or outside,
/// because an implicit sum would be taken outside. The label `over` may be summed implicitly: softmax(t, S(s, t)) *
/// V(t, d).
template <Label L, Expression E>
auto softmax(const L& /*over*/, const E& expression) {
    constexpr bool present = detail::appears_in<L, typename E::labels>;
    static_assert(present, "softmax over a label: this label appears in no operand of the expression");
    return detail::along<detail::softmax_function, L>(expression);
}

/// Running sums (cumsum) and products (cumprod) along a label, computed in one pass. Element t is the sum or the
/// product of elements 0 to t: Σ where(iota(s) <= iota(t), x(s), 0). Where the label is partitioned over ranks, these
/// pass on the totals of their blocks in ⌈log2 ranks⌉ rounds.
///@{
template <Label L, Expression E>
auto cumsum(const L& /*along*/, const E& expression) {
    constexpr bool present = detail::appears_in<L, typename E::labels>;
    static_assert(present, "cumsum along a label: this label appears in no operand of the expression");
    return detail::along<detail::running<op::sum_type>, L>(expression);
}
template <Label L, Expression E>
auto cumprod(const L& /*along*/, const E& expression) {
    constexpr bool present = detail::appears_in<L, typename E::labels>;
    static_assert(present, "cumprod along a label: this label appears in no operand of the expression");
    return detail::along<detail::running<op::prod_type>, L>(expression);
}
///@}

namespace detail {

template <class Values, class Positions>
struct ranked_elements {
    Values values;
    Positions places;
};
template <class Function, class K, class Over, class E>
auto ranked(const E& expression, const leaf<iota_operand, label_list<K>>& ranks) {
    auto pair = make_join(Function{}, expression, ranks);
    return reduce_node<ranked_sum, label_list<Over>, decltype(pair)>({}, std::move(pair));
}

}  // namespace detail

/// The largest elements along label `over`, and their positions: `auto [values, places] = ep::top_k(k, j, A(i, j), 5)`
/// makes two expressions with k where A has j. Element 0 along label `k` is the largest. The extent of `k` comes from
/// the left side, from another operand, or from `count`. Places are of type ep::index. Of equal elements the one with
/// the lower index comes first; NaN comes last. Label `over` is never partitioned: ranks have whole rows.
template <Label K, Label Over, Expression E, std::integral... Count>
    requires(sizeof...(Count) <= 1)
auto top_k(const K& k, const Over& /*over*/, const E& expression, Count... count) {
    constexpr bool present = detail::appears_in<Over, typename E::labels>;
    constexpr bool ordered = !detail::is_complex<typename E::value_type>::value;
    constexpr bool is_new = !detail::appears_in<K, typename E::labels>;
    static_assert(present, "top_k over a label: this label appears in no operand of the expression");
    static_assert(ordered, "top_k: complex numbers have no order");
    static_assert(is_new, "top_k: the label of the results is one that the expression does not have");
    if constexpr (present && ordered && is_new) {
        const auto ranks = iota(k, index(count)...);
        auto values = detail::ranked<detail::element_of_rank, K, Over>(expression, ranks);
        auto positions = detail::ranked<detail::position_of_rank, K, Over>(expression, ranks);
        return detail::ranked_elements<decltype(values), decltype(positions)>{std::move(values), std::move(positions)};
    } else {
        return detail::ranked_elements<detail::refused_node, detail::refused_node>();
    }
}

namespace detail {

/// The result of a function below that is called without the label along which it goes.
template <class E>
struct without_label : refused_node {
    static_assert(!Expression<E>,
                  "einsum: argmax, argmin, softmax, cumsum, cumprod and top_k go along a label, which comes first: "
                  "ep::argmax(j, A(i, j))");
};

}  // namespace detail

/// Refuse calls of these functions with arguments that they do not take.
///@{
#define EINPARALLEL_DETAIL_GOES_ALONG(word)                  \
    template <Expression E>                                  \
    detail::without_label<E> word(const E& /*expression*/) { \
        return {};                                           \
    }                                                        \
    EINPARALLEL_DETAIL_REFUSES_OTHERS(word)
EINPARALLEL_DETAIL_GOES_ALONG(argmax);
EINPARALLEL_DETAIL_GOES_ALONG(argmin);
EINPARALLEL_DETAIL_GOES_ALONG(softmax);
EINPARALLEL_DETAIL_GOES_ALONG(cumsum);
EINPARALLEL_DETAIL_GOES_ALONG(cumprod);
EINPARALLEL_DETAIL_GOES_ALONG(top_k);
///@}
#undef EINPARALLEL_DETAIL_GOES_ALONG
#undef EINPARALLEL_DETAIL_REFUSES_OTHERS

}  // namespace einparallel
