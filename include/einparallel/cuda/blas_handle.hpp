#pragma once
// A cuBLAS handle on a stream.

#include <einparallel/cuda/stream.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>

namespace einparallel::EINPARALLEL_DETAIL {

/// Owns a cuBLAS handle on the current device. Its calls go to one stream and use one workspace. cuBLAS promises that
/// equal calls then give equal bits, if neither is shared. Computes in full precision, without TF32.
class blas_handle {
public:
    /// The size that cuBLAS recommends for sm_90. With less, cuBLAS does not use some algorithms.
    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

    /// `workspace`: device memory of `bytes` bytes, which must outlive the handle. @throws cuda_error
    EINPARALLEL_INLINE blas_handle(CUstream_st* work, void* workspace, std::size_t bytes = workspace_bytes);

    [[nodiscard]] cublasContext* native() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<cublasContext, handle_release> handle_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
