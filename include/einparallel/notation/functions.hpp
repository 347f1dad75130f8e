#pragma once
// The named functions of expressions: reductions, maps and joins.

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/expression.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace detail {

/// True where `Inner` has all labels of the list `Over`, and always for missing_labels.
template <class Over, class Inner>
inline constexpr bool are_labels_of = true;
template <class... Labels, class Inner>
inline constexpr bool are_labels_of<label_list<Labels...>, Inner> = (appears_in<Labels, typename Inner::labels> && ...);

template <class Op, class Inner>
inline constexpr bool is_operator_on = Reduction<Op, computed_t<typename Inner::value_type>>;

/// True where the elements of Inner are complex numbers, of which none is the largest for Op.
template <class Op, class Inner>
inline constexpr bool wants_order = false;
template <bool Largest, class Inner>
inline constexpr bool wants_order<op::extreme_type<Largest>, Inner> = is_complex<typename Inner::value_type>::value;

/// A checked ⊕ over named labels, or over all labels missing on the left. The functions below return this type, so that
/// compilers report a mistake at the user's call. A sum takes the place of an `Op` that is no reduction, and
/// missing_labels that of a list with unknown labels.
template <class Op, class Over, class Inner>
struct checked_reduction
    : reduce_node<std::conditional_t<is_operator_on<Op, Inner>, Op, op::sum_type>,
                  std::conditional_t<are_labels_of<Over, Inner>, Over, missing_labels>, typename Inner::node> {
    static_assert(!wants_order<Op, Inner>,
                  "ep::max, min, argmax or argmin: complex numbers have no order: take abs(z(i)), or a part of them "
                  "with ep::map");
    static_assert(
        is_operator_on<Op, Inner> || wants_order<Op, Inner>,
        "ep::reduce: unknown reduction: op needs `template <class T> static constexpr T identity()`, "
        "`T operator()(T, T) const` and `static constexpr bool associative_commutative = true` for this element type");
    static_assert(are_labels_of<Over, Inner>,
                  "ep::sum, prod, max, min, argmax, argmin or reduce over a label: this label appears in no operand of "
                  "the expression");

    checked_reduction(Op applied, const Inner& of)
        : checked_reduction::reduce_node(
              [&] {
                  if constexpr (is_operator_on<Op, Inner>) {
                      return std::move(applied);
                  } else {
                      return op::sum_type{};
                  }
              }(),
              of) {}
};

/// The last argument of a call such as sum(j, k, expr): the expression behind the labels.
template <class First, class... Rest>
const auto& last_of(const First& first, const Rest&... rest) {
    if constexpr (sizeof...(Rest) == 0) {
        return first;
    } else {
        return last_of(rest...);
    }
}
template <class... Arguments>
using last_t = std::remove_cvref_t<decltype(last_of(std::declval<const Arguments&>()...))>;
template <class... Arguments>
concept EndInExpression = Expression<last_t<Arguments...>> &&
                          (std::size_t{Label<Arguments>} + ... + 1) == sizeof...(Arguments);
template <class Op, class... Arguments>
using checked_reduction_over =
    checked_reduction<Op, concatenate_t<std::conditional_t<Label<Arguments>, label_list<Arguments>, label_list<>>...>,
                      last_t<Arguments...>>;

/// True where the function can be called with one element of each argument and returns a value: a number, or an object
/// for an enclosing function.
template <class Function, class... Values>
inline constexpr bool gives_value = [] {
    if constexpr (std::is_invocable_v<const Function&, Values...>) {
        using Result = std::remove_cvref_t<std::invoke_result_t<const Function&, Values...>>;
        return Scalar<Result> || std::is_class_v<Result>;
    } else {
        return false;
    }
}();
/// The result of ep::map and ep::join for a function for which gives_value is false.
template <class Function, class... Values>
struct other_function : refused_node {
    static constexpr bool takes = std::is_invocable_v<const Function&, Values...>;
    static_assert(takes,
                  "ep::map or ep::join: the function (const) cannot be called with one element of each expression, in "
                  "their order");
    static_assert(!takes, "ep::map or ep::join: the function returns no number");
};
template <class Function, class... Arguments>
auto applied(Function&& function, const Arguments&... arguments) {
    if constexpr (gives_value<Function, computed_t<typename Arguments::value_type>...>) {
        return make_join(std::forward<Function>(function), arguments...);
    } else {
        return other_function<Function, computed_t<typename Arguments::value_type>...>();
    }
}

/// True where a call of a function below is meant for expressions: an argument is an expression, a tensor without
/// labels, or a label.
template <class... Arguments>
concept MeantForExpressions = ((Expression<Arguments> || Unlabelled<Arguments> || Label<Arguments>) || ...);

/// The result of such a call with arguments that the function does not take.
template <class... Arguments>
struct other_arguments : refused_node {
    static_assert(fits<Arguments...>,
                  "einsum: exp, max, sum and the like take expressions, whose tensors have labels: exp(A(i, j)); "
                  "labels and functions come before the expression: ep::sum(j, A(i, j)), ep::map(f, A(i, j))");
};

}  // namespace detail

