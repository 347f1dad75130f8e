#pragma once
// Rows of the library's own functors that are known at run time only, by their codes.

#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// Rows of an operation on elements of type `of`: float, double, complex, and indices where positions are told. A
/// choice is among such, and a cast, to `result`, is from one to another. `numbers`: the arguments that are numbers, by
/// bit. Null where there are none.
EINPARALLEL_INLINE row_function coded_row(op_code code, element_type result, element_type of, unsigned numbers);

/// ⊕ of elements of such a type.
EINPARALLEL_INLINE row_reduction coded_reduction(reduction by, element_type element);

}  // namespace einparallel::EINPARALLEL_DETAIL
