#pragma once
// Numbers in an expression, and the types that they and operands take beside others.

#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/label.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel {

/// The base of every node of an expression. Each node names its own type as `node`. A type that can stand on a
/// left-hand side derives from its leaf, and `node` is then this leaf. This base is not in `detail`, because
/// argument-dependent lookup must find the operators also for operands of rank 0, which have no labels that would lead
/// to them.
struct expression_base {};

namespace detail {

/// An operand whose elements become T where they are read.
template <class T, class Operand>
struct read_as : Operand {
    using value_type = T;
};
/// The type of an operand's elements in memory.
template <class Operand>
struct stored_as : std::type_identity<typename Operand::value_type> {};
template <class T, class Operand>
struct stored_as<read_as<T, Operand>> : std::type_identity<typename Operand::value_type> {};
template <class Operand>
using stored_t = typename stored_as<Operand>::type;

/// A number in an expression. Beside other operands it has the type T. It keeps the precision in which it was written
/// (Number) until the type of the statement is known.
template <class T, class Number = T>
struct constant : expression_base {
    using node = constant;
    using labels = label_list<>;
    using value_type = T;
    static constexpr std::size_t leaf_count = 0;
    static constexpr bool is_flat = true;

    Number value;

    constexpr constant(auto number) : value(converted<Number>(number)) {}  // NOLINT(google-explicit-constructor)
};

/// The types of numbers that may stand in expressions.
template <class T>
concept Scalar = std::is_arithmetic_v<std::remove_cvref_t<T>> || is_complex<std::remove_cvref_t<T>>::value ||
    is_half<std::remove_cvref_t<T>>;

/// The type that a number takes beside elements of type Value: it takes their precision, so 0.5 * A(i, j) is single
/// where A is. Beside integers it keeps its own type.
template <class Number, class Value>
using scalar_beside_t =
    std::conditional_t<std::is_integral_v<Value>, computed_t<Number>,
                       std::conditional_t<is_complex<Number>::value && !is_complex<Value>::value,
                                          arithmetic_t<std::complex<float>, Value>, computed_t<Value>>>;
/// The constant that holds a number beside elements of type Value. A double beside floats is kept as a double.
template <class Number, class Value>
using constant_beside_t =
    constant<scalar_beside_t<Number, Value>,
             std::conditional_t<std::is_floating_point_v<Number> && std::is_same_v<computed_t<Value>, float> &&
                                    sizeof(Number) == sizeof(double),
                                Number, scalar_beside_t<Number, Value>>>;

}  // namespace detail

}  // namespace einparallel
