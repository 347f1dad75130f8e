#pragma once
// The constants of the time model, measured on the ranks of a context.

#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/search/options.hpp>

#include <span>
#include <string>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Sets figures[i] to the largest figures[i] over all ranks, with the same bits on each. A negative number or a NaN
/// counts as 0. Collective.
EINPARALLEL_INLINE void allreduce_largest(const communicator& ranks, std::span<double> figures);

/// Measures the constants with blocks and messages in one memory space. Collective.
/// `folder`: where storage is measured, too; empty: nowhere.
EINPARALLEL_INLINE machine machine_of_space(const context& world, const memory_space& space, double seconds,
                                            const std::string& folder = {});

}  // namespace EINPARALLEL_DETAIL

/// Measures the constants of the time model on the ranks of a context; world.calibrate() calls it. Collective and
/// blocking; every rank returns the same bits. All ranks compute and send at the same time, with the library's own
/// kernels and messages, so the measurement includes the effect of shared memory and shared network cards. A duration
/// is that of the slowest rank; of several durations the median counts.
///
/// - seconds_per_byte: a shift of 4 MiB by half the ring of all ranks, minus a shift of 4 KiB. All ranks of a node then
///   share its link, if ranks fill one node after the other;
/// - seconds_per_message: a shift of 4 KiB, minus the time of its bytes;
/// - seconds_per_flop: the mean of matrix products of 128³ and 512³ double-precision multiply-adds, or the small one
///   alone where the large one would take too long;
/// - levels: where the ranks are on several nodes (MPI_Comm_split_type), of which some have several ranks, and where
/// the
///   processors on which ranks may run lie in one socket each. Of each level messages between the first ranks of
///   neighbouring groups, and, for `transfers`, of all their ranks at once. One more than 8 runs of nodes with equal
///   numbers of ranks is one level;
/// - exposed: a shift of 4 MiB during a product of the same duration, compared with each of them alone; from 0.01 to 1.
///
/// Where a BLAS is linked (einparallel::blas) and use_gemm was not called, a product of 512³ also decides, equally on
/// all ranks, whether the BLAS or the library's own kernel computes plain products in this process from now on.
///
/// On one rank only seconds_per_flop is measured. A constant that the clock cannot resolve keeps its built-in value, so
/// all constants are finite and positive. `seconds` is about the time that the calibration takes; every measured
/// program runs at least twice. It holds 18 MiB per rank meanwhile. Measure while the machine has the load that it will
/// have in the run. The library never calibrates by itself, because plans would then differ from run to run.
/// @throws error, the same on every rank: `seconds` is not positive or differs between ranks, memory runs out, or the
/// call comes from a source or functor of a plan that is running
EINPARALLEL_INLINE machine measured_machine(const context& world, double seconds = 0.2);

/// Also measures seconds_per_stored_byte, for options.paging: world.calibrate("/local/disk"). Every rank writes 64 MiB
/// to a file in this folder, which may be another one on each rank, and reads them again from storage, all ranks at the
/// same time. @throws error, the same on every rank, also where the folder cannot hold the file
EINPARALLEL_INLINE machine measured_machine(const context& world, const std::string& folder, double seconds = 0.2);

}  // namespace einparallel
