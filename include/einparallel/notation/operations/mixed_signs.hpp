#pragma once
// A signed and an unsigned integer of 64 bits have no type that holds both: they are compared, and divided, by the sign
// of the signed one and what is left.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <type_traits>

namespace einparallel::detail {

/// a < b as numbers, for integers of the types A and B.
template <class A, class B>
auto is_less(const auto& a, const auto& b) {
    if constexpr (std::is_same_v<A, B>) {
        return make_join(less{}, a, b);
    } else if constexpr (std::is_signed_v<A>) {
        return make_join(choice{}, make_join(less{}, a, constant<A>(0)), constant<bool>(true),
                         make_join(less{}, make_join(converted_to<B>{}, a), b));
    } else {
        return make_join(choice{}, make_join(less{}, b, constant<B>(0)), constant<bool>(false),
                         make_join(less{}, a, make_join(converted_to<A>{}, b)));
    }
}
/// x, or −x where a is negative, as the type T.
template <class T, class A>
auto with_sign_of(const auto& a, const auto& x) {
    const auto value = make_join(converted_to<T>{}, x);
    if constexpr (std::is_signed_v<A>) {
        return make_join(choice{}, make_join(less{}, a, constant<A>(0)), make_join(negate{}, value), value);
    } else {
        return value;
    }
}
/// a without its sign, as the unsigned type U.
template <class T, class U>
auto size_as(const auto& a) {
    if constexpr (std::is_signed_v<T>) {
        return with_sign_of<U, T>(a, a);
    } else {
        return a;
    }
}
/// A function of a signed and an unsigned integer. T is the type of the signed one.
template <class T, class A, class B, class Function>
auto of_mixed_signs(Function function, const auto& a, const auto& b) {
    using U = std::conditional_t<std::is_signed_v<A>, B, A>;
    constexpr op_code code = Function::code;
    if constexpr (code == op_code::less) {
        return is_less<A, B>(a, b);
    } else if constexpr (code == op_code::greater) {
        return is_less<B, A>(b, a);
    } else if constexpr (code == op_code::less_equal) {
        return make_join(equal{}, is_less<B, A>(b, a), constant<bool>(false));
    } else if constexpr (code == op_code::greater_equal) {
        return make_join(equal{}, is_less<A, B>(a, b), constant<bool>(false));
    } else if constexpr (compares(code)) {  // the same bits, and neither negative
        const auto same = make_join(equal{}, make_join(converted_to<U>{}, a), make_join(converted_to<U>{}, b));
        const auto is_negative = [&] {
            if constexpr (std::is_signed_v<A>) {
                return make_join(less{}, a, constant<A>(0));
            } else {
                return make_join(less{}, b, constant<B>(0));
            }
        }();
        const auto equals = make_join(choice{}, is_negative, constant<bool>(false), same);
        if constexpr (code == op_code::equal) {
            return equals;
        } else {
            return make_join(equal{}, equals, constant<bool>(false));
        }
    } else if constexpr (code == op_code::larger || code == op_code::smaller) {
        const auto first = make_join(converted_to<T>{}, a);
        const auto second = make_join(converted_to<T>{}, b);
        const auto less = is_less<A, B>(a, b);
        if constexpr (code == op_code::larger) {
            return make_join(choice{}, less, second, first);
        } else {
            return make_join(choice{}, less, first, second);
        }
    } else if constexpr (code == op_code::remainder || std::is_signed_v<A>) {
        return with_sign_of<T, A>(a, make_join(function, size_as<A, U>(a), size_as<B, U>(b)));
    } else {
        return with_sign_of<T, B>(b, make_join(function, size_as<A, U>(a), size_as<B, U>(b)));
    }
}

}  // namespace einparallel::detail
