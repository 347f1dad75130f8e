#pragma once
// Indices that are affine functions of labels, such as A(2 * i + r, n - 1 - j, 3): types hold the labels, values the
// coefficients. And indices that are data, such as W(token(i), d).

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/notation/refused.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace detail {

/// The affine function c1 · label1 + c2 · label2 + … + constant, as the user wrote it.
template <class... Labels>
struct affine_index {
    using labels = label_list<Labels...>;
    std::array<index, sizeof...(Labels)> coefficients{};
    index constant = 0;
};

template <class T>
inline constexpr bool is_affine = is_label<T>;
template <class... Labels>
inline constexpr bool is_affine<affine_index<Labels...>> = true;

template <Label L>
constexpr affine_index<L> as_index(const L& /*label*/) {
    return {{1}, 0};
}
template <class... Labels>
constexpr const affine_index<Labels...>& as_index(const affine_index<Labels...>& function) {
    return function;
}
template <std::integral I>
constexpr affine_index<> as_index(I number) {
    return {{}, index(number)};
}
/// An index that is data: an expression of integers, whose elements are the indices.
template <class T>
concept DataIndex = Expression<T> && !is_affine<T> && std::remove_cvref_t<T>::is_flat &&
                    (is_refused<T> || (std::is_integral_v<typename std::remove_cvref_t<T>::value_type> &&
                                       !std::is_same_v<typename std::remove_cvref_t<T>::value_type, bool>));
template <class... Labels>
affine_index<Labels...> of_labels(label_list<Labels...> /*of data*/);
template <DataIndex E>
auto as_index(const E& /*data*/) {
    return decltype(of_labels(united_t<typename E::labels>{})){};
}
template <class T>
using affine_of = std::remove_cvref_t<decltype(as_index(std::declval<const T&>()))>;
/// The form in which an operand keeps an index. A label stays a label, which stands for a whole dimension.
template <class T>
constexpr auto kept(const T& written) {
    if constexpr (Label<T>) {
        return written;
    } else if constexpr (DataIndex<T>) {
        return typename T::node(written);
    } else {
        return as_index(written);
    }
}

/// A label or an affine function of labels. An IndexPair is one of these and another one or an integer.
template <class T>
concept AffineIndex = is_affine<std::remove_cvref_t<T>>;
template <class A, class B>
concept IndexPair = (AffineIndex<A> && (AffineIndex<B> || std::integral<B>)) || (std::integral<A> && AffineIndex<B>);

/// a + sign · b.
template <class... A, class... B>
constexpr auto sum_of(const affine_index<A...>& a, const affine_index<B...>& b, index sign) {
    return [&]<class... Labels>(label_list<Labels...> /*of the sum*/) {
        affine_index<Labels...> sum{{}, fused(a.constant, sign, b.constant)};
        [[maybe_unused]] const auto add = [&](std::size_t label, index factor, index coefficient) {
            sum.coefficients[label] = fused(sum.coefficients[label], factor, coefficient);
        };
        [[maybe_unused]] std::size_t at = 0;
        (add(position_of<A>(label_list<Labels...>{}), 1, a.coefficients[at++]), ...);
        at = 0;
        (add(position_of<B>(label_list<Labels...>{}), sign, b.coefficients[at++]), ...);
        return sum;
    }(united_t<label_list<A...>, label_list<B...>>{});
}

/// The type that other operations on labels return, with a message about the mistake. It counts as an index or an
/// expression, so that the compiler reports nothing else.
template <class A, class B>
struct other_than_affine : std::conditional_t<Expression<A> || Expression<B>, refused_node, refused> {
    static_assert(fits<A, B>,
                  "einsum: an index is a sum of labels times integers and an integer, as in A(2 * i + r, n - 1 - j); "
                  "in an expression the index along i is the number ep::iota(i)");
};
template <class A, class B>
inline constexpr bool is_affine<other_than_affine<A, B>> = true;
template <class A, class B>
constexpr auto as_index(const other_than_affine<A, B>& /*refused*/) {
    return affine_of<std::conditional_t<AffineIndex<A>, A, B>>();
}
template <class T>
concept BesideLabels = AffineIndex<T> || Scalar<T> || Expression<T>;
template <class A, class B>
concept NoIndex = (AffineIndex<A> && BesideLabels<B>) || (BesideLabels<A> && AffineIndex<B>);

}  // namespace detail

/// These operators make indices for an operand or the left-hand side: sums of labels times integers, and of integers.
/// Labels run from 0. A coefficient beyond 2^63 throws ep::error.
///@{
template <class A, class B>
    requires detail::IndexPair<A, B>
constexpr auto operator+(const A& a, const B& b) {
    return detail::sum_of(detail::as_index(a), detail::as_index(b), 1);
}
template <class A, class B>
    requires detail::IndexPair<A, B>
