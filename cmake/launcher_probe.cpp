// Two of these are started while the build is configured. Started by the launcher of another MPI, each of them would be
// a world of its own, and every test with several ranks would pass without having sent a message.

#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::printf("[world of %d]", sum == ranks ? ranks : -1);
    MPI_Finalize();
    return 0;
}
