// The unit that uses the library on somebody else's communicator.

#include "solver.hpp"

#include <einparallel.hpp>

namespace ep = einparallel;

std::vector<double> multiply(MPI_Comm ranks, int n) {
    EINPARALLEL_LABELS(i, j, k);
    ep::context world{ranks};
    const ep::tensor<double, 2> A =
        ep::generate<double>({n, n}, [](auto row, auto column) { return static_cast<double>(row + column); });
    const ep::tensor<double, 2> B =
        ep::generate<double>({n, n}, [](auto row, auto column) { return static_cast<double>(row - column); });
    ep::tensor<double, 2> C;
    C(i, k) = A(i, j) * B(j, k);
    auto gathered = ep::evaluate(world, C).gather(0);
    return std::vector<double>(gathered.data(), gathered.data() + gathered.size());
}
