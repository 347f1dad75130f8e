#pragma once
// Rows of the library's own functors that are known at run time only, by their codes.

#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The rows of an operation on elements of type `of`: float, double, complex, or indices for operations on positions. A
/// choice is between two such elements. A cast goes to `result`, another such type, or between a half and float. The
/// bits of `numbers` are the arguments that are numbers. Null where there are no such rows.
EINPARALLEL_INLINE row_function coded_row(op_code code, element_type result, element_type of, unsigned numbers);

/// The ⊕ `by` of elements of such a type.
EINPARALLEL_INLINE row_reduction coded_reduction(reduction by, element_type element);

}  // namespace einparallel::EINPARALLEL_DETAIL
