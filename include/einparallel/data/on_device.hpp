#pragma once
// Carries a plan out on the devices of the ranks.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/trace.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct CUstream_st;  // CUDA's: cudaStream_t is a pointer to one

namespace einparallel {

/// How messages leave a device.
enum class device_messages : std::uint8_t {
    automatic,  ///< straight from device memory where MPI reports that it can read it, else through the host
    staged,     ///< through pinned memory of the host
    direct      ///< straight from device memory, whatever MPI reports
};

/// Which device a run uses, and how. `plan.run(world, ep::on_device)` uses the default: the ranks of a node take its
/// devices in turn.
///
///     plan.run(world, ep::device_run{.device = 1, .stream = mine});
struct device_run {
    int device = -1;                ///< CUDA's number; if negative, the rank's number on its node decides
    CUstream_st* stream = nullptr;  ///< the application's: the run waits for the work queued in it
    device_messages messages = device_messages::automatic;  ///< the same on all ranks
    /// If true, results stay in device memory, which their handles own. A run on devices that they are bound to (bind,
    /// from_distributed) reads them in place. The host gets copies (ep::distributed). The same on all ranks.
    bool results_stay = false;
    /// The application's function that allocates device memory, instead of cudaMalloc. It returns an address that is a
    /// multiple of 256, or null where no memory is left. It is called on the thread that runs the plan. Other streams
    /// use the memory, too, after the work that `stream` has so far.
    void* (*allocate)(std::size_t bytes, CUstream_st* stream) = nullptr;
    /// Frees such memory, which no pending work uses. It must not throw. Set both functions or neither.
    void (*release)(void* memory, std::size_t bytes, CUstream_st* stream) = nullptr;
    /// The most bytes of pinned memory of the host in which tensors of this rank wait (options.paging). Those that do
    /// not fit wait in a file in the folder of ep::scratch.
    std::size_t host_limit = std::size_t(-1);
};

/// Makes a run use this rank's device: plan.run(world, ep::on_device, bindings…). Values come from the host or from the
/// device; results are on the host. When the run returns, all work on the device is done.
inline constexpr device_run on_device{};

/// The most bytes that a run on devices holds at once on a rank, besides the application's own memory. An input that is
/// used in place counts as if it were copied. Not counted are the copies of bound values that the run makes in the
/// distribution that the plan reads.
struct device_need {
    std::size_t tensors = 0;    ///< on the device: plan.peak_bytes(rank)
    std::size_t workspace = 0;  ///< on the device: transposed operands and partial sums, of the call that needs most
    std::size_t products = 0;   ///< on the device: workspace of cuBLAS
    std::size_t pinned = 0;     ///< on the host: results, buffers for messages and sources, and tensors that wait
    std::string vertex{};       ///< the vertex with the step that needs most device memory

    /// Bytes of device memory, which options.memory_limit limits in runs on devices. With options.paging the limit is
    /// for tensors, and workspace comes on top.
    [[nodiscard]] std::size_t on_device() const { return tensors + workspace + products; }
};

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE results carry_out_on_device(const plan& asked, context& world, const device_run& how,
                                               std::span<const binding> bound, trace* seen = nullptr);

}  // namespace EINPARALLEL_DETAIL

/// Measures the constants of the time model on the ranks' devices; world.calibrate(ep::on_device) calls this. It
/// measures as on the host, but with matrix products of up to 2048³ (the largest for which `seconds` suffice), messages
/// of 32 MiB, and, for operations_per_touch, a transposition of up to 4096². Tensors of a device wait on the host, so
/// that seconds_per_host_byte and seconds_per_stored_byte are those of copies of 32 MiB between the device and pinned
/// memory, each way, all ranks at the same time. It holds 352 MiB per device meanwhile.
/// @throws error, the same on every rank
EINPARALLEL_INLINE machine measured_machine(const context& world, const device_run& how, double seconds = 0.2);

/// The memory that the first run of a plan on devices will hold on rank `rank`. Local; needs no device.
EINPARALLEL_INLINE [[nodiscard]] device_need need_on_device(const plan& of, int rank, const device_run& how = {});

inline namespace EINPARALLEL_WAY {

/// Carries out a plan on devices, as execute() does on the host. plan.run(world, ep::on_device, bindings…) calls this.
/// @throws error, the same on every rank, where there is no device, where device memory is too small (the error names
/// the vertex that needs most) or more is needed than options.memory_limit, where the kernels are not compiled for the
/// compute capability of the device, or where a functor of the application is in a source file that nvcc has not
/// compiled; cuda_error
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const device_run& how, const Bindings&... bound) {
    return detail::carry_out_on_device(asked, world, how, std::array<binding, sizeof...(Bindings)>{bound...});
}

/// Like the function above, with a list of bindings.
template <std::same_as<std::vector<binding>> List>
results execute(const plan& asked, context& world, const device_run& how, const List& bound) {
    return detail::carry_out_on_device(asked, world, how, bound);
}

/// Also fills a trace: plan.run(world, ep::on_device, seen, bindings…). All ranks give one, or none does.
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const device_run& how, trace& seen, const Bindings&... bound) {
    return detail::carry_out_on_device(asked, world, how, std::array<binding, sizeof...(Bindings)>{bound...}, &seen);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
