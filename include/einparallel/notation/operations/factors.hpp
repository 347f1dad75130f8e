#pragma once
// Which expressions are products: factors, and a scale of their numbers and signs.

#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::detail {

/// The element types of the leaves of E, as the kernel of a vertex sees them.
template <class E>
struct leaf_types {  // leaves, and whatever becomes a vertex of its own
    using type = type_list<typename E::value_type>;
};
template <class Operand, class Labels>
struct leaf_types<leaf<Operand, Labels>> : std::type_identity<type_list<stored_t<Operand>>> {};
template <class T, class Number>
struct leaf_types<constant<T, Number>> : std::type_identity<type_list<>> {};
template <class Function, class... Arguments>
struct leaf_types<join_node<Function, Arguments...>>
    : std::type_identity<concatenate_t<type_list<>, typename leaf_types<Arguments>::type...>> {};
template <class E>
inline constexpr std::size_t leaf_count = leaf_types<E>::type::size;

/// Number of leaves of the arguments before position `position`.
template <class... Arguments>
constexpr std::size_t leaves_before(std::size_t position) {
    std::size_t leaves = 0;
    std::size_t at = 0;
    ((leaves += at++ < position ? leaf_count<Arguments> : 0), ...);
    return leaves;
}

/// True where conj(E) is the product of the conjugates of E's factors.
template <class E>
inline constexpr bool passes_conjugate = !is_complex<typename E::value_type>::value;
template <class A>
inline constexpr bool passes_conjugate<join_node<conjugate, A>> = true;
template <class A>
inline constexpr bool passes_conjugate<join_node<negate, A>> = true;
template <class A, class B>
inline constexpr bool passes_conjugate<join_node<times, A, B>> = true;
template <class A, class T, class Number>
inline constexpr bool passes_conjugate<join_node<over, A, constant<T, Number>>> = true;

/// The count in `factors` for an expression that is no product. Else `factors` counts the factors of E, or of the
/// conjugate of E, as a product that a contraction kernel of element type T can sum. Numbers are not counted: they go
/// into the scale. `only_leaves`: no factor must be computed first.
inline constexpr std::size_t unfit = std::size_t(-1) / 4;

template <class Statement, class Whole, class T, class E>
struct computed_factor {  // any other expression: a factor to be computed first, where that is less work than fusing it
    static constexpr std::size_t count =
        std::is_same_v<typename E::value_type, T> && Statement::template has_fewer_labels<E, Whole> ? 1 : unfit;
    static constexpr bool only_leaves = false;
};
template <class Statement, class Whole, class T, class E, bool Conjugated = false>
struct factors : computed_factor<Statement, Whole, T, E> {};
template <class Statement, class Whole, class T, class Operand, class Labels, bool Conjugated>
struct factors<Statement, Whole, T, leaf<Operand, Labels>, Conjugated>
    : computed_factor<Statement, Whole, T, leaf<Operand, Labels>> {};
template <class Statement, class Whole, class T, class Operand, class Labels, bool Conjugated>
    requires(!Conjugated || !is_complex<T>::value)
struct factors<Statement, Whole, T, leaf<Operand, Labels>, Conjugated> {
    static constexpr std::size_t count = std::is_same_v<computed_t<typename Operand::value_type>, T> ? 1 : unfit;
    static constexpr bool only_leaves = true;
};
template <class Statement, class Whole, class T, class Value, class Number, bool Conjugated>
struct factors<Statement, Whole, T, constant<Value, Number>, Conjugated> {
    static constexpr std::size_t count = std::is_same_v<Value, T> ? 0 : unfit;
    static constexpr bool only_leaves = true;
};
template <class Statement, class Whole, class T, class A, class B, bool Conjugated>
struct factors<Statement, Whole, T, join_node<times, A, B>, Conjugated> {
    static constexpr std::size_t count =
        factors<Statement, Whole, T, A, Conjugated>::count + factors<Statement, Whole, T, B, Conjugated>::count;
    static constexpr bool only_leaves = factors<Statement, Whole, T, A, Conjugated>::only_leaves &&
                                        factors<Statement, Whole, T, B, Conjugated>::only_leaves;
};
/// True where a division by a number becomes a scale by the reciprocal: where several tensors are contracted. Elsewhere
/// each element is divided, so that 49 / 49 is 1.
template <class Statement, class Whole, class T, class Number>
inline constexpr bool divides_by_scale = (std::is_floating_point_v<T> || is_complex<T>::value) &&
                                         std::is_same_v<Number, T>&& Statement::template aggregates<Whole> &&
                                         (leaf_count<Whole> > 1);
