#pragma once
// The operations that make up the ⊗ and the ⊕ of a vertex, as enumerators, and a table of their properties. A further
// operation needs a row in this table, and a functor in operators.hpp or reductions.hpp.

#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace einparallel {

/// The ⊕ of an einsum, as a value that can be compared. `unknown` is a user's operator, which counts as different from
/// all others.
enum class reduction : std::uint8_t { unknown, sum, prod, max, min, logsumexp };

/// What an instruction computes, in the order of numbers of arguments. Each functor of operators.hpp has a code and is
/// the definition of it: integers wrap, a NaN wins in max and min, complex products are those of BLAS.
enum class op_code : std::uint8_t {
    // none
    operand,  ///< element of operand r, in register r
    number,   ///< a number of the expression
    opaque,   ///< a user's functor; its arguments are the `argument` instructions right before it
    // one: of the result's type, except where noted
    argument,   ///< hands a value of any type to the opaque instruction that follows
    cast,       ///< any type to the result's: complex numbers part by part; to bool: whether it is not 0
    negate,     ///< −a; not for bool
    absolute,   ///< |a|; real where a is complex
    conjugate,  ///< complex conjugate; a itself where it is real
    floor,      ///< largest whole number ≤ a; integers stay as they are
    round,      ///< nearest whole number, halves away from zero; integers stay as they are
    sign,       ///< −1, 0, 1 or NaN
    relu,       ///< max(a, 0)
    exp,        ///< eᵃ; this and the others of one argument below take real and complex numbers
    expm1,      ///< eᵃ − 1; of real numbers only
    log,        ///< natural logarithm
    log1p,      ///< log(1 + a); of real numbers only
    sqrt,       ///< √a
    tanh,       ///< hyperbolic tangent
    sin,        ///< sine
    cos,        ///< cosine
    tan,        ///< tangent
    erf,        ///< error function; of real numbers only
    sigmoid,    ///< 1 / (1 + e⁻ᵃ)
    silu,       ///< a · sigmoid(a)
    gelu,       ///< a · Φ(a); of real numbers only
    // two: both of the result's type
    add,                  ///< a + b; for bool "or"
    subtract,             ///< a − b; not for bool
    multiply,             ///< a · b; for bool "and"
    divide,               ///< a / b; for integers rounded towards zero
    larger,               ///< max(a, b)
    smaller,              ///< min(a, b)
    remainder,            ///< a − b · (a / b); of integers
    power,                ///< aᵇ; of real and complex numbers
    angle,                ///< atan2(a, b); of real numbers
    shifted_exponential,  ///< exp(a − b), of a softmax
    logaddexp,            ///< log(exp(a) + exp(b)); of real numbers
    // two: both of one type; the result is bool
    less,           ///< a < b
    less_equal,     ///< a ≤ b
    greater,        ///< a > b
    greater_equal,  ///< a ≥ b
    equal,          ///< a = b
    not_equal,      ///< a ≠ b
    // three
    choice,   ///< a ? b : c; a is bool, b and c are of the result's type
    position  ///< (a == b or a is NaN) ? c : the largest index; a and b are of one type
};

namespace detail {

/// How an operation relates the types of its arguments to the type of the statement (statement_type.hpp).
enum class type_role : std::uint8_t {
    arithmetic,  ///< arguments are of the statement's type
    orders,      ///< like arithmetic; signed and unsigned integers are compared as numbers
    divides,     ///< integers are divided in their own common type
    compares,    ///< arguments are compared in their own common type; the result is bool
    chooses,     ///< the condition has a type of its own
    positions,   ///< the result is an index
    fractions,   ///< integers become double
    magnitude,   ///< the result is real for complex numbers
    foreign      ///< a user's functor decides
};

/// The types that an operation computes in.
enum class operation_types : std::uint8_t { any, numbers, ordered, whole, fractional, real };

/// The properties of an operation.
struct operation {
    op_code code;
    std::string_view word;  ///< in formulas and texts
    std::uint8_t arity = 0;
    type_role role = type_role::arithmetic;
    operation_types of = operation_types::any;
    /// The cost for elements in rows: the number of multiplications and additions of a matrix product that take as
    /// long. Reading an operand is counted separately, and its cost includes one addition or multiplication.
    std::uint8_t cost = 0;
    bool in_vectors = false;  ///< vector_math has it for float and double
    /// g · ∂/∂a, g · ∂/∂b and g · ∂/∂c; for complex numbers, g times the conjugate of the derivative. The notation is
    /// postfix: operations stand behind their arguments. z is the result. y is the result, too, but computed anew
    /// although a tensor holds it. Empty where the derivative is 0.
    std::array<std::string_view, 3> derivatives{};

