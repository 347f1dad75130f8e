#pragma once
// The part of the compiled library for runs over MPI. A file of the user includes this header, before or after
// core.hpp.

#if defined(EINPARALLEL_VERSION) && !defined(EINPARALLEL_COMPILED)
#error "einparallel/source/mpi.hpp: einparallel.hpp was included before it, header-only"
#endif
#if !defined(EINPARALLEL_COMPILED)
#define EINPARALLEL_COMPILED 1
#endif
#undef EINPARALLEL_HAS_MPI
#define EINPARALLEL_HAS_MPI 1

#include <einparallel/source/run.hpp>
