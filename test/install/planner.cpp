// Core alone, neither MPI's headers nor its library: a join, whose kernel is this unit's and whose packing the
// library's; and, with the compiled library, a plan for 4096 ranks. (Header-only solver.cpp plans: each unit that does
// compiles a planner.)

#include <einparallel.hpp>

#ifdef MPI_VERSION
#error "core brought MPI in"
#endif

namespace ep = einparallel;

int main() {
    EINPARALLEL_LABELS(i, j, k);
    bool right = true;
#if defined(EINPARALLEL_COMPILED)
    const ep::tensor<double, 2> A = ep::placeholder<double>({1 << 14, 1 << 14});
    const ep::tensor<double, 2> B = ep::placeholder<double>({1 << 14, 1 << 14});
    ep::tensor<double, 2> C;
    C(i, k) = A(i, j) * B(j, k);
    const ep::plan plan = ep::decompose({.processes = 4096}, C);
    bool refused = false;
    try {
        static_cast<void>(ep::decompose({.processes = 0}, C));
    } catch (const ep::error&) {  // thrown inside the library, shared or not
        refused = true;
    }
    right = plan.cost() > 0 && refused;
#endif
    const int n = 32;  // enough for a blocked product
    ep::array<float, 2> a({n, n});
    ep::array<float, 2> c({n, n});
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
            a(row, column) = static_cast<float>((7 * row + 3 * column) % 11);
        }
    }
    c(i, k) = ep::max(a(i, j) + a(j, k));
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
            float expected = 0;
            for (int between = 0; between < n; ++between) {
                const float sum = a(row, between) + a(between, column);
                expected = sum > expected ? sum : expected;
            }
            right = right && c(row, column) == expected;
        }
    }
    return right ? 0 : 1;
}
