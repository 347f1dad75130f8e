// The Gram matrix of a file in less memory than the file takes, beside the arithmetic with everything in memory and
// beside reading the file alone; files are cold, in turns, medians. One rank, the threads that OpenMP gives.
//   out_of_core ROWS COLUMNS MIB [rounds [folder]]

#include <einparallel.hpp>

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}

/// A .npy file of small integers, written block by block.
void write_matrix(const std::string& path, ep::index rows, ep::index columns) {
    const ep::index block = std::min<ep::index>(rows, 1000);
    ep::write_npy(path, ep::array<double, 2>({1, columns}));
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    const std::string head = ep::detail::npy_preamble(ep::element_type_of<double>(), {rows, columns});
    std::fwrite(head.data(), 1, head.size(), file);
    std::vector<double> elements(std::size_t(block * columns));
    for (ep::index begin = 0; begin < rows; begin += block) {
        const ep::index count = std::min(block, rows - begin);
        for (ep::index at = 0; at < count * columns; ++at) {
            elements[std::size_t(at)] = double((begin + at * 13) % 11) - 5;
        }
        std::fwrite(elements.data(), sizeof(double), std::size_t(count * columns), file);
    }
    std::fclose(file);
}

/// The system forgets the file.
void chill(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::fdatasync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
}

/// Reads as many bytes of a file from its beginning, and again from there where it ends.
void read_alone(const std::string& path, std::size_t bytes) {
    std::vector<char> part(std::size_t{16} << 20);
    const int file = ::open(path.c_str(), O_RDONLY);
    off_t at = 0;
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t got = ::pread(file, part.data(), std::min(part.size(), bytes - done), at);
        if (got <= 0 && at == 0) {
            break;
        }
        done += std::size_t(std::max<ssize_t>(got, 0));
        ::posix_fadvise(file, at, got, POSIX_FADV_DONTNEED);
        at = got <= 0 ? 0 : at + got;
    }
    ::close(file);
}

void measure(int argc, char** argv) {
    const ep::index rows = argc > 1 ? std::atol(argv[1]) : 200'000;
    const ep::index columns = argc > 2 ? std::atol(argv[2]) : 500;
    const std::size_t limit = std::size_t(argc > 3 ? std::atol(argv[3]) : 80) << 20U;
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    const std::string folder = argc > 5 ? argv[5] : std::filesystem::temp_directory_path().string();
    const std::string file = folder + "/out_of_core_a.npy";
    const std::string made = folder + "/out_of_core_g.npy";
    write_matrix(file, rows, columns);

    const std::size_t bytes = std::size_t(rows * columns) * sizeof(double);
    const double flops = 2.0 * double(rows) * double(columns) * double(columns);

    // The arithmetic alone, on as many rows as a gigabyte holds.
    const ep::index some = std::min<ep::index>(rows, (ep::index{1} << 30) / (8 * columns));
    ep::array<double, 2> a({some, columns}), g;
    for (ep::index at = 0; at < a.size(); ++at) {
        a.data()[at] = double(at * 13 % 11) - 5;
    }
    std::vector<double> arithmetic, reading, both;
    for (int round = 0; round < rounds; ++round) {
        arithmetic.push_back(seconds_of([&] { g(i, j) = a(k, i) * a(k, j); }) * double(rows) / double(some));
        chill(file);
        reading.push_back(seconds_of([&] { read_alone(file, bytes); }));
        chill(file);
        both.push_back(seconds_of([&] {
            ep::einsum_files("ki,kj->ij", {file, file}, made, {.memory_limit = limit, .overwrite = true});
        }));
    }
    const double longer = std::max(median(arithmetic), median(reading));
    std::printf(
        "%ld x %ld, %.2f GB in %zu MiB: arithmetic %.2f s (%.1f Gflop/s), reading once %.2f s (%.2f GB/s), "
        "from file to file %.2f s; longer of both / this %.3f\n",
        long(rows), long(columns), double(bytes) / 1e9, limit >> 20U, median(arithmetic),
        flops / median(arithmetic) / 1e9, median(reading), double(bytes) / median(reading) / 1e9, median(both),
        longer / median(both));
    std::filesystem::remove(file);
    std::filesystem::remove(made);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int code = 0;
    try {
        measure(argc, argv);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        code = 1;
    }
    MPI_Finalize();
    return code;
}
