// The program of the page "A first plan": a graph of einsums and its plan, in one process and without MPI.

#include <einparallel.hpp>

#include <iostream>

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j, k, l);

int main() {
    // Tensors record
    const ep::tensor<double, 2> A = ep::placeholder<double>({20000, 1000}).named("A");
    const ep::tensor<double, 2> B = ep::placeholder<double>({1000, 1000}).named("B");
    const ep::tensor<double, 2> C = ep::placeholder<double>({1000, 50}).named("C");
    ep::tensor<double, 2> D, E;
    D(i, k) = A(i, j) * B(j, k);
    E(i, l) = D(i, k) * C(k, l);
    D.named("D");
    E.named("E");

    // A plan for four ranks
    const ep::plan plan = ep::decompose({.processes = 4}, E);
    std::cout << plan << '\n';

    // What it says of itself
    std::cout << plan.bytes_sent() << " bytes are sent, " << plan.seconds() << " s by the time model\n"
              << "rank 0 holds " << plan.peak_bytes(0) << " bytes at most\n\n";

    // Other wishes
    const ep::plan least = ep::decompose({.processes = 4, .objective = ep::objective::bytes}, E);
    const ep::plan one = ep::decompose({.processes = 1}, E);
    std::cout << "fewest bytes: " << least.bytes_sent() << " bytes, " << least.seconds() << " s\n"
              << "on one rank: " << one.seconds() << " s\n\n";

    // Three tensors in one statement
    ep::tensor<double, 2> F;
    F(i, l) = A(i, j) * B(j, k) * C(k, l);
    F.named("F");
    std::cout << ep::decompose({.processes = 4}, F) << '\n';

    // By hand
    D.pinned({{k, 4}});
    const ep::plan pinned = ep::decompose({.processes = 4}, E);
    std::cout << pinned;

    // A limit that no plan keeps
    try {
        static_cast<void>(ep::decompose({.processes = 4, .memory_limit = 1 << 20}, E));
    } catch (const ep::error& refusal) {
        std::cout << '\n' << refusal.what() << '\n';
    }
}
