#pragma once
// MPI's own header, without the C++ bindings that MPI dropped in 2012 and some mpi.h still have: they cost compile time
// and clash with names. A unit that uses them includes <mpi.h> before the library.

#include <einparallel/notation/compiled.hpp>

#include <string>

#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

namespace einparallel::EINPARALLEL_DETAIL {

/// The first line of what MPI_Get_library_version returns. It may be called before MPI_Init.
EINPARALLEL_INLINE std::string mpi_library();

}  // namespace einparallel::EINPARALLEL_DETAIL
