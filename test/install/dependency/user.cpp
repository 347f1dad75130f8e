// What a unit is given by the target: the folder of the headers and their macros.
#include <einparallel/notation/version.hpp>

#include <mpi.h>

#if !EINPARALLEL_HAS_MPI || (!defined(OMPI_SKIP_MPICXX) || !defined(MPICH_SKIP_MPICXX))
#error "einparallel::mpi sets none of its macros"
#endif

int main() {
    return einparallel::version().empty() ? 1 : 0;
}
