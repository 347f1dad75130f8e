// Plans for 4096 ranks with core alone: neither MPI's headers nor its library.

#include <einparallel.hpp>

#ifdef MPI_VERSION
#error "core brought MPI in"
#endif

namespace ep = einparallel;

int main() {
    EINPARALLEL_LABELS(i, j, k);
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
    return plan.cost() > 0 && refused ? 0 : 1;
}
