#pragma once
// Expression nodes: what the user wrote, as a value. Nothing is computed here, and nothing here can be assigned to;
// operands that can live with arrays (array) and with tensors (graph).

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/numbers.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/notation/refused.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace detail {

/// An operand with a label for each of its dimensions. `Operand` refers to data that outlives the statement or owns it.
template <class Operand, class Labels>
struct leaf : expression_base {
    using node = leaf;
    using operand_type = Operand;
    using labels = Labels;
    using value_type = typename Operand::value_type;
    static constexpr std::size_t leaf_count = 1;  ///< in all of it, numbers excepted; and so of every node
    static constexpr bool is_flat = true;         ///< there is no reduction, softmax or running sum in it

    Operand operand;

    explicit leaf(Operand held) : operand(std::move(held)) {}
    leaf(const leaf&) = default;
    leaf(leaf&&) noexcept = default;
    ~leaf() = default;
    leaf& operator=(const leaf&) & = default;
    leaf& operator=(leaf&&) & noexcept = default;

    /// A leaf that nothing can be assigned to, which an assignment to a temporary copy would hide.
    template <class E>
    const leaf& operator=(const E& /*right*/) const {
        static_assert(!std::is_same_v<E, E>,
                      "einsum: the left-hand side is const, or a view of const elements, and cannot be written");
        return *this;
    }
};

// Operands that wait for extents, from which their elements follow: those are known when the statement is computed or
// recorded.

/// The index along one label.
struct iota_operand {
    using value_type = index;
    static constexpr std::size_t rank = 1;
    static constexpr bool waits = true;

    index extent = -1;  ///< −1: others say it
};
/// How many elements a reduction of Inner goes over, as a number that its sums are divided by.
template <class Over, class Inner>
struct count_operand {
    using inner = typename Inner::value_type;
    using value_type = std::conditional_t<std::is_integral_v<inner>, double, decltype(absolute{}(inner()))>;
    static constexpr std::size_t rank = 0;
    static constexpr bool waits = true;
};

/// The arguments of a function. Each einsum's nodes are types of their own, whose every function is compiled for it
/// alone: so of one or two there are none but the implicit ones, and no level between a node and its arguments.
template <class... Nodes>
struct node_list;
template <class First>
struct node_list<First> {
    First first;
};
template <class First, class Second>
struct node_list<First, Second> {
    First first;
    Second second;
};
template <class First, class Second, class... More>
struct node_list<First, Second, More...> {
    First first;
    node_list<Second, More...> rest;
    constexpr node_list(const First& one, const Second& next, const More&... more) : first(one), rest{next, more...} {}
};
template <std::size_t Position, class... Nodes>
constexpr const auto& argument(const node_list<Nodes...>& nodes) {
    if constexpr (Position == 0) {
        return nodes.first;
    } else if constexpr (sizeof...(Nodes) == 2) {
        return nodes.second;
    } else {
        return argument<Position - 1>(nodes.rest);
    }
}

/// ⊗ or a map: a function applied to each combination of elements of its arguments. An aggregate, made by {{},
/// function, {arguments…}}: each expression's nodes are types of their own, for which a constructor would be compiled.
template <class Function, class... Arguments>
struct join_node : expression_base {
    using node = join_node;
    using labels = united_t<typename Arguments::labels...>;
    using value_type =
        std::remove_cvref_t<std::invoke_result_t<const Function&, computed_t<typename Arguments::value_type>...>>;
    static constexpr std::size_t leaf_count = (Arguments::leaf_count + ...);
    static constexpr bool is_flat = (Arguments::is_flat && ...);

    Function function;
    node_list<Arguments...> arguments;
};

/// Stands for "all labels that are missing on the left".
struct missing_labels {};

/// ⊕ over named labels (`Over` a label_list) or over all labels missing on the left.
template <class Op, class Over, class Inner>
struct reduce_node : expression_base {
    using node = reduce_node;
    using labels = typename Inner::labels;
    using value_type = computed_t<typename Inner::value_type>;
    static constexpr std::size_t leaf_count = Inner::leaf_count;
    static constexpr bool is_flat = false;

    Op op;
    Inner inner;

    reduce_node(Op reduction, Inner of) : op(std::move(reduction)), inner(std::move(of)) {}
};

/// exp(x − max x) / Σ exp(x − max x).
struct softmax_function {};
/// Element t becomes ⊕ of the elements up to t.
template <class Op>
struct running {};

/// What makes rows along one label of rows along it.
template <class Function, class Over, class Inner>
struct row_node : expression_base {
    using node = row_node;
    using labels = typename Inner::labels;
    using value_type = computed_t<typename Inner::value_type>;
    static constexpr std::size_t leaf_count = Inner::leaf_count;
    static constexpr bool is_flat = false;

    Inner inner;

    explicit row_node(Inner of) : inner(std::move(of)) {}
};

}  // namespace detail

