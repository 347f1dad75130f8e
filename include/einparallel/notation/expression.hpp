#pragma once
// Expression nodes: the values that hold what the user wrote. They compute nothing, and nothing can be assigned to
// them; operands that can be assigned to live with arrays (array) and with tensors (graph).

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

/// An operand with a label for each of its dimensions. `Operand` owns its data, or refers to data that outlives the
/// statement.
template <class Operand, class Labels>
struct leaf : expression_base {
    using node = leaf;
    using operand_type = Operand;
    using labels = Labels;
    using value_type = typename Operand::value_type;
    static constexpr std::size_t leaf_count = 1;  ///< leaves of the whole node, numbers not counted
    static constexpr bool is_flat = true;         ///< the node contains no reduction, softmax or running sum

    Operand operand;

    explicit leaf(Operand held) : operand(std::move(held)) {}
    leaf(const leaf&) = default;
    leaf(leaf&&) noexcept = default;
    ~leaf() = default;
    leaf& operator=(const leaf&) & = default;
    leaf& operator=(leaf&&) & noexcept = default;

    /// Refuses the assignment to a leaf that cannot be written. Without this function, an assignment to a temporary
    /// copy could hide the mistake.
    template <class E>
    const leaf& operator=(const E& /*right*/) const {
        static_assert(!std::is_same_v<E, E>,
                      "einsum: the left-hand side is const, or a view of const elements, and cannot be written");
        return *this;
    }
};

// Operands that wait for extents, which determine their elements. Extents are known when the statement is computed or
// recorded.

/// The index along one label.
struct iota_operand {
    using value_type = index;
    static constexpr std::size_t rank = 1;
    static constexpr bool waits = true;

    index extent = -1;  ///< −1: another operand or the left side has it
};
/// The number of elements that a reduction of `Inner` takes, as a number by which its sums are divided.
template <class Over, class Inner>
struct count_operand {
    using inner = typename Inner::value_type;
    using value_type = std::conditional_t<std::is_integral_v<inner>, double, decltype(absolute{}(inner()))>;
    static constexpr std::size_t rank = 0;
    static constexpr bool waits = true;
};

/// The arguments of a function. Each einsum has its own node types, and every function of such a type is compiled for
/// it alone. So lists of one or two arguments have only implicit functions, and no level between a node and its
/// arguments.
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

/// ⊗ or a map: a function applied to each combination of elements of its arguments. It is an aggregate, made by {{},
/// function, {arguments…}}: a constructor would be compiled for the node types of each expression.
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

/// Marks a row_node as a softmax: exp(x − max x) / Σ exp(x − max x).
struct softmax_function {};
/// Marks a row_node as a running ⊕: element t becomes ⊕ of the elements 0 to t.
template <class Op>
struct running {};

/// A function that maps each row along label `Over` to a row along the same label.
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

/// Any expression that may stand on the right-hand side of an einsum, numbers excepted.
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

/// One of A and B is an expression; the other may be a number.
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

/// The result of std::cout << Z(i, k), which is refused.
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

/// Stands for a mistake in an expression. Its label is `?`; a statement with this label reports nothing else.
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

/// The result of operators on tensors without labels.
template <class... Tensors>
struct without_labels : refused_node {
    static_assert(fits<Tensors...>,
                  "einsum: tensors are added and multiplied with labels, as in C(i, k) = A(i, j) * B(j, k)");
};

/// True where the function is defined for arguments of these types; some are not for complex numbers.
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

// Not inlined, and compiled for size: a statement copies its nodes from call to call, which takes little time to run
// but much to optimise.
#define EINPARALLEL_DETAIL_OPERATOR(sign, functor)                                                   \
    template <class A, class B>                                                                      \
        requires detail::JoinPair<A, B>                                                              \
    [[gnu::noinline, gnu::cold]] auto operator sign(const A& a, const B& b) {                        \
        return detail::joined(std::type_identity<detail::pair_node<detail::functor, A, B>>(), a, b); \
    }                                                                                                \
    static_assert(true)
/// Arithmetic, element by element. A number takes its precision from the expression beside it.
///@{
EINPARALLEL_DETAIL_OPERATOR(+, plus);
EINPARALLEL_DETAIL_OPERATOR(-, minus);
EINPARALLEL_DETAIL_OPERATOR(*, times);
EINPARALLEL_DETAIL_OPERATOR(/, over);
///@}
/// The remainder of a division of integers that rounds towards zero. It has the sign of a. A division by zero throws
/// ep::error.
EINPARALLEL_DETAIL_OPERATOR(%, modulo);
// Comparisons, element by element: an expression of bool.
EINPARALLEL_DETAIL_OPERATOR(<, less);
EINPARALLEL_DETAIL_OPERATOR(<=, less_equal);
EINPARALLEL_DETAIL_OPERATOR(>, greater);
EINPARALLEL_DETAIL_OPERATOR(>=, greater_equal);
EINPARALLEL_DETAIL_OPERATOR(==, equal);
EINPARALLEL_DETAIL_OPERATOR(!=, not_equal);

/// Logical operators on bool, element by element. Both sides are computed.
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
/// Refuse tensors without labels; the message says how to write the operation.
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

/// Signs and negation, element by element.
///@{
template <Expression A>
auto operator-(const A& a) {
    return detail::join_node<detail::negate, typename A::node>{{}, {}, {a}};
}
template <Expression A>
auto operator+(const A& a) {
    return typename A::node(a);
}
/// Logical negation of bool.
template <Expression A>
auto operator!(const A& a) {
    return detail::pair_node<detail::differ, A, bool>{{}, {}, {a, true}};
}
///@}

}  // namespace einparallel
