// A product of matrices, compared with sums by hand: on arrays; planned, where the unit uses the compiled library; and
// planned and run on ranks, where it has MPI. The argument is the expected number of ranks.

#include <einparallel.hpp>

#include <cstdio>
#include <cstdlib>

namespace ep = einparallel;

namespace {

constexpr int rows = 40;
constexpr int inner = 36;
constexpr int columns = 44;

double left(long long row, long long column) {
    return static_cast<double>(row + 2 * column - 30);
}
double right(long long row, long long column) {
    return static_cast<double>(3 * row - column);
}

// Integers, so that the order of summation does not matter.
int wrong_elements(const ep::array<double, 2>& product) {
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            double expected = 0;
            for (int k = 0; k < inner; ++k) {
                expected += left(row, k) * right(k, column);
            }
            wrong += product(row, column) == expected ? 0 : 1;
        }
    }
    return wrong;
}

int wrong_on_arrays() {
    ep::array<double, 2> A({rows, inner});
    ep::array<double, 2> B({inner, columns});
    for (int k = 0; k < inner; ++k) {
        for (int row = 0; row < rows; ++row) {
            A(row, k) = left(row, k);
        }
        for (int column = 0; column < columns; ++column) {
            B(k, column) = right(k, column);
        }
    }
    return wrong_elements(ep::einsum<"ij,jk->ik">(A, B));
}

#if defined(EINPARALLEL_COMPILED) || defined(EINPARALLEL_HAS_MPI)
ep::tensor<double, 2> recorded() {
    EINPARALLEL_LABELS(i, j, k);
    const ep::tensor<double, 2> A =
        ep::generate<double>({rows, inner}, [](auto row, auto column) { return left(row, column); });
    const ep::tensor<double, 2> B =
        ep::generate<double>({inner, columns}, [](auto row, auto column) { return right(row, column); });
    ep::tensor<double, 2> C;
    C(i, k) = A(i, j) * B(j, k);
    return C;
}

int wrong_plans() {
    const ep::plan plan = ep::decompose({.processes = 64}, recorded());
    return plan.processes() == 64 && plan.cost() > 0 ? 0 : 1;
}
#else
int wrong_plans() {
    return 0;
}
#endif

#if defined(EINPARALLEL_HAS_MPI)
int wrong_on_ranks(int expected_ranks) {
    ep::context world{MPI_COMM_WORLD};
    if (world.size() != expected_ranks) {
        std::printf("%d ranks instead of %d: is the launcher that of the MPI which was linked?\n", world.size(),
                    expected_ranks);
        return 1;
    }
    const ep::plan plan = ep::decompose(world, recorded());
    const ep::distributed<double, 2> product = plan.run(world);
    return wrong_elements(product.allgather());
}
#endif

}  // namespace

int main(int argc, char** argv) {
    int failures = wrong_on_arrays() + wrong_plans();
#if defined(EINPARALLEL_HAS_MPI)
    MPI_Init(&argc, &argv);
    failures += wrong_on_ranks(argc > 1 ? std::atoi(argv[1]) : 1);
    MPI_Finalize();
#else
    static_cast<void>(argc);
    static_cast<void>(argv);
#endif
    std::printf("einparallel %s: %d failures\n", ep::version().data(), failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
