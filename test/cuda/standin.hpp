#pragma once
// A CUDA runtime and a cuBLAS on the host, linked in their places: streams whose work runs late, and in another order
// than it was given wherever nothing forbids that.
//
// Nothing runs before somebody waits for it, or, by the seed, whenever another call of the runtime is made. What may
// run next is chosen by a generator, so a missing event is a wrong answer for some seed, the same every time. Fresh
// memory holds bytes that are no numbers. Addresses are known: what is no device memory is refused where such is due.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace standin {

/// The order in which work runs.
enum class order : std::uint8_t {
    latest,    ///< only what is waited for
    random,    ///< some of all streams at every call
    preferred  ///< at every call all that one stream can, the others only when it waits for them
};

/// What the machine is like. All work must be done.
struct machine {
    unsigned seed = 0;  ///< and the order, seed % 3
    int devices = 1;
    std::size_t bytes = std::size_t{1} << 30;  ///< of device memory
    cudaError_t code = cudaSuccess;            ///< of cudaGetDeviceCount
};
void restart(const machine& is);

/// All work that was given is done.
void finish_all();

/// Puts work into a stream, as a kernel's launch does; its name for fail() is launch.
cudaError_t launch(cudaStream_t on, std::function<void()> work);

/// Notes a failure where an address is not of a device, or of pinned memory; the next call of the runtime returns it.
void expect_device(const void* address);

/// The number-th call of this function from now on fails with a code; where it sticks, all calls after it.
void fail(const std::string& function, int number, cudaError_t code, bool sticks = false);
/// True where all calls that were to fail have failed.
bool has_failed();

/// Streams that are being captured.
void capture(cudaStream_t of, bool is);

/// Places in the program where streams or the host are told to wait, and where events are recorded or looked at: those
/// met since they were forgotten, by their calls on the stack; the same numbers in all processes of a program.
std::vector<std::uint64_t> sites();
void forget_sites();
/// Their functions, from the innermost on, as far as symbols are exported.
std::string name_of_site(std::uint64_t site);
/// From now on this place does nothing: a wait returns at once, an event that is looked at is done.
void drop(std::uint64_t site);
void drop_nothing();

/// Device memory that is allocated now.
std::size_t allocated();
/// Pinned memory that is allocated now.
std::size_t pinned();
/// Streams, events and handles of cuBLAS that are there now.
std::size_t handles();
/// Bytes copied between pinned and device memory since restart(), by cudaMemcpyAsync.
std::size_t crossed();
/// Calls of cudaMalloc since restart().
std::size_t allocations();
/// Events with timing that were made since restart(); their time is the number of pieces of work, each a microsecond.
std::size_t timed_events();
/// Switches of the current device since restart().
std::size_t switches();

}  // namespace standin