/// Anything that an einsum's right-hand side may be made of, numbers excepted.
template <class E>
concept Expression = std::is_base_of_v<expression_base, std::remove_cvref_t<E>>;

namespace detail {

template <class E>
concept ExpressionOrNumber = Expression<E> || Scalar<E>;

template <class Value, Expression E>
constexpr const typename E::node& as_node(const E& expression) {
    return expression;
}
template <class Value, Scalar S>
constexpr auto as_node(const S& number) {
    return constant_beside_t<S, Value>(number);
}

template <class A>
struct value_of : std::type_identity<A> {};
template <Expression A>
struct value_of<A> : std::type_identity<typename A::value_type> {};

/// One of the two is an expression; the other may be a number.
template <class A, class B>
concept JoinPair = (Expression<A> && (Expression<B> || Scalar<B>)) || (Scalar<A> && Expression<B>);

template <class Function, class... Nodes>
auto make_join(Function function, const Nodes&... nodes) {
    return join_node<Function, typename Nodes::node...>{{}, std::move(function), {nodes...}};
}

/// The node that A becomes beside B in a binary join. A number takes its precision from the expression beside it.
template <class A, class B>
struct node_beside : std::type_identity<constant_beside_t<A, typename value_of<B>::type>> {};
template <Expression A, class B>
struct node_beside<A, B> : std::type_identity<typename A::node> {};
template <class Function, class A, class B>
using pair_node = join_node<Function, typename node_beside<A, B>::type, typename node_beside<B, A>::type>;

}  // namespace detail

namespace detail {

/// An array, view or tensor without labels.
template <class A>
concept Unlabelled = !Expression<A> && requires(const A& tensor) {
    typename A::value_type;
    { A::rank } -> std::convertible_to<std::size_t>;
    {tensor.extents()};
};
template <class A, class B>
concept PairWithoutLabels = (Unlabelled<A> && (Unlabelled<B> || Expression<B> || Scalar<B>)) ||
                            (Unlabelled<B> && (Expression<A> || Scalar<A>));

/// std::cout << Z(i, k): refused.
template <class E>
struct printed_expression : refused {
    static_assert(!Expression<E>,
                  "einparallel: an expression has no elements to print: print an array, std::cout << Z");
    const printed_expression& operator<<(const auto& /*next*/) const;
};
template <class Stream, Expression E>
    requires requires(Stream& stream) {
        stream.rdbuf();
    }
printed_expression<E> operator<<(Stream& /*stream*/, const E& /*expression*/);

/// Stands for a mistake in an expression: where a label is `?`, nothing else is said.
struct refused_operand {
    using value_type = bool;
    static constexpr std::size_t rank = 1;
};
struct refused_node : leaf<refused_operand, label_list<label<'?'>>>, refusal {
    refused_node() : leaf(refused_operand()) {}
    const refused_node& operator=(const auto& /*right*/) const { return *this; }
    template <class T>
        requires Unlabelled<T> || Scalar<T>
    operator T() const;
};

/// What operators make of it.
template <class... Tensors>
struct without_labels : refused_node {
    static_assert(fits<Tensors...>,
                  "einsum: tensors are added and multiplied with labels, as in C(i, k) = A(i, j) * B(j, k)");
};

/// A function has values for such arguments.
template <class Function, class... Values>
inline constexpr bool takes_elements =
    !(is_complex<Values>::value || ...) || computes_in(Function::code, element_type_of<std::complex<double>>());
template <class Function, class... Values>
struct other_elements : refused_node {
    static_assert(takes_elements<Function, Values...>,
                  "einsum: complex numbers have no order, no remainder, and no floor, round, sign, relu, erf, gelu, "
                  "expm1, log1p, atan2 or logaddexp: take abs(z(i)), or a part of them with ep::map");
};
template <class Function, class... Arguments, class... Given>
[[gnu::always_inline]] inline auto joined(std::type_identity<join_node<Function, Arguments...>> /*made*/,
                                          const Given&... given) {
    if constexpr (takes_elements<Function, typename Arguments::value_type...>) {
        return join_node<Function, Arguments...>{{}, {}, {given...}};
    } else {
        return other_elements<Function, typename Arguments::value_type...>();
    }
}

}  // namespace detail

