#pragma once
// Rows of the library's own functors that are known at run time only, by their codes.

#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// Functors of one element, and of two, with results of their type; and of two with a bool.
using functors_of_one =
    type_list<negate, absolute, conjugate, floor_function, round_function, sign_function, relu_function, exp_function,
              log_function, sqrt_function, tanh_function, sin_function, cos_function, tan_function, erf_function,
              sigmoid_function, silu_function, gelu_function>;
using functors_of_two =
    type_list<plus, minus, times, over, larger, smaller, power, atan2_function, shifted_exponential>;
using comparisons = type_list<less, less_equal, greater, greater_equal, equal, not_equal>;

/// Rows of an operation on elements of type `of`: float, double, complex, and indices where places are told. A choice
/// is among such, and a cast, to `result`, is from one to another. `numbers`: the arguments that are numbers, by bit.
/// Null where there are none.
EINPARALLEL_INLINE row_function coded_row(op_code code, element_type result, element_type of, unsigned numbers);

/// ⊕ of elements of such a type.
EINPARALLEL_INLINE row_reduction coded_reduction(reduction by, element_type element);

}  // namespace einparallel::EINPARALLEL_DETAIL
