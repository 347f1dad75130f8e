#pragma once
// The kernels on device memory, for a unit that nvcc compiles. Their callers are in cuda.hpp.

#include <einparallel/device/start.ipp>

#include <einparallel/device/launch.ipp>
#if !defined(EINPARALLEL_COMPILED) || !EINPARALLEL_COMPILED
#include <einparallel/cuda/check.ipp>
#include <einparallel/device/join_shape.ipp>
#include <einparallel/notation/operations/op_formula.ipp>
#include <einparallel/notation/operations/op_program.ipp>
#endif
