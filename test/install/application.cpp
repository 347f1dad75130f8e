// The application: MPI is its own, and so is the communicator, on which a message of its own is under way while the
// library computes. It includes the library too, so that two units carry it.

#include "solver.hpp"

#include <einparallel.hpp>

#include <cstdio>
#include <cstdlib>

static_assert(EINPARALLEL_VERSION == 300 && einparallel::version() == "0.3.0");

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    // Any source and any tag: were the library to send on this communicator, its message would be taken for ours.
    double sent = 100.0 + rank;
    double received = 0;
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);

    const int n = 17;
    const std::vector<double> product = own_solver().multiply(MPI_COMM_WORLD, n);

    MPI_Isend(&sent, 1, MPI_DOUBLE, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int failures = received == 100.0 + (rank + ranks - 1) % ranks ? 0 : 1;

    if (rank == 0) {
        failures += product.size() == static_cast<std::size_t>(n * n) ? 0 : 1;
        for (int i = 0; i < n && failures == 0; ++i) {
            for (int k = 0; k < n; ++k) {
                double expected = 0;
                for (int j = 0; j < n; ++j) {
                    expected += (i + j) * (j - k);
                }
                failures += product[static_cast<std::size_t>(i * n + k)] == expected ? 0 : 1;
            }
        }
    }
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d ranks, %d failures\n", ranks, all);
    }
    MPI_Finalize();
    return all == 0 && ranks == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