// Not inlined, and compiled for size: a statement copies its nodes from call to call, which is little to run and much
// to optimise.
#define EINPARALLEL_DETAIL_OPERATOR(sign, functor)                                                   \
    template <class A, class B>                                                                      \
        requires detail::JoinPair<A, B>                                                              \
    [[gnu::noinline, gnu::cold]] auto operator sign(const A& a, const B& b) {                        \
        return detail::joined(std::type_identity<detail::pair_node<detail::functor, A, B>>(), a, b); \
    }                                                                                                \
    static_assert(true)
/// Element by element; a number takes its precision from the expression beside it.
///@{
EINPARALLEL_DETAIL_OPERATOR(+, plus);
EINPARALLEL_DETAIL_OPERATOR(-, minus);
EINPARALLEL_DETAIL_OPERATOR(*, times);
EINPARALLEL_DETAIL_OPERATOR(/, over);
///@}
/// What a division of integers towards zero leaves: it has the sign of a, and a division by zero is an ep::error.
EINPARALLEL_DETAIL_OPERATOR(%, modulo);
// Comparisons, element by element: an expression of bool.
EINPARALLEL_DETAIL_OPERATOR(<, less);
EINPARALLEL_DETAIL_OPERATOR(<=, less_equal);
EINPARALLEL_DETAIL_OPERATOR(>, greater);
EINPARALLEL_DETAIL_OPERATOR(>=, greater_equal);
EINPARALLEL_DETAIL_OPERATOR(==, equal);
EINPARALLEL_DETAIL_OPERATOR(!=, not_equal);

/// Of bool, element by element: both sides are computed.
///@{
EINPARALLEL_DETAIL_OPERATOR(&&, both);
EINPARALLEL_DETAIL_OPERATOR(||, either);
///@}
#undef EINPARALLEL_DETAIL_OPERATOR

#define EINPARALLEL_DETAIL_OPERATOR(sign)                                     \
    template <class A, class B>                                               \
        requires detail::PairWithoutLabels<A, B> detail::without_labels<A, B> \
    operator sign(const A& /*a*/, const B& /*b*/) {                           \
        return {};                                                            \
    }                                                                         \
    static_assert(true)
/// Of tensors without labels: refused, with the sentence that says how it is written.
///@{
EINPARALLEL_DETAIL_OPERATOR(+);
EINPARALLEL_DETAIL_OPERATOR(-);
EINPARALLEL_DETAIL_OPERATOR(*);
EINPARALLEL_DETAIL_OPERATOR(/);
template <detail::Unlabelled A>
detail::without_labels<A> operator-(const A& /*a*/) {
    return {};
}
///@}
#undef EINPARALLEL_DETAIL_OPERATOR

/// Element by element.
///@{
template <Expression A>
auto operator-(const A& a) {
    return detail::join_node<detail::negate, typename A::node>{{}, {}, {a}};
}
template <Expression A>
auto operator+(const A& a) {
    return typename A::node(a);
}
/// Of bool.
template <Expression A>
auto operator!(const A& a) {
    return detail::pair_node<detail::differ, A, bool>{{}, {}, {a, true}};
}
///@}

}  // namespace einparallel
