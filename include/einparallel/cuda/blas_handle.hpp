#pragma once
// A cuBLAS handle on a stream.

#include <einparallel/cuda/stream.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>

namespace einparallel::EINPARALLEL_DETAIL {

/// Owns a handle of cuBLAS on the current device, whose calls go to one stream and use one workspace, so that the same
/// calls give the same bits: cuBLAS promises that where neither is shared. Full precision: no TF32.
class blas_handle {
public:
    /// What cuBLAS recommends for sm_90; with less it leaves algorithms out.
    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

    /// `workspace`: device memory of so many bytes, which outlives the handle. @throws cuda_error
    EINPARALLEL_INLINE blas_handle(CUstream_st* work, void* workspace, std::size_t bytes = workspace_bytes);

    [[nodiscard]] cublasContext* native() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<cublasContext, handle_release> handle_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
