// A program with both in it: a unit that carries the library's headers, compiled for this processor, and one that uses
// the compiled library. What one makes the other goes on with.

#include "solver.hpp"

#include <einparallel.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ep = einparallel;

namespace {

int differs(const ep::array<double, 2>& found, const std::vector<double>& expected) {
    int wrong = static_cast<std::size_t>(found.size()) == expected.size() ? 0 : 1;
    for (std::size_t place = 0; place < expected.size() && wrong == 0; ++place) {
        wrong += found.data()[place] == expected[place] ? 0 : 1;
    }
    return wrong;
}

int check(const solver& one, const solver& other) {
    const int n = 19;
    std::vector<double> squared(n * n);     // of A
    std::vector<double> multiplied(n * n);  // A and B
    std::vector<double> norms(n);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            for (int j = 0; j < n; ++j) {
                squared[i * n + k] += (i + j) * (j + k);
                multiplied[i * n + k] += (i + j) * (j - k);
            }
            norms[i] += multiplied[i * n + k] * multiplied[i * n + k];
        }
    }
    int failures = one.internal() != other.internal() ? 0 : 1;

    const ep::array<double, 2> A = one.sums(n);
    failures += differs(other.product(A, A), squared);

    ep::context world = one.world(MPI_COMM_WORLD);
    const ep::tensor<double, 2> C = other.recorded(n);
    const ep::plan plan = one.planned(world, C);
    const ep::distributed<double, 2> first = other.run(world, plan);
    failures += differs(one.gathered(first), multiplied);
    const ep::distributed<double, 2> again = one.run(world, plan);
    failures += differs(other.gathered(again), multiplied);
    const ep::array<double, 1> found = other.squares(world, again);
    for (int i = 0; i < n; ++i) {
        failures += found(i) == norms[i] ? 0 : 1;
    }

    try {
        static_cast<void>(other.product(A, one.sums(n + 1)));
        ++failures;
    } catch (const ep::error& refused) {
        std::printf("%s\n", refused.what());
    }
    return failures;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failures = check(header_only_solver(), compiled_solver());
    failures += check(compiled_solver(), header_only_solver());
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::printf("%d ranks, %d failures\n", ranks, all);
    MPI_Finalize();
    return all == 0 && ranks == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
