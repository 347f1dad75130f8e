#pragma once
// Checks return codes of CUDA's runtime and of cuBLAS. Only definitions include this, so that user units include no
// header of CUDA.

#include <einparallel/cuda/error.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

namespace einparallel::EINPARALLEL_DETAIL {

/// Throws cuda_error where `code` is not success. `call` is the name of the CUDA function; `file` and `line` are the
/// caller's (clang 14 has no std::source_location).
EINPARALLEL_INLINE [[gnu::visibility("default")]] void check_cuda(cudaError_t code, const char* call,
                                                                  const char* file = __builtin_FILE(),
                                                                  int line = __builtin_LINE());
EINPARALLEL_INLINE void check_cublas(cublasStatus_t code, const char* call, const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE());

}  // namespace einparallel::EINPARALLEL_DETAIL
