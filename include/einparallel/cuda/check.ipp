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

EINPARALLEL_INLINE std::string not_compiled_for_device() {
    int device = 0;
    int major = 0;
    int minor = 0;
    static_cast<void>(cudaGetDevice(&device));
    static_cast<void>(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    static_cast<void>(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const std::string digits[] = {std::to_string(major), std::to_string(minor)};
    return "device " + std::to_string(device) + " has compute capability " + digits[0] + '.' + digits[1] +
           ", for which the library's kernels are not compiled: build it with CMAKE_CUDA_ARCHITECTURES=" + digits[0] +
           digits[1];
}

EINPARALLEL_INLINE void check_cuda(cudaError_t code, const char* call, const char* file, int line) {
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError());  // clears the error, if it can be cleared, so it is reported once
        if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
            throw cuda_error(not_compiled_for_device(), int(code));
        }
        throw cuda_error(failed_on_device(call, cudaGetErrorString(code), file, line), int(code));
    }
}

EINPARALLEL_INLINE void check_cublas(cublasStatus_t code, const char* call, const char* file, int line) {
    if (code != CUBLAS_STATUS_SUCCESS) {
        throw cuda_error(failed_on_device(call, cublasGetStatusString(code), file, line), int(code));
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
