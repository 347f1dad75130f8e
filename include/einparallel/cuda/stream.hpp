#pragma once
// Streams of work on a device, and events: points in them that others wait for.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>

// The names behind cublasHandle_t, cudaEvent_t and cudaStream_t.
struct cublasContext;
struct CUevent_st;
struct CUstream_st;

namespace einparallel::EINPARALLEL_DETAIL {

/// Destroys what handles stand for; a stream when its work is done.
struct handle_release {
    EINPARALLEL_INLINE void operator()(cublasContext* made) const noexcept;
    EINPARALLEL_INLINE void operator()(CUevent_st* made) const noexcept;
    EINPARALLEL_INLINE void operator()(CUstream_st* made) const noexcept;
};

/// Owns an event of the device that is current when it is made.
class event {
public:
    /// `is_timed`: for seconds_since. @throws cuda_error
    EINPARALLEL_INLINE event(bool is_timed = false);

    /// Stands for all work of a stream so far, from now on. @throws cuda_error
    EINPARALLEL_INLINE void record(CUstream_st* of);
    /// True where that work is done, and before record(). @throws cuda_error what it failed with
    EINPARALLEL_INLINE [[nodiscard]] bool is_done() const;
    /// Returns when it is done. @throws cuda_error what it failed with
    EINPARALLEL_INLINE void wait() const;

    /// Of the device's time. @pre both are timed and done. @throws cuda_error
    EINPARALLEL_INLINE [[nodiscard]] double seconds_since(const event& earlier) const;

    [[nodiscard]] CUevent_st* native() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<CUevent_st, handle_release> handle_;
};

/// Owns a stream of the device that is current when it is made, which does not wait for the default stream.
class stream {
public:
    /// @throws cuda_error
    EINPARALLEL_INLINE stream();

    /// Work given from now on begins when what an event stands for is done. @throws cuda_error
    EINPARALLEL_INLINE void wait_for(const event& done) const;

    [[nodiscard]] CUstream_st* native() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<CUstream_st, handle_release> handle_;
};

/// Copies bytes between memory of any kinds, in the order of the stream; host memory is pinned. @throws cuda_error
EINPARALLEL_INLINE void copy_bytes(CUstream_st* on, void* into, const void* from, std::size_t bytes);

/// True where work given to a stream is recorded into a graph instead of being done. @throws cuda_error
EINPARALLEL_INLINE bool is_captured(CUstream_st* of);

}  // namespace einparallel::EINPARALLEL_DETAIL
