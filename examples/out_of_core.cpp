// The Gram matrix of a file that is ten times as large as the memory it may take: by one call, then on all ranks.
//
//     mpiexec -n 2 out_of_core [ROWS [COLUMNS]]

#include "example.hpp"

#include <einparallel.hpp>

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>

namespace ep = einparallel;

namespace {

/// A folder that rank 0 makes and removes.
struct shared_folder {
    explicit shared_folder(const ep::context& world) : is_mine(world.rank() == 0) {
        int process = ::getpid();
        MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
        path = (std::filesystem::temp_directory_path() / ("ep_out_of_core_" + std::to_string(process))).string();
        if (is_mine) {
            std::filesystem::create_directories(path);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    shared_folder(const shared_folder&) = delete;
    shared_folder& operator=(const shared_folder&) = delete;
    ~shared_folder() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_mine) {
            std::filesystem::remove_all(path);
        }
    }

    bool is_mine;
    std::string path;
};

/// True where both ways make the Gram matrix of the elements in memory, and move the bytes that the plan says.
bool out_of_core(ep::context& world, ep::index rows, ep::index columns) {
    EINPARALLEL_LABELS(i, j, k);
    const shared_folder folder(world);
    const std::string file = folder.path + "/a.npy";
    const std::size_t bytes = std::size_t(rows * columns) * sizeof(double);
    const std::size_t limit = bytes / 10;
    ep::save_npy(file, ep::evaluate(world, ep::generate<double>({rows, columns}, example::numbers{1})));

    // One process, from file to file.
    if (world.rank() == 0) {
        ep::einsum_files("ki,kj->ij", {file, file}, folder.path + "/gram.npy", {.memory_limit = limit});
    }
    MPI_Barrier(MPI_COMM_WORLD);

    // The same on all ranks, in less memory than their parts of the file take.
    const auto A = ep::load_npy<double, 2>(file).named("A");
    ep::tensor<double, 2> G;
    G(i, j) = A(k, i) * A(k, j);
    G.named("G");
    const ep::plan plan = ep::decompose(world, {.memory_limit = limit, .paging = true}, G);
    const ep::results run = plan.run(world, ep::scratch(folder.path));
    const ep::array<double, 2> gram = ep::distributed<double, 2>(run).allgather();
    const std::size_t held = plan.peak_bytes(world.rank());
    const bool is_counted = run.bytes_paged() == plan.bytes_paged(world.rank()) && held <= limit;
    if (world.rank() == 0) {
        std::cout << plan << "\nbytes of the file: " << bytes << "\nbytes that a rank may hold: " << limit
                  << "\nbytes that rank 0 holds: " << held
                  << "\nbytes that rank 0 moves to and from files: " << run.bytes_paged() << '\n';
    }

    const ep::array<double, 2> a = ep::read_npy<double, 2>(file),
                               from_file = ep::read_npy<double, 2>(folder.path + "/gram.npy");
    ep::array<double, 2> reference;
    reference(i, j) = a(k, i) * a(k, j);
    const bool is_right = example::agrees(world, {gram.data(), std::size_t(gram.size())},
                                          {reference.data(), std::size_t(reference.size())});
    const bool is_right_in_file = example::agrees(world, {from_file.data(), std::size_t(from_file.size())},
                                                  {reference.data(), std::size_t(reference.size())});
    return is_right && is_right_in_file && is_counted;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return out_of_core(world, example::argument(argc, argv, 1, 40'000), example::argument(argc, argv, 2, 64));
    });
}
