// The program of the page "A first application on ranks": the largest eigenvalue of a matrix, by power iteration.
//
//     mpiexec -n 2 first_application

#include <einparallel.hpp>

#include <mpi.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j);

namespace {

constexpr ep::index n = 600;
constexpr int steps = 50;

double element(ep::index row, ep::index column) {
    return row == column ? 2.0 : 1.0 / double(row + column + 1);
}

void power_iteration(MPI_Comm communicator) {
    ep::context world{communicator};

    // One step
    const auto A = ep::generate<double>({n, n}, element).named("A");
    const auto x = ep::placeholder<double>({n}).named("x");
    ep::tensor<double, 1> y, next;
    ep::tensor<double, 0> square, eigenvalue;
    y(i) = A(i, j) * x(j);
    square() = y(i) * y(i);
    next(i) = y(i) / sqrt(square());
    eigenvalue() = x(i) * y(i);
    y.named("y");
    square.named("square");
    next.named("next");
    eigenvalue.named("eigenvalue");

    // Its plan
    const ep::options wishes{.objective = ep::objective::bytes, .runs = steps};
    const ep::plan plan = ep::decompose(world, wishes, next, eigenvalue);
    if (world.rank() == 0) {
        std::cout << plan << '\n';
    }

    // Many runs
    ep::array<double, 1> start({n});
    start(i) = 1.0 / std::sqrt(double(n));
    ep::results step = plan.run(world, ep::bind(x, start));
    for (int number = 1; number < steps; ++number) {
        step = plan.run(world, ep::bind(x, step.get(next)));
    }

    // Results
    const ep::array<double, 0> value = step.get(eigenvalue).allgather();
    const ep::array<double, 1> vector = step.get(next).gather(0);
    if (world.rank() == 0) {
        std::cout << "eigenvalue " << value << "; the vector begins with " << vector(0) << ", " << vector(1) << '\n';
    }

    // A mistake on one rank
    try {
        const ep::array<double, 1> other({world.rank() == 0 ? n : n + 1});
        plan.run(world, ep::bind(x, other));
    } catch (const ep::error& mistake) {
        if (world.rank() == 0) {
            std::cout << mistake.what() << '\n';
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int result = EXIT_SUCCESS;
    try {
        power_iteration(MPI_COMM_WORLD);
    } catch (const std::exception& failure) {
        std::cout << failure.what() << '\n';
        result = EXIT_FAILURE;
    }
    MPI_Finalize();
    return result;
}
