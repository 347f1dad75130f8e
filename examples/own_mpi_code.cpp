// An MPI program that has its own communicator, its own blocks of rows and its own memory, and leaves two products to
// the library: Newton's iteration for orthonormal rows,
//
//     X  <-  3/2 X - 1/2 (X Xᵀ) X,
//
// which makes the rows of X orthonormal and changes them as little as possible (Löwdin's orthonormalisation).
//
//     mpiexec -n 4 own_mpi_code
//
// The library's part is the function `iterate`. All else is the program as it was: it distributes the rows as it likes,
// and compares the result with a loop of its own.

#include <einparallel.hpp>

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <vector>

namespace ep = einparallel;

namespace {

constexpr int rows = 60, columns = 180, steps = 6;
constexpr double unused = -1;  // what lies between the rows, and must stay there

/// The rows of one rank, in the program's own memory: `stride` numbers from one row to the next, the last ones unused.
struct row_block {
    static constexpr int stride = columns + 4;
    int first = 0, count = 0;
    std::vector<double> memory;
};

/// Later ranks have more rows than earlier ones: with 4 ranks 6, 12, 18 and 24 of 60.
int first_row(int rank, int ranks) {
    return rows * rank * (rank + 1) / (ranks * (ranks + 1));
}

double starting_value(int row, int column) {
    return (row == column ? 1.0 : 0.0) + 0.05 * std::sin(1.0 + 3.0 * row + 7.0 * column + row * column);
}

/// All that the library does here. Collective over `ranks`.
void iterate(MPI_Comm ranks, row_block& mine) {
    ep::context world(ranks);  // duplicates the communicator: the program's messages and the library's never meet

    // A window on the program's memory: this rank's part, where it begins in the whole matrix, and how it is strided.
    const ep::view<double, 2> block(mine.memory.data(), {mine.count, columns}, {row_block::stride, 1});
    const ep::distributed<double, 2> x(world, {rows, columns}, {mine.first, 0}, block);
    const ep::tensor<double, 2> X = ep::from_distributed(x);

    // These lines record the computation. Each product is summed over the labels that are missing on the left.
    EINPARALLEL_LABELS(i, j, k);
    ep::tensor<double, 2> S, Y;
    S(i, j) = X(i, k) * X(j, k);
    Y(i, k) = 1.5 * X(i, k) - 0.5 * S(i, j) * X(j, k);

    // The new rows are computed where the old ones lie, cut as unevenly.
    Y.pinned(x.pin());

    // Planned once, run often: each run reads the program's blocks as they are then, and leaves its result in them.
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Y);
    for (int step = 0; step < steps; ++step) {
        plan.run(world, ep::into(Y, x));
    }
    if (world.rank() == 0) {
        std::cout << steps << " runs of one plan on " << world.size() << " ranks, which sent " << plan.bytes_sent()
                  << " bytes in each\n";
    }
}

/// One step by plain loops, on a whole matrix of rows without gaps.
void plain_step(std::vector<double>& X) {
    const auto at = [](int row, int column) { return static_cast<std::size_t>(row * columns + column); };
    std::vector<double> next(X.size());
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < columns; ++k) {
            next[at(i, k)] = 1.5 * X[at(i, k)];
        }
        for (int j = 0; j < rows; ++j) {
            double overlap = 0;
            for (int k = 0; k < columns; ++k) {
                overlap += X[at(i, k)] * X[at(j, k)];
            }
            for (int k = 0; k < columns; ++k) {
                next[at(i, k)] -= 0.5 * overlap * X[at(j, k)];
            }
        }
    }
    X = next;
}

/// The program: distributes the rows, calls the library, compares with its own loop. True where both agree.
bool orthonormalise(MPI_Comm ranks) {
    int rank = 0, size = 1;
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);

    row_block mine{first_row(rank, size), first_row(rank + 1, size) - first_row(rank, size), {}};
    mine.memory.assign(static_cast<std::size_t>(mine.count) * row_block::stride, unused);
    std::vector<double> whole;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            whole.push_back(starting_value(row, column));
            if (row >= mine.first && row < mine.first + mine.count) {
                mine.memory[static_cast<std::size_t>((row - mine.first) * row_block::stride + column)] = whole.back();
            }
        }
    }

    iterate(ranks, mine);

    double difference = 0;
    for (int step = 0; step < steps; ++step) {
        plain_step(whole);
    }
    for (int row = 0; row < mine.count; ++row) {
        for (int column = 0; column < row_block::stride; ++column) {
            const double here = mine.memory[static_cast<std::size_t>(row * row_block::stride + column)];
            const double there =
                column < columns ? whole[static_cast<std::size_t>((mine.first + row) * columns + column)] : unused;
            difference = std::max(difference, std::abs(here - there));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, ranks);
    if (rank == 0) {
        std::cout << "largest difference from the program's own loop: " << difference << std::endl;
    }
    return difference < 1e-12;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    // The program's own communicator. Of three ranks and more the last one has other work (files, say); the others are
    // numbered backwards.
    MPI_Comm solvers = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, size > 2 && rank == size - 1 ? MPI_UNDEFINED : 0, -rank, &solvers);
    int good = 1;
    if (solvers != MPI_COMM_NULL) {
        try {
            good = orthonormalise(solvers) ? 1 : 0;
        } catch (const ep::error& failure) {  // the same sentence on every rank of `solvers`
            std::cerr << failure.what() << '\n';
            good = 0;
        }
        MPI_Comm_free(&solvers);
    }
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Finalize();
    return good == 1 ? 0 : 1;
}
