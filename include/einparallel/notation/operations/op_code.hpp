#pragma once
// The operations that the ⊗ of a vertex is made of, as numbers.

#include <einparallel/notation/element_type.hpp>

#include <cstdint>

namespace einparallel {

/// The ⊕ of an einsum, for who has to know whether two have the same; `unknown`, one of the user's, is like no other.
enum class reduction : std::uint8_t { unknown, sum, prod, max, min };

/// What an instruction computes, by number of arguments. The functors of operators.hpp say which is theirs, and are its
/// definition: integers wrap, a NaN wins in max and min, complex products are as BLAS multiplies.
enum class op_code : std::uint8_t {
    // none
    operand,  ///< element of operand r, in register r
    number,   ///< a number of the expression
    opaque,   ///< a functor of the user's; its arguments are the `argument`s right before it
    // one: of the result's type, but for what is said
    argument,   ///< hands a value of any type to the opaque instruction that follows
    cast,       ///< of any type to the result's: between complex types part by part; to bool: is not 0
    negate,     ///< −a; of no bool
    absolute,   ///< |a|; of complex numbers a real one
    conjugate,  ///< a itself where it is real
    floor,      ///< of integers themselves, as round
    round,      ///< halves away from zero
    sign,       ///< −1, 0, 1 or NaN
    relu,       ///< max(a, 0)
    exp,        ///< of real and complex numbers, as the rest of one argument
    log,        ///< natural logarithm
    sqrt,       ///< √a
    tanh,       ///< hyperbolic tangent
    sin,        ///< sine
    cos,        ///< cosine
    tan,        ///< tangent
    erf,        ///< error function; of real numbers
    sigmoid,    ///< 1 / (1 + e⁻ᵃ)
    silu,       ///< a · sigmoid(a)
    gelu,       ///< a · Φ(a); of real numbers
    // two: both of the result's type
    add,                  ///< a + b; of bool "or"
    subtract,             ///< a − b; of no bool
    multiply,             ///< a · b; of bool "and"
    divide,               ///< a / b; of integers towards zero
    larger,               ///< max(a, b)
    smaller,              ///< min(a, b)
    remainder,            ///< a − b · (a / b); of integers
    power,                ///< aᵇ; of real and complex numbers
    angle,                ///< atan2(a, b); of real numbers
    shifted_exponential,  ///< exp(a − b), of a softmax
    // two: both of one type; bool
    less,           ///< a < b
    less_equal,     ///< a ≤ b
    greater,        ///< a > b
    greater_equal,  ///< a ≥ b
    equal,          ///< a = b
    not_equal,      ///< a ≠ b
    // three
    choice,  ///< of a bool and two of the result's type: a ? b : c
    place    ///< of two of one type and an index: a == b or a is NaN ? c : the largest index
};

/// How many registers it reads, in op_instruction::from.
constexpr int arity_of(op_code code) {
    return code < op_code::argument ? 0 : code < op_code::add ? 1 : code < op_code::choice ? 2 : 3;
}

namespace detail {

/// How many multiplications and additions of a matrix product take as long, of elements in rows: where an operand is
/// read and added, or multiplied, that is counted with the reading.
constexpr double operations_of(op_code code) {
    const bool is_elementary = (code >= op_code::exp && code <= op_code::gelu && code != op_code::sqrt) ||
                               (code >= op_code::power && code <= op_code::shifted_exponential);
    return is_elementary ? 15 : code == op_code::cast || code >= op_code::less ? 8 : 0;
}

/// Which arguments a functor takes: by the type in which it computes.
constexpr bool computes_in(op_code code, element_type type) {
    const auto within = [code](op_code first, op_code last) { return code >= first && code <= last; };
    if (half_code_of(type) != 0) {
        return code == op_code::cast || code == op_code::argument;
    }
    if (code == op_code::negate || code == op_code::subtract) {
        return type.kind != 'b';
    }
    if (within(op_code::floor, op_code::relu) || within(op_code::larger, op_code::smaller) ||
        within(op_code::less, op_code::greater_equal) || code == op_code::place) {
        return type.kind != 'c';
    }
    if (code == op_code::remainder) {
        return type.kind == 'i' || type.kind == 'u' || type.kind == 'b';
    }
    const bool of_real = code == op_code::erf || code == op_code::gelu || code == op_code::angle;
    const bool of_fractions =
        within(op_code::exp, op_code::gelu) || code == op_code::power || code == op_code::shifted_exponential;
    return type.kind == 'f' || (!of_real && (!of_fractions || type.kind == 'c'));
}

constexpr bool divides(op_code code) {
    return code == op_code::divide || code == op_code::remainder;
}

constexpr bool compares(op_code code) {
    return code >= op_code::less && code <= op_code::not_equal;
}

}  // namespace detail

}  // namespace einparallel
