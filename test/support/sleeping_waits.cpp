// Preloaded into MPI programs of several ranks: ranks that wait in a blocking call of MPI sleep between looks at it,
// where MPICH looks without end and keeps the core until the operating system takes it away.

#include <dlfcn.h>
#include <mpi.h>

#include <chrono>
#include <thread>

namespace {

constexpr int patience = 200;  ///< looks without a rest

void rest() {
    std::this_thread::sleep_for(std::chrono::microseconds(1));
}

int wait_for(MPI_Request* request, MPI_Status* status, int code) {
    int done = 0;
    for (int looks = 0; code == MPI_SUCCESS && done == 0; ++looks) {
        code = PMPI_Test(request, &done, status);
        if (done == 0 && looks > patience) {
            rest();
        }
    }
    return code;
}

}  // namespace

extern "C" {

// Where MPICH's network is UCX every look goes through here, those of files, windows and new communicators too.
unsigned ucp_worker_progress(void* worker) {
    using function = unsigned (*)(void*);
    static const auto progress = reinterpret_cast<function>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
    thread_local int looks = 0;
    const unsigned found = progress(worker);
    looks = found == 0 ? looks + 1 : 0;
    if (looks > patience) {
        looks = patience;
        rest();
    }
    return found;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    return wait_for(request, status, MPI_SUCCESS);
}

int MPI_Barrier(MPI_Comm ranks) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = PMPI_Ibarrier(ranks, &request);
    return wait_for(&request, MPI_STATUS_IGNORE, code);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm ranks) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = PMPI_Ibcast(data, count, type, root, ranks, &request);
    return wait_for(&request, MPI_STATUS_IGNORE, code);
}

int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op sum, MPI_Comm ranks) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = PMPI_Iallreduce(mine, all, count, type, sum, ranks, &request);
    return wait_for(&request, MPI_STATUS_IGNORE, code);
}

int MPI_Allgather(const void* mine, int my_count, MPI_Datatype my_type, void* all, int count, MPI_Datatype type,
                  MPI_Comm ranks) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = PMPI_Iallgather(mine, my_count, my_type, all, count, type, ranks, &request);
    return wait_for(&request, MPI_STATUS_IGNORE, code);
}

}  // extern "C"
