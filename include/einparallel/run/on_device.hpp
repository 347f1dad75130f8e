#pragma once
// Carries a plan out on the devices of the ranks.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/run/binding.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/results.hpp>
#include <einparallel/run/trace.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>

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
};

/// Runs on this rank's device: plan.run(world, ep::on_device, bindings…). Values come from the host or from the device,
/// results are on the host. When run returns, all work on the device is done.
inline constexpr device_run on_device{};

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE results carry_out_on_device(const plan& asked, context& world, const device_run& how,
                                               std::span<const binding> bound, trace* seen = nullptr);

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// Carries out a plan on devices, as execute() does on the host; what plan.run(world, ep::on_device, bindings…) calls.
/// @throws error, the same sentence on every rank: no device, too little device memory, a functor of the application's,
/// which only the host can call; cuda_error
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const device_run& how, const Bindings&... bound) {
    const std::array<binding, sizeof...(Bindings)> all{bound...};
    return detail::carry_out_on_device(asked, world, how, all);
}

/// The same with a trace, on all ranks: plan.run(world, ep::on_device, seen, bindings…).
template <std::same_as<binding>... Bindings>
results execute(const plan& asked, context& world, const device_run& how, trace& seen, const Bindings&... bound) {
    const std::array<binding, sizeof...(Bindings)> all{bound...};
    return detail::carry_out_on_device(asked, world, how, all, &seen);
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