template <class Statement, class Whole, class T, class A, class Value, class Number, bool Conjugated>
struct factors<Statement, Whole, T, join_node<over, A, constant<Value, Number>>, Conjugated>
    : factors<Statement, Whole, T, A, Conjugated> {
    static constexpr std::size_t count =
        divides_by_scale<Statement, Whole, T, Value> ? factors<Statement, Whole, T, A, Conjugated>::count : unfit;
};
template <class Statement, class Whole, class T, class A, bool Conjugated>
struct factors<Statement, Whole, T, join_node<negate, A>, Conjugated> : factors<Statement, Whole, T, A, Conjugated> {};
template <class Statement, class Whole, class T, class A, bool Conjugated>
struct factors<Statement, Whole, T, join_node<conjugate, A>, Conjugated>
    : std::conditional_t<Conjugated || passes_conjugate<A>, factors<Statement, Whole, T, A, !Conjugated>,
                         computed_factor<Statement, Whole, T, join_node<conjugate, A>>> {};

/// True where some operand has elements that are computed in another type than T.
template <class T, class... Stored>
constexpr bool converts(type_list<Stored...> /*elements*/) {
    return (!std::is_same_v<computed_t<Stored>, T> || ...);
}

/// The number of multiplications in a product (multiplications), and whether it has neither number nor sign (is_bare).
template <class E>
inline constexpr int multiplications = 0;
template <class A>
inline constexpr int multiplications<join_node<negate, A>> = multiplications<A>;
template <class A>
inline constexpr int multiplications<join_node<conjugate, A>> = multiplications<A>;
template <class A, class B>
inline constexpr int multiplications<join_node<times, A, B>> = multiplications<A> + multiplications<B> + 1;
template <class E>
inline constexpr bool is_bare = E::leaf_count > 0;
template <class A>
inline constexpr bool is_bare<join_node<negate, A>> = false;
template <class A>
inline constexpr bool is_bare<join_node<conjugate, A>> = is_bare<A>;
template <class A, class B>
inline constexpr bool is_bare<join_node<times, A, B>> = is_bare<A>&& is_bare<B>;

/// True where a contraction kernel computes E: all factors have the output's element type, and at least one is no
/// number. Such a kernel chooses the order of multiplications. So without a sum E has one of them at most, and each
/// element is rounded as the user wrote it. Without a sum, numbers and signs are scales only in a graph, where 2 * x
/// and x * 2 are one vertex. On arrays, kernels for rows compute such expressions faster; they also take operands of
/// other types.
template <class Statement, class T, class E, bool Records = false>
inline constexpr bool is_product = factors<Statement, E, T, E>::count > 0 &&
                                   factors<Statement, E, T, E>::count < unfit &&
                                   (Statement::template aggregates<E> ||
                                    (multiplications<E> <= 1 && !converts<T>(typename leaf_types<E>::type()) &&
                                     (is_bare<E> || (Records && !is_complex<T>::value))));

template <bool Conjugated, class T, class Number>
T number_of(const constant<T, Number>& node) {
    return Conjugated ? conjugate{}(T(node.value)) : T(node.value);
}

/// Calls visit(factor, conjugated) for every factor of a product, or of its conjugate, that is no number, in the order
/// written; `conjugated` is std::true_type where the factor is the conjugate of `factor`. Numbers and signs are
/// multiplied into `scale`.
template <bool Conjugated = false, class E, class T, class Visit>
void for_each_factor(const E& node, T& /*scale*/, const Visit& visit) {
    constexpr bool is_conjugated = Conjugated && is_complex<T>::value;
    visit(node, std::bool_constant<is_conjugated>());
}
template <bool Conjugated = false, class T, class Number, class Visit>
void for_each_factor(const constant<T, Number>& node, T& scale, const Visit& /*visit*/) {
    scale = times{}(scale, number_of<Conjugated>(node));
}
template <bool Conjugated = false, class T, class A, class B, class Visit>
void for_each_factor(const join_node<times, A, B>& node, T& scale, const Visit& visit) {
    for_each_factor<Conjugated>(argument<0>(node.arguments), scale, visit);
    for_each_factor<Conjugated>(argument<1>(node.arguments), scale, visit);
}
template <bool Conjugated = false, class T, class A, class Number, class Visit>
void for_each_factor(const join_node<over, A, constant<T, Number>>& node, T& scale, const Visit& visit) {
    scale = scale / number_of<Conjugated>(argument<1>(node.arguments));
    for_each_factor<Conjugated>(argument<0>(node.arguments), scale, visit);
}
template <bool Conjugated = false, class T, class A, class Visit>
void for_each_factor(const join_node<negate, A>& node, T& scale, const Visit& visit) {
    scale = negate{}(scale);
    for_each_factor<Conjugated>(argument<0>(node.arguments), scale, visit);
}
template <bool Conjugated = false, class T, class A, class Visit>
void for_each_factor(const join_node<conjugate, A>& node, T& scale, const Visit& visit) {
    if constexpr (Conjugated || passes_conjugate<A>) {
        for_each_factor<!Conjugated>(argument<0>(node.arguments), scale, visit);
    } else {
        visit(node, std::false_type());
    }
}

/// True where the common type of From and To is not To: for double and float, or int and bool. To then loses values.
template <class From, class To>
inline constexpr bool loses = !std::is_same_v<arithmetic_t<From, To>, To>;

}  // namespace einparallel::detail