constexpr auto operator-(const A& a, const B& b) {
    return detail::sum_of(detail::as_index(a), detail::as_index(b), -1);
}
constexpr auto operator-(const detail::AffineIndex auto& a) {
    return detail::sum_of(detail::affine_index<>{}, detail::as_index(a), -1);
}
constexpr auto operator*(const detail::AffineIndex auto& a, std::integral auto factor) {
    return detail::sum_of(detail::affine_index<>{}, detail::as_index(a), index(factor));
}
constexpr auto operator*(std::integral auto factor, const detail::AffineIndex auto& a) {
    return detail::sum_of(detail::affine_index<>{}, detail::as_index(a), index(factor));
}
///@}

#define EINPARALLEL_DETAIL_OPERATOR(sign, is_index)    \
    template <class A, class B>                        \
        requires(detail::NoIndex<A, B> && !(is_index)) \
    detail::other_than_affine<A, B>                    \
    operator sign(const A& /*a*/, const B& /*b*/) {    \
        return {};                                     \
    }                                                  \
    static_assert(true)
/// Operations on labels that make no index, such as i / 2 or i * j, are refused; the message says what an index is.
///@{
EINPARALLEL_DETAIL_OPERATOR(+, (detail::IndexPair<A, B>));
EINPARALLEL_DETAIL_OPERATOR(-, (detail::IndexPair<A, B>));
EINPARALLEL_DETAIL_OPERATOR(*, std::integral<A> || std::integral<B>);
EINPARALLEL_DETAIL_OPERATOR(/, false);
EINPARALLEL_DETAIL_OPERATOR(%, false);
///@}
#undef EINPARALLEL_DETAIL_OPERATOR

namespace detail {

/// An operand with a dimension that is read at a function of labels or at data. It waits until the extents of the
/// labels are known. Then it becomes an operand with one dimension for each of its labels.
template <class Operand, class... Indices>
struct indexed_operand {
    using value_type = typename Operand::value_type;
    using labels = united_t<typename affine_of<Indices>::labels...>;
    static constexpr std::size_t rank = labels::size;
    static constexpr bool waits = true;
    static constexpr std::size_t data_indices = (std::size_t{DataIndex<Indices> ? 1U : 0U} + ... + 0);

    Operand operand;
    std::tuple<Indices...> indices;
};
/// An indexed operand with a dimension that is read or written at indices that are data.
template <class Operand>
concept Selects = Operand::data_indices >
0;

/// The leaf of an operand that is read at these indices.
template <class Operand, class... Indices>
auto indexed(Operand held, const Indices&... indices) {
    using Indexed = indexed_operand<Operand, decltype(kept(indices))...>;
    return leaf<Indexed, typename Indexed::labels>(Indexed{std::move(held), {kept(indices)...}});
}

/// True where `Indices` may stand in the parentheses of an operand with `Rank` dimensions: are_labels, where they all
/// are labels; are_indices, where some are functions of labels, integers or data.
template <std::size_t Rank, class... Indices>
inline constexpr bool are_labels = sizeof...(Indices) == Rank && (is_label<Indices> && ...);
template <std::size_t Rank, class... Indices>
inline constexpr bool are_indices = sizeof...(Indices) == Rank && !are_labels<Rank, Indices...> &&
                                    ((AffineIndex<Indices> || std::integral<Indices> || DataIndex<Indices>)&&...);

}  // namespace detail

namespace detail {

/// The equality of a token and a position. As a type of its own it marks a join as a one-hot operand.
struct is_one_hot : equal {};
template <class Token, class V>
struct one_hot_node : join_node<is_one_hot, Token, leaf<iota_operand, label_list<V>>> {
    template <class E>
    void operator=(const E& /*right*/) const {
        static_assert(fits<E>,
                      "ep::one_hot is an operand and cannot be assigned to: the elements that tokens name are written "
                      "as H(token(i)) += x(i)");
    }
    void operator+=(const auto& right) const { *this = right; }
};
/// A token that names a position along the label V.
template <class V, class Token>
struct named_token : Token {
    using node = named_token;
    using token = Token;
    using along = V;
};
template <class Index>
struct token_of : std::type_identity<Index> {};
template <class V, class Token>
struct token_of<named_token<V, Token>> : std::type_identity<Token> {};
template <class... Arguments>
struct other_than_token : refused_node {
    static_assert(fits<Arguments...>,
                  "ep::one_hot: give an expression of integers, then a label along which one element is 1: "
                  "ep::one_hot(token(i), v)");
};

}  // namespace detail

/// 1 where the index along v equals the token, else 0. The operand takes no memory. In a sum of products over v, such
/// as Z(i, d) = ep::one_hot(token(i), v) * W(v, d), only the terms with a 1 are read: the sum is W(token(i), d).
template <detail::DataIndex E, Label V>
auto one_hot(const E& token, const V& /*v*/) {
    using positions = detail::leaf<detail::iota_operand, detail::label_list<V>>;
    return detail::one_hot_node<typename E::node, V>{{{}, {}, {token, positions({})}}};
}
/// Refuses other arguments.
template <class... Arguments>
detail::other_than_token<Arguments...> one_hot(const Arguments&... /*arguments*/) {
    return {};
}

}  // namespace einparallel
