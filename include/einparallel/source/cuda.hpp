#pragma once
// The part of the compiled library for runs on CUDA devices. A file of the user includes this header; it is linked with
// CUDA's runtime and cuBLAS. The kernels are in device.hpp, which nvcc compiles.

#include <einparallel/notation/compiled.hpp>

#include <einparallel/source/interface.hpp>

#include <einparallel/cuda/blas_handle.ipp>
#include <einparallel/cuda/check.ipp>
#include <einparallel/cuda/device.ipp>
#include <einparallel/cuda/memory.ipp>
#include <einparallel/cuda/stream.ipp>
#include <einparallel/data/on_device.ipp>
#include <einparallel/device/blocks.ipp>
#include <einparallel/device/contraction.ipp>
#include <einparallel/device/device_space.ipp>
#include <einparallel/device/join_shape.ipp>
