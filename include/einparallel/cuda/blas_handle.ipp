#pragma once

#include <einparallel/cuda/blas_handle.hpp>

#include <einparallel/cuda/check.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE blas_handle::blas_handle(CUstream_st* work, void* workspace, std::size_t bytes) {
    check_cublas(cublasCreate(&handle_), "cublasCreate");
    try {
        // Setting the stream takes the workspace away: it comes after.
        check_cublas(cublasSetStream(handle_, work), "cublasSetStream");
        check_cublas(cublasSetWorkspace(handle_, workspace, bytes), "cublasSetWorkspace");
        check_cublas(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
        check_cublas(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
    } catch (...) {
        release();
        throw;
    }
}

EINPARALLEL_INLINE void blas_handle::release() noexcept {
    static_cast<void>(cublasDestroy(handle_));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