    constexpr operation(op_code called, std::string_view named, int arguments, type_role goes = {},
                        operation_types types = {}, int costs = 0, bool has_vectors = false, std::string_view by_a = {},
                        std::string_view by_b = {}, std::string_view by_c = {})
        : code(called),
          word(named),
          arity(std::uint8_t(arguments)),
          role(goes),
          of(types),
          cost(std::uint8_t(costs)),
          in_vectors(has_vectors),
          derivatives{by_a, by_b, by_c} {}
};

/// The derivative of log(eᵃ + …) by a: g times the share of eᵃ in the sum.
inline constexpr std::string_view logaddexp_by_a = "z -inf == 0 g a z == 1 a z - exp where * where";
inline constexpr auto operations = [] {
    using enum op_code;
    using enum type_role;
    using enum operation_types;
    return std::to_array<operation>({
        {operand, "operand", 0},
        {number, "number", 0},
        {opaque, "opaque", 0, foreign},
        {argument, "argument", 1},
        {cast, "cast", 1, arithmetic, any, 8},
        {negate, "neg", 1, arithmetic, numbers, 0, false, "g neg"},
        {absolute, "abs", 1, magnitude, any, 0, false, "g a sign *"},
        {conjugate, "conj", 1, arithmetic, any, 0, false, "g conj"},
        {op_code::floor, "floor", 1, orders, ordered},
        {op_code::round, "round", 1, orders, ordered},
        {sign, "sign", 1, orders, ordered},
        {relu, "relu", 1, orders, ordered, 0, false, "z 0 > g 0 where"},
        {op_code::exp, "exp", 1, fractions, fractional, 15, true, "g z conj *"},
        {op_code::expm1, "expm1", 1, fractions, real, 15, true, "g a exp *"},
        {op_code::log, "log", 1, fractions, fractional, 15, true, "g a conj /"},
        {op_code::log1p, "log1p", 1, fractions, real, 15, true, "g 1 a + /"},
        {op_code::sqrt, "sqrt", 1, fractions, fractional, 0, true, "0.5 g * z conj /"},
        {op_code::tanh, "tanh", 1, fractions, fractional, 15, true, "g 1 z z * - conj *"},
        {op_code::sin, "sin", 1, fractions, fractional, 15, true, "g a cos conj *"},
        {op_code::cos, "cos", 1, fractions, fractional, 15, true, "g a sin neg conj *"},
        {op_code::tan, "tan", 1, fractions, fractional, 15, false, "g 1 z z * + conj *"},
        {op_code::erf, "erf", 1, fractions, real, 15, true, "g 1.1283791670955126 a a * neg exp * *"},  // 2/√π
        {sigmoid, "sigmoid", 1, fractions, fractional, 15, true, "g z 1 z - * conj *"},
        {silu, "silu", 1, fractions, fractional, 15, true, "g a sigmoid y 1 a sigmoid - * + conj *"},
        {gelu, "gelu", 1, fractions, real, 15, true,  // Φ(a) + a φ(a)
         "g 0.5 1 0.7071067811865476 a * erf + * a 0.3989422804014327 -0.5 a a * * exp * * + *"},
        {add, "+", 2, arithmetic, any, 0, false, "g", "g"},
        {subtract, "-", 2, arithmetic, numbers, 0, false, "g", "g neg"},
        {multiply, "*", 2, arithmetic, any, 0, false, "g b conj *", "g a conj *"},
        {divide, "/", 2, divides, any, 0, false, "g b conj /", "g y b / conj * neg"},
        {larger, "max", 2, orders, ordered, 0, false, "a b < 0 g where", "a b < g 0 where"},
        {smaller, "min", 2, orders, ordered, 0, false, "a b > 0 g where", "a b > g 0 where"},
        {op_code::remainder, "%", 2, divides, whole},
        {power, "pow", 2, fractions, fractional, 15, true, "b 0 == 0 g b a -1 b + pow * conj * where",
         "a 0 == 0 g y a log * conj * where"},
        {angle, "atan2", 2, fractions, real, 15, false, "g b a a * b b * + / *", "g a neg a a * b b * + / *"},
        {shifted_exponential, "exp-", 2, fractions, fractional, 15, true, "g z *"},  // a softmax has no ∂/∂b
        {logaddexp, "logaddexp", 2, fractions, real, 30, true, logaddexp_by_a,
         "z -inf == 0 g b z == 1 b z - exp where * where"},
        {less, "<", 2, compares, ordered, 8},
        {less_equal, "<=", 2, compares, ordered, 8},
        {greater, ">", 2, compares, ordered, 8},
        {greater_equal, ">=", 2, compares, ordered, 8},
        {equal, "==", 2, compares, any, 8},
        {not_equal, "!=", 2, compares, any, 8},
        {choice, "where", 3, chooses, any, 8, false, "", "a g 0 where", "a 0 g where"},
        {position, "place", 3, positions, ordered, 8},
    });
}();

/// True where row i of a table describes enumerator i.
constexpr bool are_in_order(const auto& rows, auto of) {
    std::size_t next = 0;
    for (const auto& row : rows) {
        if (std::size_t(row.*of) != next++) {
            return false;
        }
    }
    return true;
}
static_assert(are_in_order(operations, &operation::code) && operations.size() == std::size_t(op_code::position) + 1);
constexpr const operation& operation_of(op_code code) {
    return operations[std::size_t(code)];
}

/// Removes the text before `end`, or all of it, from the front of `text`, together with `end`. Returns the removed text
/// without `end`. It reads the words of derivatives, and what op_program::text() writes.
constexpr std::string_view taken(std::string_view& text, std::string_view end = " ") {
    const std::size_t length = std::min(text.find(end), text.size());
    const std::string_view before = text.substr(0, length);
    text.remove_prefix(std::min(length + end.size(), text.size()));
    return before;
}

/// The properties of a ⊕. `derivative` is that of ⊕ a by a, written as in `operation`. Where it is empty,
/// graph/gradient/backward.ipp has the derivative.
struct reduction_row {
    reduction by;
    std::string_view word;
    op_code combine = op_code::opaque;      ///< a ⊕ b
    op_code distributed = op_code::opaque;  ///< the ⊗ that distributes over it in every operand
    std::string_view derivative{};
};
inline constexpr auto reductions = std::to_array<reduction_row>(
    {{reduction::unknown, "reduce"},
     {reduction::sum, "sum", op_code::add, op_code::multiply, "g"},
     {reduction::prod, "prod", op_code::multiply},
     {reduction::max, "max", op_code::larger, op_code::add},
     {reduction::min, "min", op_code::smaller, op_code::add},
     {reduction::logsumexp, "logsumexp", op_code::logaddexp, op_code::add, logaddexp_by_a}});
static_assert(are_in_order(reductions, &reduction_row::by));
constexpr const reduction_row& reduction_row_of(reduction by) {
    return reductions[std::size_t(by)];
}
/// The ⊕ whose a ⊕ b this operation is; `unknown` where there is none.
constexpr reduction reduction_by(op_code combine) {
    reduction found = reduction::unknown;
    for (const reduction_row& each : reductions) {
        found = each.combine == combine && combine != op_code::opaque ? each.by : found;
    }
    return found;
}

/// Whether an operation can compute with arguments of this type.
constexpr bool computes_in(op_code code, element_type type) {
    if (is_half_type(type)) {
        return code == op_code::cast || code == op_code::argument;
    }
    const bool is_whole = type.kind == 'i' || type.kind == 'u' || type.kind == 'b';
    switch (operation_of(code).of) {
        case operation_types::any:
            return true;
        case operation_types::numbers:
            return type.kind != 'b';
        case operation_types::ordered:
            return type.kind != 'c';
        case operation_types::whole:
            return is_whole;
        case operation_types::fractional:
            return !is_whole;
        default:
            return type.kind == 'f';
    }
}

constexpr bool divides(op_code code) {
    return operation_of(code).role == type_role::divides;
}
constexpr bool compares(op_code code) {
    return operation_of(code).role == type_role::compares;
}

}  // namespace detail

/// The number of registers that an instruction reads, in op_instruction::from.
constexpr int arity_of(op_code code) {
    return detail::operation_of(code).arity;
}

}  // namespace einparallel
