// The chain (A·B) + (C·(D·E)) beside ScaLAPACK's pdgemm, double, in turns.
//
//     mpiexec -n 2 scalapack [--side <s>,<s>...] [--rounds <n>] [--skewed] [--rows <of the process grid>] [--block
//     <nb>]
//
// Square: all matrices s × s. Skewed: A s × s/10, B s/10 × s, C s × s/10, D s/10 × 10s, E 10s × s. Ours: automatic plan
// with world.calibrate(), inputs at rest where the plan reads them. ScaLAPACK's: block-cyclic on a process grid, the
// sum as beta = 1 of the last product. A duration is the slowest rank's. Sums over both results with weights must
// agree.

#include "graphs/matrix_chain.hpp"
#include "resting.hpp"
#include "text.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* extent, const int* block, const int* position, const int* source, const int* count);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* row_block, const int* column_block,
               const int* source_row, const int* source_column, const int* context, const int* leading, int* info);
void pdgemm_(const char* transposed_a, const char* transposed_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desc_a, const double* b,
             const int* ib, const int* jb, const int* desc_b, const double* beta, double* c, const int* ic,
             const int* jc, const int* desc_c);
}

namespace {

namespace ep = einparallel;
using ep::index;

double value_at(index number) {
    return static_cast<double>(number * 7 % 17 - 8) / 16;
}

double weight_of(index row, index column) {
    return static_cast<double>((3 * row + 5 * column) % 11 - 4);
}

struct process_grid {
    int context = 0;
    int rows = 1;
    int columns = 1;
    int row = 0;
    int column = 0;
    int block = 64;
};

/// A block-cyclic matrix, column-major on every rank.
struct cyclic_matrix {
    cyclic_matrix(const process_grid& grid, index rows, index columns)
        : grid_(grid), rows_(static_cast<int>(rows)), columns_(static_cast<int>(columns)) {
        const int zero = 0;
        held_rows_ = numroc_(&rows_, &grid.block, &grid.row, &zero, &grid.rows);
        const int held_columns = numroc_(&columns_, &grid.block, &grid.column, &zero, &grid.columns);
        const int leading = std::max(held_rows_, 1);
        int info = 0;
        descinit_(descriptor, &rows_, &columns_, &grid.block, &grid.block, &zero, &zero, &grid.context, &leading,
                  &info);
        elements.resize(static_cast<std::size_t>(leading) * static_cast<std::size_t>(std::max(held_columns, 1)));
        for_each([&](index row, index column, double& element) { element = value_at(row * columns_ + column); });
    }

    template <class Visit>
    void for_each(Visit visit) {
        const auto global = [&](index local, int count, int position) {
            return (local / grid_.block * count + position) * grid_.block + local % grid_.block;
        };
        for (std::size_t at = 0; at < elements.size() && held_rows_ > 0; ++at) {
            const index row = global(static_cast<index>(at) % held_rows_, grid_.rows, grid_.row);
            const index column = global(static_cast<index>(at) / held_rows_, grid_.columns, grid_.column);
            if (row < rows_ && column < columns_) {
                visit(row, column, elements[at]);
            }
        }
    }

    /// this = a · b + beta · this
    void multiply(const cyclic_matrix& a, const cyclic_matrix& b, double beta) {
        const int one = 1;
        const double alpha = 1;
        pdgemm_("N", "N", &rows_, &columns_, &a.columns_, &alpha, a.elements.data(), &one, &one, a.descriptor,
                b.elements.data(), &one, &one, b.descriptor, &beta, elements.data(), &one, &one, descriptor);
    }

    std::vector<double> elements;

private:
    const process_grid& grid_;
    int rows_;
    int columns_;
    int held_rows_ = 0;
    int descriptor[9]{};
};

double sum_over_ranks(double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return mine;
}

int compare(const experiments::matrix_chain_sizes& n, int rounds, process_grid grid) {
    ep::context world(MPI_COMM_WORLD);
    const int rank = world.state()->payload.rank();
    Cblacs_get(-1, 0, &grid.context);
    Cblacs_gridinit(&grid.context, "Row", grid.rows, grid.columns);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.columns, &grid.row, &grid.column);
    cyclic_matrix A(grid, n.i, n.j), B(grid, n.j, n.m), C(grid, n.i, n.k), D(grid, n.k, n.l), E(grid, n.l, n.m);
    cyclic_matrix DE(grid, n.k, n.m), Z(grid, n.i, n.m);
    const auto theirs = [&] {
        Z.multiply(A, B, 0);
        DE.multiply(D, E, 0);
        Z.multiply(C, DE, 1);
    };

