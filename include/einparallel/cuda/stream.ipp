#pragma once

#include <einparallel/cuda/stream.hpp>

#include <einparallel/cuda/check.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE event::event(bool is_timed) {
    cudaEvent_t made = nullptr;
    check_cuda(cudaEventCreateWithFlags(&made, is_timed ? cudaEventDefault : cudaEventDisableTiming),
               "cudaEventCreateWithFlags");
    handle_.reset(made);
}

EINPARALLEL_INLINE double event::seconds_since(const event& earlier) const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.native(), native()), "cudaEventElapsedTime");
    return 1e-3 * double(milliseconds);
}

EINPARALLEL_INLINE void event::record(CUstream_st* of) {
    check_cuda(cudaEventRecord(native(), of), "cudaEventRecord");
}

EINPARALLEL_INLINE bool event::is_done() const {
    const cudaError_t code = cudaEventQuery(native());
    if (code == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    check_cuda(code, "cudaEventQuery");
    return true;
}

EINPARALLEL_INLINE void event::wait() const {
    check_cuda(cudaEventSynchronize(native()), "cudaEventSynchronize");
}

EINPARALLEL_INLINE void handle_release::operator()(CUevent_st* made) const noexcept {
    static_cast<void>(cudaEventDestroy(made));
}

EINPARALLEL_INLINE stream::stream() {
    cudaStream_t made = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    handle_.reset(made);
}

EINPARALLEL_INLINE void stream::wait_for(const event& done) const {
    check_cuda(cudaStreamWaitEvent(native(), done.native(), 0), "cudaStreamWaitEvent");
}

EINPARALLEL_INLINE void handle_release::operator()(CUstream_st* made) const noexcept {
    static_cast<void>(cudaStreamSynchronize(made));
    static_cast<void>(cudaStreamDestroy(made));
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
