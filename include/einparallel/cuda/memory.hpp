#pragma once
// Device memory from a pool, pinned host memory, and which of them an address lies in.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

struct CUstream_st;  // CUDA's: cudaStream_t is a pointer to one

namespace einparallel::EINPARALLEL_DETAIL {

/// What a pool throws: how much is asked for, and how much is free.
class too_little_device_memory : public error {
    using error::error;
};

/// Device memory from cudaMalloc, which, unlike cudaMallocAsync's default pool, can be exported to other processes and
/// handed to MPI. What is given back is kept for later calls, until memory is short or the pool ends. With functions of
/// the application's all comes from them, and goes back at once. Handles on results may give back on any thread.
class device_pool : private not_copied {
public:
    using allocate_function = void* (*)(std::size_t bytes, CUstream_st* stream);
    using release_function = void (*)(void* memory, std::size_t bytes, CUstream_st* stream);

    device_pool() = default;
    device_pool(allocate_function take, release_function give_back, CUstream_st* work)
        : allocate_(take), release_(give_back), work_(work) {}
    ~device_pool() { trim(); }

    /// On the current device, on a boundary of 256 bytes. @throws too_little_device_memory, cuda_error
    EINPARALLEL_INLINE [[nodiscard]] void* allocate(std::size_t bytes);
    /// @pre from allocate(bytes), and no work on it is under way
    EINPARALLEL_INLINE void deallocate(void* memory, std::size_t bytes) noexcept;
    /// Frees what nobody has.
    EINPARALLEL_INLINE void trim() noexcept;

    /// Bytes that are allocated now, those kept included.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    std::recursive_mutex guard_;
    std::multimap<std::size_t, void*> free_;  ///< by bytes
    std::size_t bytes_ = 0;
    allocate_function allocate_ = nullptr;
    release_function release_ = nullptr;
    CUstream_st* work_ = nullptr;
};

/// Host memory that devices copy from and to, and read and write in place, while the host goes on.
/// @throws cuda_error
EINPARALLEL_INLINE void* allocate_pinned(std::size_t bytes);
EINPARALLEL_INLINE void free_pinned(void* memory) noexcept;

/// What an address is to CUDA.
enum class memory_kind : std::uint8_t { host, pinned, device, managed };

/// An address' kind, and the device where it is one's.
struct memory_owner {
    memory_kind kind = memory_kind::host;
    int device = -1;
};

/// @throws cuda_error
EINPARALLEL_INLINE memory_owner owner_of_memory(const void* address);

}  // namespace einparallel::EINPARALLEL_DETAIL