    const auto chain = experiments::build_matrix_chain(n, experiments::placeholders<double>{});
    const ep::machine machine = world.calibrate();
    const ep::plan plan = ep::decompose(world, {.machine = machine}, chain.Z);
    const auto resting = [&](const ep::tensor<double, 2>& input) {
        return bench::resting_input<double, 2>(world, plan, input, rank, value_at);
    };
    const auto a = resting(chain.A), b = resting(chain.B), c = resting(chain.C), d = resting(chain.D),
               e = resting(chain.E);
    double our_sum = 0;
    const auto ours = [&](bool sums) {
        const ep::distributed<double, 2> z =
            plan.run(world, ep::bind(chain.A, a.part), ep::bind(chain.B, b.part), ep::bind(chain.C, c.part),
                     ep::bind(chain.D, d.part), ep::bind(chain.E, e.part));
        if (sums) {
            z.for_each_local([&](auto at, double value) { our_sum += weight_of(at[0], at[1]) * value; });
        }
    };

    theirs();
    double their_sum = 0;
    double size = 0;
    Z.for_each([&](index row, index column, double element) {
        their_sum += weight_of(row, column) * element;
        size += std::abs(weight_of(row, column) * element);
    });
    ours(true);
    our_sum = sum_over_ranks(our_sum);
    their_sum = sum_over_ranks(their_sum);
    size = sum_over_ranks(size);

    bench::samples our_times;
    bench::samples their_times;
    for (int round = 0; round < rounds; ++round) {
        our_times.seconds.push_back(bench::seconds_of([&] { ours(false); }));
        their_times.seconds.push_back(bench::seconds_of(theirs));
    }
    const bool agree = std::abs(our_sum - their_sum) <= 1e-12 * size;
    if (rank == 0) {
        std::printf("%s; pdgemm on %d x %d processes, blocks of %d; best and median of %d rounds\n",
                    ep::local_kernels().c_str(), grid.rows, grid.columns, grid.block, rounds);
        std::printf(
            "i %lld j %lld k %lld l %lld m %lld: ours %.1f / %.1f ms, %.1f MB per rank; ScaLAPACK %.1f / %.1f "
            "ms; ratio %.2f / %.2f; results %s\n",
            static_cast<long long>(n.i), static_cast<long long>(n.j), static_cast<long long>(n.k),
            static_cast<long long>(n.l), static_cast<long long>(n.m), 1e3 * our_times.best(), 1e3 * our_times.median(),
            static_cast<double>(plan.bytes_sent(0)) / 1e6, 1e3 * their_times.best(), 1e3 * their_times.median(),
            their_times.best() / our_times.best(), their_times.median() / our_times.median(),
            agree ? "agree" : "DIFFER");
    }
    Cblacs_gridexit(grid.context);
    return agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::string sides = "1000";
    int rounds = 5;
    bool skewed = false;
    process_grid grid;
    for (int position = 1; position < argc; ++position) {
        const std::string word = argv[position];
        const auto number = [&] { return position + 1 < argc ? std::max(1, std::atoi(argv[position + 1])) : 1; };
        skewed = skewed || word == "--skewed";
        sides = word == "--side" && position + 1 < argc ? argv[position + 1] : sides;
        rounds = word == "--rounds" ? number() : rounds;
        grid.rows = word == "--rows" ? number() : grid.rows;
        grid.block = word == "--block" ? number() : grid.block;
    }
    grid.columns = ranks / grid.rows;
    int failed = 0;
    for (const std::string& text : bench::separated(sides)) {
        const index side = bench::whole_number(text, 1);
        failed |= compare(skewed ? experiments::skewed_chain(side) : experiments::square_chain(side), rounds, grid);
    }
    MPI_Finalize();
    return failed;
}
