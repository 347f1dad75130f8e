#pragma once
// Streams of work on a device, and events: points in a stream for which others can wait.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>

// The names behind cublasHandle_t, cudaEvent_t and cudaStream_t.
struct cublasContext;
struct CUevent_st;
struct CUstream_st;

namespace einparallel::EINPARALLEL_DETAIL {

/// Destroys the object of a handle. Waits for the work of a stream before it destroys the stream.
struct handle_release {
    EINPARALLEL_INLINE void operator()(cublasContext* made) const noexcept;
    EINPARALLEL_INLINE void operator()(CUevent_st* made) const noexcept;
    EINPARALLEL_INLINE void operator()(CUstream_st* made) const noexcept;
};

/// Owns an event. It belongs to the device that is current at construction.
class event {
public:
    /// `is_timed`: must be true for seconds_since(). @throws cuda_error
    EINPARALLEL_INLINE event(bool is_timed = false);

    /// Makes the event stand for all work given to a stream so far. @throws cuda_error
    EINPARALLEL_INLINE void record(CUstream_st* of);
    /// True where that work is done; also true before the first record(). @throws cuda_error where the work failed
    EINPARALLEL_INLINE [[nodiscard]] bool is_done() const;
    /// Returns when that work is done. @throws cuda_error where the work failed
    EINPARALLEL_INLINE void wait() const;

    /// Seconds since `earlier`, by the device's clock. @pre both events are timed and done. @throws cuda_error
    EINPARALLEL_INLINE [[nodiscard]] double seconds_since(const event& earlier) const;

    [[nodiscard]] CUevent_st* native() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<CUevent_st, handle_release> handle_;
};

/// Owns a stream that does not wait for the default stream. It belongs to the device that is current at construction.
class stream {
public:
    /// @throws cuda_error
    EINPARALLEL_INLINE stream();

    /// Makes work given from now on wait until the work of event `done` is done. @throws cuda_error
    EINPARALLEL_INLINE void wait_for(const event& done) const;

    [[nodiscard]] CUstream_st* native() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<CUstream_st, handle_release> handle_;
};

/// Copies bytes between memory of any two kinds, in the order of the stream. Host memory must be pinned.
/// @throws cuda_error
EINPARALLEL_INLINE void copy_bytes(CUstream_st* on, void* into, const void* from, std::size_t bytes);

/// True where work given to a stream is captured into a graph instead of being run. @throws cuda_error
EINPARALLEL_INLINE bool is_captured(CUstream_st* of);

}  // namespace einparallel::EINPARALLEL_DETAIL
