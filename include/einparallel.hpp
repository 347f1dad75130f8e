#pragma once
// The umbrella: everything that the linked targets enable. Without macros this is core, which needs neither MPI nor
// CUDA; EINPARALLEL_HAS_MPI=1 (the target einparallel::mpi) adds the run, EINPARALLEL_HAS_CUDA=1 (einparallel::cuda)
// runs on devices.

#if defined(__cplusplus) && __cplusplus < 202002L
#error "einparallel: this unit is compiled as an older C++ than C++20: -std=c++20"
#elif defined(__GNUC__) && !defined(__EXCEPTIONS) && !defined(__CUDACC__)
#error "einparallel: mistakes are exceptions, and this unit is compiled with -fno-exceptions"
#else

#include <einparallel/source/macros_away.hpp>

/// Everything that the library offers; applications write `namespace ep = einparallel;`.
namespace einparallel {}

// Headers whose messages a user may see are included directly: a compiler writes a line for each include on the way to
// a message.
// clang-format off
#include <einparallel/notation/version.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/notation/einsum_spec.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/shape.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/gradient.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/plan.hpp>
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#include <einparallel/run/context.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/data/sources.hpp>
#endif
// clang-format on

// Arrays, and einsums that run at once.
#include <einparallel/array/assign.hpp>
#include <einparallel/array/foreign.hpp>
#include <einparallel/array/print.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/operations/operators.hpp>

#if defined(_OPENMP)
#include <einparallel/kernel/threads.hpp>
#endif

// Tensors, and einsums that are recorded.
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/network.hpp>
#include <einparallel/graph/random.hpp>
#include <einparallel/graph/section.hpp>
#include <einparallel/graph/shape.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/io/safetensors.hpp>

// Plans, computed for any number of ranks.
#include <einparallel/cost/lower_bound.hpp>
#include <einparallel/cost/paper.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/machine_text.hpp>
#include <einparallel/plan/partitions.hpp>
#include <einparallel/plan/statistics.hpp>
#include <einparallel/search/options.hpp>

// Runs, on a communicator.
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#include <einparallel/data/block_cyclic.hpp>
#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/files/einsum_files.hpp>
#include <einparallel/data/files/save.hpp>
#include <einparallel/run/calibrate.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/decompose.hpp>
#if defined(EINPARALLEL_HAS_CUDA) && EINPARALLEL_HAS_CUDA
#include <einparallel/cuda/error.hpp>
#include <einparallel/data/device_view.hpp>
#include <einparallel/data/on_device.hpp>
#endif
#endif
#if EINPARALLEL_DETAIL_FOR_DEVICES && defined(__CUDACC__)
#include <einparallel/device/start.ipp>
#endif

#include <einparallel/source/configuration.hpp>

// The definitions, where no compiled library has them.
#if !defined(EINPARALLEL_COMPILED) || !EINPARALLEL_COMPILED
#include <einparallel/source/commit.hpp>
#include <einparallel/source/kernel.hpp>
#include <einparallel/source/plan.hpp>
#include <einparallel/source/products.hpp>
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#include <einparallel/source/run.hpp>
#if defined(EINPARALLEL_HAS_CUDA) && EINPARALLEL_HAS_CUDA
#include <einparallel/source/cuda.hpp>
#endif
#endif
#endif

#include <einparallel/source/macros_back.hpp>

#endif
