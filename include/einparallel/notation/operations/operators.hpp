#pragma once
// ⊗ and maps: the functors that an einsum is made of, beside the ⊕ (reductions.hpp).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/integer_division.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/reductions.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

namespace einparallel {

namespace detail {

/// True for a functor of the library's own, which has no state.
template <class Function>
inline constexpr bool has_op_code = requires {
    requires std::is_same_v<decltype(Function::code), const op_code>;
};

}  // namespace detail

/// True where ⊗ distributes over ⊕ in every operand, so that x ⊗ (⊕ y) = ⊕ (x ⊗ y). Labels of a single operand may then
/// be reduced before the join, and n-ary expressions may be contracted pair by pair. Specialise it for your own
/// operators.
template <class Reduce, class Join>
inline constexpr bool distributes_over = false;
/// The library's own operators, as the table of reductions says.
template <class Reduce, class Join>
    requires(detail::has_op_code<Reduce>&& detail::has_op_code<Join>)
inline constexpr bool distributes_over<Reduce, Join> =
    Join::code == detail::reduction_row_of(detail::reduction_by(Reduce::code)).distributed &&
    Join::code != op_code::opaque;

namespace detail {

template <class T>
EINPARALLEL_HOST_DEVICE constexpr auto difference(T a, T b) {
    if constexpr (is_number<T>) {
        return T(static_cast<wrapping<T>>(a) - static_cast<wrapping<T>>(b));
    } else {
        return a - b;
    }
}

template <class T>
EINPARALLEL_HOST_DEVICE constexpr T ratio(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return quotient(a, b);
    } else {
        return T(a / b);
    }
}

template <class T>
EINPARALLEL_HOST_DEVICE constexpr T rest_of(T a, T b) {
    static_assert(std::is_integral_v<T>, "einsum: % takes integers only");
    if constexpr (std::is_integral_v<T>) {
        return remainder(a, b);
    } else {
        return a;
    }
}

/// Defines a functor of two elements. x and y are these elements in their common type.
#define EINPARALLEL_DETAIL_PAIR(functor, operation, result)                 \
    struct functor : coded<op_code::operation> {                            \
        template <class A, class B>                                         \
        EINPARALLEL_HOST_DEVICE constexpr auto operator()(A a, B b) const { \
            using T = arithmetic_t<A, B>;                                   \
            const T x = converted<T>(a);                                    \
            const T y = converted<T>(b);                                    \
            return result;                                                  \
        }                                                                   \
    }
EINPARALLEL_DETAIL_PAIR(plus, add, op::sum_type{}(x, y));
EINPARALLEL_DETAIL_PAIR(minus, subtract, difference(x, y));
EINPARALLEL_DETAIL_PAIR(times, multiply, op::prod_type{}(x, y));
EINPARALLEL_DETAIL_PAIR(over, divide, ratio(x, y));
EINPARALLEL_DETAIL_PAIR(modulo, remainder, rest_of(x, y));
EINPARALLEL_DETAIL_PAIR(larger, larger, op::max_type{}(x, y));
EINPARALLEL_DETAIL_PAIR(smaller, smaller, op::min_type{}(x, y));
EINPARALLEL_DETAIL_PAIR(less, less, x < y);
EINPARALLEL_DETAIL_PAIR(less_equal, less_equal, x <= y);
EINPARALLEL_DETAIL_PAIR(greater, greater, x > y);
EINPARALLEL_DETAIL_PAIR(greater_equal, greater_equal, x >= y);
EINPARALLEL_DETAIL_PAIR(equal, equal, x == y);
EINPARALLEL_DETAIL_PAIR(not_equal, not_equal, x != y);
#undef EINPARALLEL_DETAIL_PAIR

/// True where both arguments of a logical functor are bool.
template <class A, class B>
inline constexpr bool are_bool = std::is_same_v<A, bool>&& std::is_same_v<B, bool>;
#define EINPARALLEL_DETAIL_LOGIC(functor, operation, result)                                                      \
    struct functor : coded<op_code::operation> {                                                                  \
        template <class A, class B>                                                                               \
        EINPARALLEL_HOST_DEVICE constexpr bool operator()(A a, B b) const {                                       \
            static_assert(are_bool<A, B>,                                                                         \
                          "einsum: &&, || and ! take bools: compare with a number, as in x(i) != 0 && y(i) > 1"); \
            return result;                                                                                        \
        }                                                                                                         \
    }
EINPARALLEL_DETAIL_LOGIC(both, smaller, bool(a) && bool(b));
EINPARALLEL_DETAIL_LOGIC(either, larger, bool(a) || bool(b));
EINPARALLEL_DETAIL_LOGIC(differ, not_equal, bool(a) != bool(b));
#undef EINPARALLEL_DETAIL_LOGIC

struct negate : coded<op_code::negate> {
    template <class A>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(A a) const {
        if constexpr (std::is_integral_v<A>) {
            return minus{}(A(0), a);
        } else {
            return -a;
        }
    }
};

struct power : coded<op_code::power> {
    template <class A, class B>
    EINPARALLEL_HOST_DEVICE auto operator()(A a, B b) const {
        using std::pow;
        if constexpr (is_complex<A>::value || is_complex<B>::value) {
            using T = arithmetic_t<A, B>;
            return T(pow(converted<T>(a), converted<T>(b)));
        } else {
            return pow(a, b);
        }
    }
};

struct absolute : coded<op_code::absolute> {
    template <class A>
    EINPARALLEL_HOST_DEVICE auto operator()(A a) const {
        if constexpr (std::is_unsigned_v<A>) {
            return a;
        } else if constexpr (std::is_integral_v<A>) {
            return a < 0 ? negate{}(a) : a;
        } else {
            using std::abs;
            return abs(a);
        }
    }
};

struct conjugate : coded<op_code::conjugate> {
    template <class A>
    EINPARALLEL_HOST_DEVICE auto operator()(A a) const {
        if constexpr (is_complex<A>::value) {
            return A(a.real(), -a.imag());
        } else {
            return a;
        }
    }
};

/// Defines a functor of one element x, real or complex; an integer becomes a double. `function` is the function of std
/// that `result` calls.
#define EINPARALLEL_DETAIL_MAP(functor, operation, function, result)        \
    struct functor : coded<op_code::operation> {                            \
        template <class A>                                                  \
        EINPARALLEL_HOST_DEVICE auto operator()(A a) const {                \
            using std::function;                                            \
            using T = std::conditional_t<std::is_integral_v<A>, double, A>; \
            const T x = converted<T>(a);                                    \
            return T(result);                                               \
        }                                                                   \
    }
EINPARALLEL_DETAIL_MAP(exp_function, exp, exp, exp(x));
EINPARALLEL_DETAIL_MAP(expm1_function, expm1, expm1, expm1(x));
EINPARALLEL_DETAIL_MAP(log_function, log, log, log(x));
EINPARALLEL_DETAIL_MAP(log1p_function, log1p, log1p, log1p(x));
EINPARALLEL_DETAIL_MAP(sqrt_function, sqrt, sqrt, sqrt(x));
EINPARALLEL_DETAIL_MAP(tanh_function, tanh, tanh, tanh(x));
EINPARALLEL_DETAIL_MAP(sin_function, sin, sin, sin(x));
EINPARALLEL_DETAIL_MAP(cos_function, cos, cos, cos(x));
EINPARALLEL_DETAIL_MAP(tan_function, tan, tan, tan(x));
EINPARALLEL_DETAIL_MAP(erf_function, erf, erf, erf(x));
EINPARALLEL_DETAIL_MAP(sigmoid_function, sigmoid, exp, T(1) / (T(1) + exp(-x)));
EINPARALLEL_DETAIL_MAP(silu_function, silu, exp, x* sigmoid_function{}(x));
// With the normal distribution function itself, not its tanh approximation.
EINPARALLEL_DETAIL_MAP(gelu_function, gelu, erf, x*(T(1) + erf(x * T(0.70710678118654752440))) / T(2));
#undef EINPARALLEL_DETAIL_MAP

/// Defines a functor that rounds to whole numbers; integers stay as they are. Halves are rounded away from zero, as in
/// std::round.
#define EINPARALLEL_DETAIL_TO_WHOLE(function)                \
    struct function##_function : coded<op_code::function> {  \
        template <class A>                                   \
        EINPARALLEL_HOST_DEVICE auto operator()(A a) const { \
            using std::function;                             \
            if constexpr (std::is_integral_v<A>) {           \
                return a;                                    \
            } else {                                         \
                return function(a);                          \
            }                                                \
        }                                                    \
    }
