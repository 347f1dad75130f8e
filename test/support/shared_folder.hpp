#pragma once
// A folder for the ranks of a test.

#include <einparallel/run/context.hpp>

#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace einparallel::testing {

/// A folder that rank 0 makes and removes.
struct shared_folder {
    explicit shared_folder(const context& world) : rank(world.rank()) {
        int process = ::getpid();
        MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
        path = (std::filesystem::temp_directory_path() / ("ep_shared_" + std::to_string(process))).string();
        if (rank == 0) {
            std::filesystem::create_directories(path);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    shared_folder(const shared_folder&) = delete;
    shared_folder& operator=(const shared_folder&) = delete;
    ~shared_folder() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            std::filesystem::remove_all(path);
        }
    }
    [[nodiscard]] bool is_empty() const {
        MPI_Barrier(MPI_COMM_WORLD);
        const bool empty = std::filesystem::is_empty(path);
        MPI_Barrier(MPI_COMM_WORLD);
        return empty;
    }

    int rank;
    std::string path;
};

}  // namespace einparallel::testing
