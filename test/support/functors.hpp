#pragma once
// The functors of the table of operations, and the elements that they take: for tests that call each of them.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <tuple>
#include <type_traits>

namespace einparallel::testing {

template <int Arity, class... F>
constexpr auto functors_with(detail::type_list<F...> /*all*/) {
    return std::tuple_cat(std::conditional_t < arity_of(F::code) == Arity && F::code != op_code::shifted_exponential,
                          std::tuple<F>, std::tuple < >> ()...);
}
/// A tuple of those with so many arguments, in the order of the table. exp(a − b) is left out: it converts nothing, so
/// it is called for two elements of one type only.
template <int Arity>
using functors_of = decltype(functors_with<Arity>(detail::op_functors()));

/// Whether a functor has values for such elements, by the types that the table says. Tests divide no bool by a bool.
template <class F, class... T>
constexpr bool takes = detail::takes_elements<F, T...> &&
                       (detail::computes_in(F::code, element_type_of<double>()) || (std::is_integral_v<T> && ...)) &&
                       (F::code != op_code::divide || !(std::is_same_v<T, bool> && ...));

}  // namespace einparallel::testing