/// Refuses calls of the function `word` with other arguments. notation/row_functions.hpp undefines this macro.
#define EINPARALLEL_DETAIL_REFUSES_OTHERS(word)                                                        \
    template <class... Arguments>                                                                      \
        requires detail::MeantForExpressions<Arguments...> detail::other_arguments<Arguments...> word( \
            const Arguments&... /*arguments*/) {                                                       \
            return {};                                                                                 \
        }                                                                                              \
    static_assert(true)

// ⊕ over all labels missing on the left: ep::sum(expr); over named labels: ep::sum(j, k, expr).
#define EINPARALLEL_DETAIL_REDUCTION(word)                                                               \
    template <Expression E>                                                                              \
    detail::checked_reduction<op::word##_type, detail::missing_labels, E> word(const E& expression) {    \
        return {op::word, expression};                                                                   \
    }                                                                                                    \
    template <Label First, class... Rest>                                                                \
        requires detail::EndInExpression<First, Rest...>                                                 \
            detail::checked_reduction_over<op::word##_type, First, Rest...> word(const First& /*label*/, \
                                                                                 const Rest&... rest) {  \
            return {op::word, detail::last_of(rest...)};                                                 \
        }                                                                                                \
    EINPARALLEL_DETAIL_REFUSES_OTHERS(word)
/// Σ over all labels missing on the left, `sum(expr)`, or over named labels, `sum(j, k, expr)`.
EINPARALLEL_DETAIL_REDUCTION(sum);
/// The product, over labels as for sum.
EINPARALLEL_DETAIL_REDUCTION(prod);
/// The maximum, over labels as for sum. NaN propagates.
EINPARALLEL_DETAIL_REDUCTION(max);
/// The minimum, over labels as for sum. NaN propagates.
EINPARALLEL_DETAIL_REDUCTION(min);
#undef EINPARALLEL_DETAIL_REDUCTION

/// Reduces by any operator (see concept Reduction) over all labels missing on the left.
template <class Op, Expression E>
detail::checked_reduction<Op, detail::missing_labels, E> reduce(Op op, const E& expression) {
    return {std::move(op), expression};
}
/// Reduces by any operator over named labels: ep::reduce(op, j, k, expr).
template <class Op, Label First, class... Rest>
    requires detail::EndInExpression<First, Rest...> detail::checked_reduction_over<Op, First, Rest...> reduce(
        Op op, const First& /*label*/, const Rest&... rest) {
        return {std::move(op), detail::last_of(rest...)};
    }

// The overload for one type stands beside the general one because std::max is the better match for two arguments of the
// same type.
#define EINPARALLEL_DETAIL_PAIR(word, functor)                                                       \
    template <class A, class B>                                                                      \
        requires detail::JoinPair<A, B>                                                              \
    auto word(const A& a, const B& b) {                                                              \
        return detail::joined(std::type_identity<detail::pair_node<detail::functor, A, B>>(), a, b); \
    }                                                                                                \
    template <Expression A>                                                                          \
    auto word(const A& a, const A& b) {                                                              \
        return detail::joined(std::type_identity<detail::pair_node<detail::functor, A, A>>(), a, b); \
    }                                                                                                \
    static_assert(true)
/// The larger of a and b, element by element.
EINPARALLEL_DETAIL_PAIR(max, larger);
/// The smaller of a and b, element by element.
EINPARALLEL_DETAIL_PAIR(min, smaller);
/// a to the power of b, element by element; either may be a number.
EINPARALLEL_DETAIL_PAIR(pow, power);
/// log(eᵃ + eᵇ) of real numbers without overflow, element by element; either may be a number.
EINPARALLEL_DETAIL_PAIR(logaddexp, logaddexp_function);
/// The angle of (b, a) in the plane, element by element; either may be a number.
EINPARALLEL_DETAIL_PAIR(atan2, atan2_function);
#undef EINPARALLEL_DETAIL_PAIR

/// a where c is true (or not 0), else b, element by element; a and b may be numbers. Both are computed.
template <Expression C, detail::ExpressionOrNumber A, detail::ExpressionOrNumber B>
auto where(const C& c, const A& a, const B& b) {
    return detail::make_join(detail::choice{}, c, detail::as_node<typename detail::value_of<B>::type>(a),
                             detail::as_node<typename detail::value_of<A>::type>(b));
}

#define EINPARALLEL_DETAIL_MAP(word, functor)                                                                          \
    template <Expression E>                                                                                            \
    auto word(const E& expression) {                                                                                   \
        return detail::joined(std::type_identity<detail::join_node<detail::functor, typename E::node>>(), expression); \
    }                                                                                                                  \
    EINPARALLEL_DETAIL_REFUSES_OTHERS(word)
