// The program of the page "A first einsum": arrays in one process, without MPI.

#include <einparallel.hpp>

#include <iostream>
#include <vector>

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j, k);

int main() {
    // A product
    ep::array<double, 2> A{{1, 2, 3}, {4, 5, 6}};
    ep::array<double, 2> B{{1, 0}, {0, 1}, {1, 1}};
    ep::array<double, 2> C;
    C(i, k) = A(i, j) * B(j, k);
    std::cout << C << '\n';

    // Sums, repeated values, other reductions
    ep::array<double, 1> rows, largest;
    ep::array<double, 0> all;
    rows(i) = A(i, j);
    all() = A(i, j);
    largest(j) = ep::max(A(i, j));
    std::cout << rows << '\n' << all << '\n' << largest << '\n';

    ep::array<double, 2> centred;
    centred(i, j) = A(i, j) - ep::mean(j, A(i, j));
    std::cout << centred << '\n';

    // Any join, any reduction
    ep::array<double, 2> distance;
    distance(i, k) = ep::max(abs(A(i, j) - B(j, k)));
    std::cout << distance << '\n';

    // Memory of your own
    std::vector<double> weights{10, 20, 30};
    ep::array<double, 1> weighted;
    weighted(i) = A(i, j) * ep::view{weights}(j);
    std::cout << weighted << '\n';

    // A mistake that only the run can see
    try {
        ep::array<double, 2> D({4, 2});
        C(i, k) = A(i, j) * D(j, k);
    } catch (const ep::error& mistake) {
        std::cout << mistake.what() << '\n';
    }
}
