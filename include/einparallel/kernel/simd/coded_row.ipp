#pragma once

#include <einparallel/kernel/simd/coded_row.hpp>

#include <complex>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// The functors that a T has rows of. Of complex numbers and indices those that derivatives are made of.
template <class T>
struct coded_functors {
    using of_one = functors_of_one;
    using of_two = functors_of_two;
    using comparing = comparisons;
};
template <class Real>
struct coded_functors<std::complex<Real>> {
    using of_one = type_list<negate, conjugate, exp_function, log_function, sin_function, cos_function>;
    using of_two = type_list<plus, minus, times, over, power>;
    using comparing = type_list<equal>;
};
template <>
struct coded_functors<index> {
    using of_one = type_list<negate>;
    using of_two = type_list<plus, times>;
    using comparing = type_list<equal>;
};

/// The rows of the functor with this code, of those in a list: rows_of(functor); null where none has it.
template <class... Function>
row_function row_among(type_list<Function...> /*functors*/, op_code code, const auto& rows_of) {
    row_function found = nullptr;
    static_cast<void>(((Function::code == code && ((found = rows_of(Function())), true)) || ...));
    return found;
}
template <class Out, class T>
row_function row_of_two(auto functor, unsigned numbers) {
    using Function = decltype(functor);
    return numbers == 1   ? row_function_of<1, Function, Out, T, T>()
           : numbers == 2 ? row_function_of<2, Function, Out, T, T>()
                          : row_function_of<0, Function, Out, T, T>();
}
template <class T>
row_function row_of_choice(unsigned numbers) {
    return numbers == 2   ? row_function_of<2, choice, T, bool, T, T>()
           : numbers == 4 ? row_function_of<4, choice, T, bool, T, T>()
           : numbers == 6 ? row_function_of<6, choice, T, bool, T, T>()
                          : row_function_of<0, choice, T, bool, T, T>();
}

/// visit(std::type_identity<T>()) for a type that there are rows of.
void with_coded_element(element_type type, const auto& visit) {
    with_element(type, [&]<class T>(std::type_identity<T> identity) {
        if constexpr ((!std::is_integral_v<T> && !is_half<T>) || std::is_same_v<T, index>) {
            visit(identity);
        }
    });
}

EINPARALLEL_INLINE row_function coded_row(op_code code, element_type result, element_type of, unsigned numbers) {
    row_function found = nullptr;
    if (const stored_code half = half_code_of(of) | half_code_of(result); half != 0) {  // to float, and from there
        with_half(half, [&]<class Half>(std::type_identity<Half> /*half*/) {
            found = half_code_of(of) != 0 ? row_function_of<0, unchanged, float, Half>()
                                          : row_function_of<0, unchanged, Half, float>();
        });
        return code == op_code::cast && computed(of) == computed(result) ? found : nullptr;
    }
    with_coded_element(of, [&]<class T>(std::type_identity<T> /*of*/) {
        using functors = coded_functors<T>;
        if (code == op_code::choice) {
            found = row_of_choice<T>(numbers);
        } else if (compares(code)) {
            found = row_among(typename functors::comparing(), code,
                              [&](auto functor) { return row_of_two<bool, T>(functor, numbers); });
        } else if (arity_of(code) == 2) {
            found = row_among(typename functors::of_two(), code,
                              [&](auto functor) { return row_of_two<T, T>(functor, numbers); });
        } else if (code == op_code::cast) {
            with_coded_element(result, [&]<class To>(std::type_identity<To> /*result*/) {
                if constexpr (!is_complex<T>::value || is_complex<To>::value) {
                    found = row_function_of<0, unchanged, To, T>();
                }
            });
        } else if (code == op_code::place) {
            if constexpr (std::is_floating_point_v<T>) {
                found = row_function_of<0, place_of, index, T, T, index>();
            }
        } else {
            found = row_among(typename functors::of_one(), code,
                              [](auto functor) { return row_function_of<0, decltype(functor), T, T>(); });
        }
    });
    return found;
}

EINPARALLEL_INLINE row_reduction coded_reduction(reduction by, element_type element) {
    row_reduction found;
    if (const stored_code half = half_code_of(element); half != 0) {  // nothing is summed: in halves
        with_half(half,
                  [&]<class Half>(std::type_identity<Half> /*half*/) { found = row_reduction_of<Half>(op::sum); });
    }
    with_coded_element(element, [&]<class T>(std::type_identity<T> /*element*/) {
        if (by == reduction::sum) {
            found = row_reduction_of<T>(op::sum);
        } else if (by == reduction::prod) {
            found = row_reduction_of<T>(op::prod);
        } else if constexpr (is_ordered<T>) {
            found = by == reduction::max ? row_reduction_of<T>(op::max) : row_reduction_of<T>(op::min);
        }
    });
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
