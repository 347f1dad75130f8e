#pragma once
// A text that tells how a unit was compiled.

#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/version.hpp>
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#include <einparallel/mpi/interface.hpp>
#endif
#if defined(EINPARALLEL_HAS_CUDA) && EINPARALLEL_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

#include <string>
#include <string_view>

// Each of these is a template argument, so that units with and without MPI or CUDA have different functions.
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#define EINPARALLEL_DETAIL_WITH_MPI true
#else
#define EINPARALLEL_DETAIL_WITH_MPI false
#endif
#if defined(EINPARALLEL_HAS_CUDA) && EINPARALLEL_HAS_CUDA
#define EINPARALLEL_DETAIL_WITH_CUDA true
#else
#define EINPARALLEL_DETAIL_WITH_CUDA false
#endif

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The commit of the library, or "unknown".
EINPARALLEL_INLINE std::string_view commit();

/// The build options of the library: build type, flags and options where CMake compiled it, otherwise optimisation and
/// instruction set.
EINPARALLEL_INLINE std::string build_options();

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// A text for bug reports: version, commit, options, compiler, MPI, CUDA, BLAS, instruction sets and threads, of the
/// unit that calls it, and of the compiled library where the unit uses one. Prints and sends nothing, and may be called
/// before MPI_Init.
template <bool WithMpi = EINPARALLEL_DETAIL_WITH_MPI, bool WithCuda = EINPARALLEL_DETAIL_WITH_CUDA>
[[nodiscard]] std::string configuration() {
    std::string text = "einparallel ";
    text.append(version()).append(", commit ").append(detail::commit());
#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
    text.append(", compiled library: ").append(detail::build_options());
#else
    text.append(", header-only: ").append(detail::build_options());
#endif
#if defined(__clang__)
    text.append("\ncompiler of this unit: clang ").append(__clang_version__);
#elif defined(__GNUC__)
    text.append("\ncompiler of this unit: g++ ").append(__VERSION__);
#endif
    text.append(", C++ of ").append(std::to_string(__cplusplus));
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
    text.append("\nMPI: ").append(detail::mpi_library()).append("; this unit's mpi.h is of MPI ");
    text.append(std::to_string(MPI_VERSION)).append(".").append(std::to_string(MPI_SUBVERSION));
#else
    text.append("\nMPI: none in this unit");
#endif
#if defined(EINPARALLEL_HAS_CUDA) && EINPARALLEL_HAS_CUDA
    text.append("\nCUDA: ").append(std::to_string(CUDART_VERSION / 1000)).append(".");
    text.append(std::to_string(CUDART_VERSION % 1000 / 10));
#else
    text.append("\nCUDA: none in this unit");
#endif
    text.append("\nlocal work: ").append(local_kernels());
    text.append("\nthreads of a contraction: ").append(std::to_string(detail::available_threads()));
    text.append(detail::has_threads() ? " (OpenMP)" : " (no OpenMP is linked)");
    return text;
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
