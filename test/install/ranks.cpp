// As little as a unit can do with runs.

#include <einparallel.hpp>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool agree = einparallel::context{MPI_COMM_WORLD}.size() == ranks;
    MPI_Finalize();
    return agree && ranks == 2 ? 0 : 1;
}
