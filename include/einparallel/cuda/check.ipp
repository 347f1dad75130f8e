#pragma once

#include <einparallel/cuda/check.hpp>

#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string failed_on_device(const char* call, const char* words, std::string_view file, int line) {
    file.remove_prefix(file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1);
    return std::string(call) + " failed on the device: " + words + " (" + std::string(file) + ':' +
           std::to_string(line) + ')';
}

EINPARALLEL_INLINE void check_cuda(cudaError_t code, const char* call, const char* file, int line) {
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError());  // one that does not stick is reported once
        throw cuda_error(failed_on_device(call, cudaGetErrorString(code), file, line), static_cast<int>(code));
    }
}

EINPARALLEL_INLINE void check_cublas(cublasStatus_t code, const char* call, const char* file, int line) {
    if (code != CUBLAS_STATUS_SUCCESS) {
        throw cuda_error(failed_on_device(call, cublasGetStatusString(code), file, line), static_cast<int>(code));
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
