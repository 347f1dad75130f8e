#pragma once

#include <einparallel/kernel/simd/coded_row.hpp>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where the derivative of some operation contains this one.
constexpr bool stands_in_derivatives(op_code code) {
    for (const operation& each : operations) {
        for (std::string_view text : each.derivatives) {
            while (!text.empty()) {
                if (taken(text) == operation_of(code).word) {
                    return true;
                }
            }
        }
    }
    return false;
}

/// True where there are rows of this operation for T. For complex numbers and indices there are only the rows that
/// derivatives need.
template <class T>
constexpr bool has_coded_row(op_code code) {
    const bool is_of_positions =
        code == op_code::negate || code == op_code::add || code == op_code::multiply || code == op_code::equal;
    return computes_in(code, element_type_of<T>()) &&
           (std::is_integral_v<T> ? is_of_positions : !is_complex<T>::value || stands_in_derivatives(code));
}

/// The row_function of a functor whose arguments with bits in `numbers` are numbers. `numbers` is 0 or one of Sets.
template <class Function, class Out, class... In, unsigned... Sets>
row_function row_of_numbers(unsigned numbers, std::integer_sequence<unsigned, Sets...> /*all*/) {
    row_function found = row_function_of<0, Function, Out, In...>();
    ((found = numbers == Sets ? row_function_of<Sets, Function, Out, In...>() : found), ...);
    return found;
}

/// Calls visit(std::type_identity<T>()) for a type that has rows; for other types, does nothing.
void with_coded_element(element_type type, const auto& visit) {
    with_element(type, [&]<class T>(std::type_identity<T> identity) {
        if constexpr ((!std::is_integral_v<T> && !is_half<T>) || std::is_same_v<T, index>) {
            visit(identity);
        }
    });
}

EINPARALLEL_INLINE row_function coded_row(op_code code, element_type result, element_type of, unsigned numbers) {
    row_function found = nullptr;
    if (is_half_type(of) || is_half_type(result)) {  // to float, and from there
        with_half(is_half_type(of) ? of : result, [&]<class Half>(std::type_identity<Half> /*half*/) {
            found = is_half_type(of) ? row_function_of<0, unchanged, float, Half>()
                                     : row_function_of<0, unchanged, Half, float>();
        });
        return code == op_code::cast && computed(of) == computed(result) ? found : nullptr;
    }
    with_coded_element(of, [&]<class T>(std::type_identity<T> /*of*/) {
        if (code == op_code::choice) {
            found = row_of_numbers<choice, T, bool, T, T>(numbers, std::integer_sequence<unsigned, 2, 4, 6>());
        } else if (code == op_code::cast) {
            with_coded_element(result, [&]<class To>(std::type_identity<To> /*result*/) {
                if constexpr (!is_complex<T>::value || is_complex<To>::value) {
                    found = row_function_of<0, unchanged, To, T>();
                }
            });
        } else if (code == op_code::position) {
            if constexpr (std::is_floating_point_v<T>) {
                found = row_function_of<0, position_where, index, T, T, index>();
            }
        }
        with_functor(op_functors(), code, [&]<class Function>(Function /*functor*/) {
            if constexpr (has_coded_row<T>(Function::code)) {
                if constexpr (arity_of(Function::code) == 1) {
                    found = row_function_of<0, Function, T, T>();
                } else {
                    using Out = std::conditional_t<compares(Function::code), bool, T>;
                    found = row_of_numbers<Function, Out, T, T>(numbers, std::integer_sequence<unsigned, 1, 2>());
                }
            }
        });
    });
    return found;
}

EINPARALLEL_INLINE row_reduction coded_reduction(reduction by, element_type element) {
    row_reduction found;
    // Halves are only copied: nothing is summed in them.
    with_half(element, [&]<class Half>(std::type_identity<Half> /*half*/) { found = row_reduction_of<Half>(op::sum); });
    with_coded_element(element, [&]<class T>(std::type_identity<T> /*element*/) {
        with_reduction<T>(by, [&](auto op) { found = row_reduction_of<T>(op); });
    });
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