EINPARALLEL_DETAIL_TO_WHOLE(floor);
EINPARALLEL_DETAIL_TO_WHOLE(round);
#undef EINPARALLEL_DETAIL_TO_WHOLE

/// −1, 0 or 1; NaN for a NaN.
struct sign_function : coded<op_code::sign> {
    template <class A>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(A a) const {
        return a != a ? a : A(A(A(0) < a) - A(a < A(0)));
    }
};

struct atan2_function : coded<op_code::angle> {
    EINPARALLEL_HOST_DEVICE auto operator()(auto a, auto b) const {
        using std::atan2;
        return atan2(a, b);
    }
};

struct logaddexp_function : coded<op_code::logaddexp> {
    template <class A, class B>
    EINPARALLEL_HOST_DEVICE auto operator()(A a, B b) const {
        using T = arithmetic_t<A, B>;
        using Real = std::conditional_t<std::is_integral_v<T>, double, T>;
        return op::logsumexp_type{}(converted<Real>(a), converted<Real>(b));
    }
};

/// a where c is true (not 0), else b.
struct choice : coded<op_code::choice> {
    template <class C, class A, class B>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(C c, A a, B b) const {
        using T = arithmetic_t<A, B>;
        return c != C(0) ? converted<T>(a) : converted<T>(b);
    }
};

