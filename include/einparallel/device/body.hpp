#pragma once
// Bodies of device kernels: the work of one thread of one block, on a context that a GPU or a test provides.
//
// A body is a trivially copyable struct (the kernel's parameters) with `operator()(Context& at) const`. A context has
//   at.block()                     number of the block
//   at.thread(), at.threads()      number of the thread in the block, and how many there are
//   at.shared()                    the block's shared memory, aligned for 16 bytes
//   at.barrier()                   of all threads of the block
//   at.load(active, address)       *address where active, otherwise a value that nobody uses
//   at.store(active, address, x)   *address = x where active
// All threads of a block reach the same barriers, and all threads of a warp the same loads and stores.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <bit>
#include <cstdint>

namespace einparallel::detail {

/// Threads of a warp: they execute together.
inline constexpr int warp_size = 32;
/// Bytes of the unit in which device memory is read and written.
inline constexpr int sector_bytes = 32;
/// Largest number of threads of a block; a power of two.
inline constexpr int most_threads = 256;
/// Largest number of bytes of shared memory of a block.
inline constexpr index most_shared_bytes = 48 << 10;

/// Divides numbers below 2^31 by a number that is known before the launch, with a multiplication and a shift (Granlund
/// and Montgomery).
class divisor {
public:
    divisor() = default;
    /// @pre 1 <= value < 2^31
    explicit divisor(std::uint32_t value)
        : shift_(std::uint32_t(std::bit_width(value - 1))),
          factor_(std::uint32_t(((std::uint64_t{1} << 32U) * ((std::uint64_t{1} << shift_) - value)) / value + 1)) {}

    EINPARALLEL_HOST_DEVICE std::uint32_t quotient(std::uint32_t number) const {
        return (std::uint32_t((std::uint64_t{number} * factor_) >> 32U) + number) >> shift_;
    }

private:
    std::uint32_t shift_ = 0;
    std::uint32_t factor_ = 1;
};

/// Number of blocks, threads and bytes of shared memory of a launch.
struct launch_shape {
    index blocks = 0;            ///< below 2^31
    int threads = most_threads;  ///< of each block; a multiple of warp_size
    int shared_bytes = 0;        ///< of each block
};

}  // namespace einparallel::detail