/// |x|, element by element; for complex numbers the magnitude.
EINPARALLEL_DETAIL_MAP(abs, absolute);
/// Complex conjugate, element by element.
EINPARALLEL_DETAIL_MAP(conj, conjugate);
/// eˣ, element by element.
EINPARALLEL_DETAIL_MAP(exp, exp_function);
/// eˣ − 1 of real numbers, element by element: exact near 0 too.
EINPARALLEL_DETAIL_MAP(expm1, expm1_function);
/// Natural logarithm, element by element.
EINPARALLEL_DETAIL_MAP(log, log_function);
/// log(1 + x) of real numbers, element by element: exact near 0 too.
EINPARALLEL_DETAIL_MAP(log1p, log1p_function);
/// Square root, element by element.
EINPARALLEL_DETAIL_MAP(sqrt, sqrt_function);
/// Hyperbolic tangent, element by element.
EINPARALLEL_DETAIL_MAP(tanh, tanh_function);
/// Sine, element by element.
EINPARALLEL_DETAIL_MAP(sin, sin_function);
/// Cosine, element by element.
EINPARALLEL_DETAIL_MAP(cos, cos_function);
/// Tangent, element by element.
EINPARALLEL_DETAIL_MAP(tan, tan_function);
/// Error function, element by element.
EINPARALLEL_DETAIL_MAP(erf, erf_function);
/// The largest whole number that is not larger than x, element by element.
EINPARALLEL_DETAIL_MAP(floor, floor_function);
/// The nearest whole number, element by element. Halves are rounded away from zero.
EINPARALLEL_DETAIL_MAP(round, round_function);
/// −1, 0 or 1, element by element.
EINPARALLEL_DETAIL_MAP(sign, sign_function);
/// 1 / (1 + e⁻ˣ), element by element.
EINPARALLEL_DETAIL_MAP(sigmoid, sigmoid_function);
/// max(x, 0), element by element.
EINPARALLEL_DETAIL_MAP(relu, relu_function);
/// x · sigmoid(x), element by element.
EINPARALLEL_DETAIL_MAP(silu, silu_function);
/// x · Φ(x), Φ the normal distribution function, element by element.
EINPARALLEL_DETAIL_MAP(gelu, gelu_function);
#undef EINPARALLEL_DETAIL_MAP

namespace detail {

/// The reduction `op` over the elements and labels of the sum `total`. Integers become doubles first.
template <class Other, class Op, class Over, class Inner>
auto in_fractions(Other op, const reduce_node<Op, Over, Inner>& total) {
    if constexpr (std::is_integral_v<typename Inner::value_type>) {
        const auto values = make_join(converted_to<double>{}, total.inner);
        return checked_reduction<Other, Over, std::remove_const_t<decltype(values)>>(op, values);
    } else {
        return checked_reduction<Other, Over, Inner>(op, total.inner);
    }
}
/// The sum `total` divided by the number of its elements. The mean of bools is the share that is true.
template <class Op, class Over, class Inner>
auto mean_of(const reduce_node<Op, Over, Inner>& total) {
    return total / leaf<count_operand<Over, Inner>, label_list<>>({});
}

}  // namespace detail

/// The mean over all labels missing on the left, or over named ones: ep::mean(expr), ep::mean(j, expr). The mean of
/// integers is a double.
auto mean(const Expression auto& expression) {
    return detail::mean_of(detail::in_fractions(op::sum, sum(expression)));
}
/// The mean over named labels; the expression comes last.
template <Label First, class... Rest>
    requires detail::EndInExpression<First, Rest...>
auto mean(const First& label, const Rest&... rest) {
    return detail::mean_of(detail::in_fractions(op::sum, sum(label, rest...)));
}

/// log Σ eˣ of real numbers, over labels as for sum, without overflow: ep::logsumexp(expr), ep::logsumexp(j, expr).
/// Without elements the result is −∞; for integers it is a double.
auto logsumexp(const Expression auto& expression) {
    return detail::in_fractions(op::logsumexp, sum(expression));
}
/// logsumexp over named labels; the expression comes last.
template <Label First, class... Rest>
    requires detail::EndInExpression<First, Rest...>
auto logsumexp(const First& label, const Rest&... rest) {
    return detail::in_fractions(op::logsumexp, sum(label, rest...));
}

/// Applies any function of one element. The function must be pure: it is called once per element on whichever rank
/// holds it.
template <class Function, Expression E>
auto map(Function function, const E& expression) {
    return detail::applied<Function>(std::move(function), expression);
}
/// Applies any function of two or more elements as ⊗.
template <class Function, Expression A, Expression B, Expression... Rest>
auto join(Function function, const A& a, const B& b, const Rest&... rest) {
    return detail::applied<Function>(std::move(function), a, b, rest...);
}

/// Refuse calls of the other functions with arguments that they do not take.
///@{
EINPARALLEL_DETAIL_REFUSES_OTHERS(reduce);
EINPARALLEL_DETAIL_REFUSES_OTHERS(pow);
EINPARALLEL_DETAIL_REFUSES_OTHERS(atan2);
EINPARALLEL_DETAIL_REFUSES_OTHERS(where);
EINPARALLEL_DETAIL_REFUSES_OTHERS(mean);
EINPARALLEL_DETAIL_REFUSES_OTHERS(logaddexp);
EINPARALLEL_DETAIL_REFUSES_OTHERS(logsumexp);
EINPARALLEL_DETAIL_REFUSES_OTHERS(map);
EINPARALLEL_DETAIL_REFUSES_OTHERS(join);
///@}

}  // namespace einparallel
