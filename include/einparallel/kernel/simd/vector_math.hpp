#pragma once
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/op_code.hpp>
namespace einparallel::EINPARALLEL_DETAIL {
template <op_code Code, class T> inline constexpr bool has_vector_math = false;
template <class T, instruction_set Set> struct vector_math;
}
