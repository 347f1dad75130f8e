#pragma once
// The constants of the time model, measured on the ranks of a context.

#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/search/options.hpp>

#include <span>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// figures[i] = the largest figures[i] over all ranks, the same bits on each; what is negative or no number counts as
/// 0. Collective.
EINPARALLEL_INLINE void allreduce_largest(const communicator& ranks, std::span<double> figures);

/// The constants as measured with blocks and messages of one memory space.
EINPARALLEL_INLINE machine machine_of_space(const context& world, const memory_space& space, double seconds);

}  // namespace EINPARALLEL_DETAIL

/// Measures the constants of the time model on the ranks of a context: what world.calibrate() calls. Collective,
/// blocking; every rank returns the same bits. All ranks compute and send at the same time, through the library's own
/// kernels and messages, so shared memory and shared network cards are seen; the slowest rank counts, and of several
/// durations the median.
///
/// - seconds_per_byte: a shift of 4 MiB by half the ring of all ranks, less one of 4 KiB: so all ranks of a node share
///   its link, where there are several nodes and ranks fill one after the other;
/// - seconds_per_message: a shift of 4 KiB, less its bytes;
/// - seconds_per_flop: the mean of matrix products of 128³ and 512³ double-precision multiply-adds (of the small one
///   alone where the large one would take too long);
/// - exposed: a shift of 4 MiB with a product of the same duration meanwhile, against either alone; between 0.01 and 1.
///
/// Where a BLAS is linked (einparallel::blas) and nobody chose by use_gemm, a product of 512³ also decides whether it
/// or the library's own computes plain products in this process from now on, the same on every rank.
///
/// On one rank only seconds_per_flop is measured, and what the clock does not resolve keeps its built-in value: all are
/// finite and positive. `seconds` is what the calibration may take, about: every duration is measured twice at least.
/// Holds 18 MiB per rank meanwhile. Measure while the machine does what it will do in the run; the library never does
/// it by itself, for plans would then differ from run to run.
/// @throws error, the same on every rank: seconds that are not positive or not the same on all ranks, memory that runs
/// out, a call from a source or functor of a plan that is running
EINPARALLEL_INLINE machine measured_machine(const context& world, double seconds = 0.2);

}  // namespace einparallel
