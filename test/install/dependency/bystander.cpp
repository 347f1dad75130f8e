#include <mpi.h>

int main() {
    int length = 0;
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    return MPI_Get_library_version(name, &length);
}
