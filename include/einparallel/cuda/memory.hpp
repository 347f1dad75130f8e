#pragma once
// Device memory from a pool, pinned host memory, and the kind of memory in which an address lies.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

struct CUstream_st;  // CUDA's: cudaStream_t is a pointer to one

namespace einparallel::EINPARALLEL_DETAIL {

/// The error of a pool. Its text says how many bytes are asked for and how many are free.
class too_little_device_memory : public error {
    using error::error;
};

/// A pool of device memory from cudaMalloc. Unlike memory of cudaMallocAsync's default pool, this can be exported to
/// other processes and passed to MPI. Deallocated memory is kept for later calls, until memory is short or the pool
/// ends. If the application gives functions, all memory comes from them and is returned to them at once. Thread-safe,
/// because handles on results may deallocate on any thread.
class device_pool : private not_copied {
public:
    using allocate_function = void* (*)(std::size_t bytes, CUstream_st* stream);
    using release_function = void (*)(void* memory, std::size_t bytes, CUstream_st* stream);

    device_pool() = default;
    device_pool(allocate_function take, release_function give_back, CUstream_st* work)
        : allocate_(take), release_(give_back), work_(work) {}
    ~device_pool() { trim(); }

    /// Memory on the current device. An address from cudaMalloc is a multiple of 256 bytes.
    /// @throws too_little_device_memory, cuda_error
    EINPARALLEL_INLINE [[nodiscard]] void* allocate(std::size_t bytes);
    /// @pre `memory` is from allocate(bytes), and no work in progress uses it
    EINPARALLEL_INLINE void deallocate(void* memory, std::size_t bytes) noexcept;
    /// Frees the memory that is kept for later calls.
    EINPARALLEL_INLINE void trim() noexcept;

    /// Bytes that are allocated now, including those kept for later calls.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    std::recursive_mutex guard_;
    std::multimap<std::size_t, void*> free_;  ///< memory kept for later calls, by bytes
    std::size_t bytes_ = 0;
    allocate_function allocate_ = nullptr;
    release_function release_ = nullptr;
    CUstream_st* work_ = nullptr;
};

/// Allocates pinned host memory. Devices can copy from and to it, and access it in place, while the host continues.
/// @throws cuda_error
EINPARALLEL_INLINE void* allocate_pinned(std::size_t bytes);
EINPARALLEL_INLINE void free_pinned(void* memory) noexcept;

/// The kind of memory in which CUDA sees an address.
enum class memory_kind : std::uint8_t { host, pinned, device, managed };

/// The kind of memory of an address, and its device, or -1 for memory of the host.
struct memory_owner {
    memory_kind kind = memory_kind::host;
    int device = -1;
};

/// @throws cuda_error
EINPARALLEL_INLINE memory_owner owner_of_memory(const void* address);

}  // namespace einparallel::EINPARALLEL_DETAIL
