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
    automatic,  ///< straight from device memory where MPI says that it reads that, else through the host
    staged,     ///< through pinned memory of the host
    direct      ///< straight from device memory, whatever MPI says of itself
};

/// Which device a run uses, and how. `plan.run(world, ep::on_device)` uses the default: of the devices of a node, one
/// per rank, in turn.
///
///     plan.run(world, ep::device_run{.device = 1, .stream = mine});
struct device_run {
    int device = -1;                ///< CUDA's number; negative: by the rank's number on its node
    CUstream_st* stream = nullptr;  ///< the application's: the run begins when what was given to it is done
    device_messages messages = device_messages::automatic;  ///< the same on all ranks
    /// Results stay in device memory, which their handles own: the next run on devices reads them in place where they
    /// are bound (bind, from_distributed). The host gets copies (ep::distributed). The same on all ranks.
    bool results_stay = false;
    /// The application's device memory instead of cudaMalloc's, on a boundary of 256 bytes: null where there is none.
    /// Called on the thread that runs; other streams use it, too, when `stream` has done its work so far.
    void* (*allocate)(std::size_t bytes, CUstream_st* stream) = nullptr;
    /// Gives it back; nothing is under way on it. Does not throw. Both functions or neither.
    void (*release)(void* memory, std::size_t bytes, CUstream_st* stream) = nullptr;
};

/// Runs on this rank's device: plan.run(world, ep::on_device, bindings…). Values come from the host or from the device,
/// results are on the host. When run returns, all work on the device is done.
inline constexpr device_run on_device{};

/// Bytes that a run on devices holds at once on a rank, beside the application's own memory. An input that is used in
/// place counts as if it were copied; bound values that rest elsewhere than the plan reads them come on top.
struct device_need {
    std::size_t tensors = 0;    ///< of the device: plan.peak_bytes(rank)
    std::size_t workspace = 0;  ///< of the device: transposed operands and partial sums, of the call that needs most
    std::size_t products = 0;   ///< of the device: cuBLAS'
    std::size_t pinned = 0;     ///< of the host: results there, and what messages and sources pass through
    std::string vertex{};       ///< in a step of which most of the device is needed

    /// Bytes of the device's memory, which options.memory_limit bounds in runs on devices.
    [[nodiscard]] std::size_t on_device() const { return tensors + workspace + products; }
};

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE results carry_out_on_device(const plan& asked, context& world, const device_run& how,
                                               std::span<const binding> bound, trace* seen = nullptr);

}  // namespace EINPARALLEL_DETAIL

/// Measures the constants of the time model on the ranks' devices, what world.calibrate(ep::on_device) calls: as on the
/// host, with products of up to 2048³ (the largest that the seconds allow), messages of 32 MiB, and a transposition of
/// up to 4096² for operations_per_touch. Holds 352 MiB per device meanwhile. @throws error, the same on every rank
EINPARALLEL_INLINE machine measured_machine(const context& world, const device_run& how, double seconds = 0.2);

/// What the first run of a plan on devices will hold on a rank. Local; needs no device.
EINPARALLEL_INLINE [[nodiscard]] device_need need_on_device(const plan& of, int rank, const device_run& how = {});

inline namespace EINPARALLEL_WAY {

/// Carries out a plan on devices, as execute() does on the host; what plan.run(world, ep::on_device, bindings…) calls.
/// @throws error, the same sentence on every rank: no device, too little device memory (and the vertex that needs
/// most; more than options.memory_limit), a compute capability that the kernels are not compiled for, a functor of the
/// application's from a unit that nvcc has not compiled; cuda_error
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const device_run& how, const Bindings&... bound) {
    return detail::carry_out_on_device(asked, world, how, std::array<binding, sizeof...(Bindings)>{bound...});
}

/// The same with a list of bindings.
template <std::same_as<std::vector<binding>> List>
results execute(const plan& asked, context& world, const device_run& how, const List& bound) {
    return detail::carry_out_on_device(asked, world, how, bound);
}

/// The same with a trace, on all ranks: plan.run(world, ep::on_device, seen, bindings…).
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const device_run& how, trace& seen, const Bindings&... bound) {
    return detail::carry_out_on_device(asked, world, how, std::array<binding, sizeof...(Bindings)>{bound...}, &seen);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
