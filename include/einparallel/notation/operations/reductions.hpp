#pragma once
// ⊕: the operators that an einsum aggregates by.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace einparallel {

namespace detail {

/// The unsigned type in which integers are added and multiplied: modulo 2ⁿ, as in NumPy, without undefined overflow. It
/// is at least as wide as unsigned int.
template <class T>
using wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T>
inline constexpr bool is_number = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T>
inline constexpr bool is_ordered = std::is_arithmetic_v<T>;

/// The base of the library's own functors. `code` names the functor in an op_program; for an operator ⊕ it names a ⊕ b.
template <op_code Code>
struct coded {
    static constexpr op_code code = Code;
};

}  // namespace detail

/// An operator that may be used as ⊕. It is associative and commutative, declares this, and has an identity.
/// `op.template identity<T>()` is the value of an empty aggregation.
template <class Op, class T>
concept Reduction = requires(const Op& op, T x) {
    { Op::template identity<T>() } -> std::convertible_to<T>;
    { op(x, x) } -> std::convertible_to<T>;
    requires Op::associative_commutative;
};

/// The operators that come with the library, as objects for ep::reduce(op, expr).
namespace op {

/// ⊕ = +, the default. On bool it is "or".
struct sum_type : detail::coded<op_code::add> {
    static constexpr bool associative_commutative = true;
    template <class T>
    EINPARALLEL_HOST_DEVICE static constexpr T identity() {
        return T(0);
    }
    template <class T>
    EINPARALLEL_HOST_DEVICE constexpr T operator()(T a, T b) const {
        if constexpr (std::is_same_v<T, bool>) {
            return a || b;
        } else if constexpr (detail::is_number<T>) {
            return T(static_cast<detail::wrapping<T>>(a) + static_cast<detail::wrapping<T>>(b));
        } else {
            return a + b;
        }
    }
};

/// ⊕ = ×. On bool it is "and".
struct prod_type : detail::coded<op_code::multiply> {
    static constexpr bool associative_commutative = true;
    template <class T>
    EINPARALLEL_HOST_DEVICE static constexpr T identity() {
        return T(1);
    }
    template <class T>
    EINPARALLEL_HOST_DEVICE constexpr T operator()(T a, T b) const {
        if constexpr (std::is_same_v<T, bool>) {
            return a && b;
        } else if constexpr (detail::is_number<T>) {
            return T(static_cast<detail::wrapping<T>>(a) * static_cast<detail::wrapping<T>>(b));
        } else if constexpr (detail::is_complex<T>::value) {  // as BLAS multiplies: no recovery of infinities (Annex G)
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
            return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
        } else {
            return a * b;
        }
    }
};

/// ⊕ = max or min; a NaN wins over every number.
template <bool Largest>
struct extreme_type : detail::coded<Largest ? op_code::larger : op_code::smaller> {
    static constexpr bool associative_commutative = true;
    template <class T>
    requires detail::is_ordered<T> EINPARALLEL_HOST_DEVICE static constexpr T identity() {
        using limits = std::numeric_limits<T>;
        if constexpr (limits::has_infinity) {
            return Largest ? -limits::infinity() : limits::infinity();
        } else {
            return Largest ? limits::lowest() : limits::max();
        }
    }
    template <class T>
    requires detail::is_ordered<T> EINPARALLEL_HOST_DEVICE constexpr T operator()(T a, T b) const {
        return (Largest ? a < b : b < a) || b != b ? b : a;
    }
};
using max_type = extreme_type<true>;   ///< of ep::max
using min_type = extreme_type<false>;  ///< of ep::min

/// ⊕ = log(eᵃ + eᵇ) of real numbers, without overflow: an infinity stays what it is, and so does a NaN.
struct logsumexp_type : detail::coded<op_code::logaddexp> {
    static constexpr bool associative_commutative = true;
    template <class T>
    requires std::is_floating_point_v<T> EINPARALLEL_HOST_DEVICE static constexpr T identity() {
        return -std::numeric_limits<T>::infinity();
    }
    template <class T>
    requires std::is_floating_point_v<T> EINPARALLEL_HOST_DEVICE T operator()(T a, T b) const {
        using std::exp, std::log1p;
        const T larger = a < b ? b : a;
        const T difference = a == b ? T(0) : a < b ? a - b : b - a;
        return larger + log1p(exp(difference));
    }
};

inline constexpr sum_type sum{};              ///< a + b
inline constexpr prod_type prod{};            ///< a · b
inline constexpr max_type max{};              ///< the larger one; NaN propagates
inline constexpr min_type min{};              ///< the smaller one; NaN propagates
inline constexpr logsumexp_type logsumexp{};  ///< log(eᵃ + eᵇ)

}  // namespace op

namespace detail {

/// The functors of the table of reductions, in its order.
using reduction_functors = type_list<op::sum_type, op::prod_type, op::max_type, op::min_type, op::logsumexp_type>;
static_assert([]<class... Reduce>(type_list<Reduce...> /*all*/) {
    std::size_t next = 0;
    return ((reductions[++next].combine == Reduce::code) && ...) && next + 1 == reductions.size();
}(reduction_functors()));

/// Calls visit(op) for the library's operator that `by` names, if elements of type T have it.
template <class T, class... Reduce>
EINPARALLEL_HOST_DEVICE void with_reduction_among(type_list<Reduce...> /*all*/, reduction by, const auto& visit) {
    const auto try_one = [&]<class Op>(Op each) {
        if constexpr (Reduction<Op, T>) {
            constexpr reduction own = reduction_by(Op::code);
            if (own == by) {
                visit(each);
            }
        }
    };
    (try_one(Reduce{}), ...);
}
template <class T>
EINPARALLEL_HOST_DEVICE void with_reduction(reduction by, const auto& visit) {
    with_reduction_among<T>(reduction_functors(), by, visit);
}

}  // namespace detail

}  // namespace einparallel
