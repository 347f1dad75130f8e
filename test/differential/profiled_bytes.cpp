// Stands between the library and MPI, by MPI's own profiling interface: what the library says that it sent is compared
// with what MPI was given.

#include "profiled_bytes.hpp"

#include <mpi.h>

#ifdef MPICH_VERSION

static std::size_t sent = 0;

static void note(MPI_Count count, MPI_Datatype type) {
    MPI_Count bytes = 0;
    PMPI_Type_size_x(type, &bytes);
    sent += static_cast<std::size_t>(count * bytes);
}

extern "C" {

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks,
              MPI_Request* request) {
    note(count, type);
    return PMPI_Isend(buffer, count, type, peer, tag, ranks, request);
}

#if MPI_VERSION >= 4
int MPI_Isend_c(const void* buffer, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks,
                MPI_Request* request) {
    note(count, type);
    return PMPI_Isend_c(buffer, count, type, peer, tag, ranks, request);
}
#endif

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks) {
    note(count, type);
    return PMPI_Send(buffer, count, type, peer, tag, ranks);
}
}

bool differential::is_profiled() {
    return true;
}
std::size_t differential::profiled_bytes() {
    return sent;
}

#else

bool differential::is_profiled() {
    return false;
}
std::size_t differential::profiled_bytes() {
    return 0;
}

#endif
