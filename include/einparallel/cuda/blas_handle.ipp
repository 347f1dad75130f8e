#pragma once

#include <einparallel/cuda/blas_handle.hpp>

#include <einparallel/cuda/check.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE blas_handle::blas_handle(CUstream_st* work, void* workspace, std::size_t bytes) {
    cublasHandle_t made = nullptr;
    check_cublas(cublasCreate(&made), "cublasCreate");
    handle_.reset(made);
    // The workspace is set after the stream, because setting the stream resets the workspace.
    check_cublas(cublasSetStream(made, work), "cublasSetStream");
    check_cublas(cublasSetWorkspace(made, workspace, bytes), "cublasSetWorkspace");
    check_cublas(cublasSetPointerMode(made, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
    check_cublas(cublasSetMathMode(made, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
}

EINPARALLEL_INLINE void handle_release::operator()(cublasContext* made) const noexcept {
    static_cast<void>(cublasDestroy(made));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
