#pragma once

#include <einparallel/cuda/stream.hpp>

#include <einparallel/cuda/check.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE event::event(bool is_timed) {
    check_cuda(cudaEventCreateWithFlags(&handle_, is_timed ? cudaEventDefault : cudaEventDisableTiming),
               "cudaEventCreateWithFlags");
}

EINPARALLEL_INLINE double event::seconds_since(const event& earlier) const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.handle_, handle_), "cudaEventElapsedTime");
    return 1e-3 * double(milliseconds);
}

EINPARALLEL_INLINE void event::record(CUstream_st* of) {
    check_cuda(cudaEventRecord(handle_, of), "cudaEventRecord");
}

EINPARALLEL_INLINE bool event::is_done() const {
    const cudaError_t code = cudaEventQuery(handle_);
    if (code == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    check_cuda(code, "cudaEventQuery");
    return true;
}

EINPARALLEL_INLINE void event::wait() const {
    check_cuda(cudaEventSynchronize(handle_), "cudaEventSynchronize");
}

EINPARALLEL_INLINE void event::release() noexcept {
    static_cast<void>(cudaEventDestroy(handle_));
}

EINPARALLEL_INLINE stream::stream() {
    check_cuda(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

EINPARALLEL_INLINE void stream::wait_for(const event& done) const {
    check_cuda(cudaStreamWaitEvent(handle_, done.native(), 0), "cudaStreamWaitEvent");
}

EINPARALLEL_INLINE void stream::release() noexcept {
    static_cast<void>(cudaStreamSynchronize(handle_));
    static_cast<void>(cudaStreamDestroy(handle_));
}

EINPARALLEL_INLINE void copy_bytes(CUstream_st* on, void* into, const void* from, std::size_t bytes) {
    check_cuda(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDefault, on), "cudaMemcpyAsync");
}

EINPARALLEL_INLINE bool is_captured(CUstream_st* of) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamIsCapturing(of, &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