/// The index `at` of an element that equals the extreme or is a NaN; else the largest index of the type.
struct position_where : coded<op_code::position> {
    template <class A, class Index>
    EINPARALLEL_HOST_DEVICE constexpr Index operator()(A a, A extreme, Index at) const {
        return a == extreme || a != a ? at : std::numeric_limits<Index>::max();
    }
};

/// The reduction of a row in ep::top_k. It gives the element of a given rank, the largest first (element_of_rank), or
/// its position in the row (position_of_rank).
struct ranked_sum {};
struct element_of_rank {
    static constexpr bool is_position = false;
    constexpr auto operator()(auto a, auto /*rank*/) const { return a; }
};
struct position_of_rank {
    static constexpr bool is_position = true;
    constexpr auto operator()(auto /*a*/, auto rank) const { return rank; }
};

struct relu_function : coded<op_code::relu> {
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(auto a) const { return op::max_type{}(a, decltype(a)(0)); }
};

/// exp(x − c), the third line of the paper's softmax.
struct shifted_exponential : coded<op_code::shifted_exponential> {
    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T x, T c) const {
        using std::exp;
        return exp(x - c);
    }
};

/// x as a T.
template <class T>
struct converted_to : coded<op_code::cast> {
    EINPARALLEL_HOST_DEVICE constexpr T operator()(auto x) const { return converted<T>(x); }
};

/// x as it is; the vertex that uses this functor stores x in its own type.
struct unchanged : coded<op_code::cast> {
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(auto x) const { return x; }
};

/// The functors of the operations on one and two elements, in the order of the table.
using op_functors =
    type_list<negate, absolute, conjugate, floor_function, round_function, sign_function, relu_function, exp_function,
              expm1_function, log_function, log1p_function, sqrt_function, tanh_function, sin_function, cos_function,
              tan_function, erf_function, sigmoid_function, silu_function, gelu_function, plus, minus, times, over,
              larger, smaller, modulo, power, atan2_function, shifted_exponential, logaddexp_function, less, less_equal,
              greater, greater_equal, equal, not_equal>;
static_assert([]<class... Function>(type_list<Function...> /*all*/) {
    auto next = op_code::cast;
    return ((next = op_code(int(next) + 1), Function::code == next) && ...) && next == op_code::not_equal;
}(op_functors()));

/// Calls visit(f) for the functor f of the list that has this code, if there is one.
template <class... Function>
EINPARALLEL_HOST_DEVICE void with_functor(type_list<Function...> /*list*/, op_code code, const auto& visit) {
    static_cast<void>(((Function::code == code && (visit(Function{}), true)) || ...));
}

}  // namespace detail

}  // namespace einparallel
