// The CCSD correlation energy of a water molecule in the 6-31G basis: coupled cluster with single and double
// excitations, iterated from zero amplitudes until the energy stands still.
//
//     mpiexec -n 4 ccsd [FOLDER [RUNS]]
//
// FOLDER holds the .npy files that data/README.md describes; RUNS is how often the plan is to run (30): with 1, each
// iteration brings all integrals and computes their combinations again. The 66 einsums of one iteration are in
// bench/graphs/ccsd.hpp; here they get their inputs, are planned once, and run as often as needed.

#include "example.hpp"

#include <einparallel.hpp>
#include <graphs/ccsd.hpp>

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>

namespace ep = einparallel;

namespace {

constexpr ep::index occupied = 5;  // water has ten electrons, two for each occupied orbital

/// Row or column of the pair (p, q) in the packed integrals.
ep::index pair(ep::index p, ep::index q) {
    return p < q ? pair(q, p) : p * (p + 1) / 2 + q;
}

/// The inputs of the equations, by the names that they have there.
struct water {
    using value_type = double;

    ep::array<double, 2> integrals;  ///< (pq|rs) over all orbitals: [pair(p, q), pair(r, s)]
    ep::array<double, 1> energies;   ///< of all orbitals, the occupied ones first
    ep::tensor<double, 2> t1;        ///< amplitudes: placeholders, to be bound in each iteration
    ep::tensor<double, 4> t2;

    /// A block of the integrals, (ov|vv) for example, is a function of its indices, as are the orbital energies: every
    /// rank makes the elements that it needs.
    template <std::size_t Rank>
    ep::tensor<double, Rank> operator()(const std::string& name, const ep::extent (&extents)[Rank]) const {
        const auto first = [&](std::size_t letter) { return name[letter] == 'v' ? occupied : 0; };
        if constexpr (Rank == 4) {
            if (name == "t2") {
                return t2;
            }
            const std::array<ep::index, 4> begin{first(1), first(2), first(4), first(5)};
            return ep::generate<double>(extents,
                                        [this, begin](ep::index p, ep::index q, ep::index r, ep::index s) {
                                            return integrals(pair(begin[0] + p, begin[1] + q),
                                                             pair(begin[2] + r, begin[3] + s));
                                        })
                .named(name);
        } else if constexpr (Rank == 2) {
            // Of the Fock matrix the equations want what is off the diagonal: nothing, for these orbitals.
            return name == "t1" ? t1
                                : ep::generate<double>(extents, [](ep::index, ep::index) { return 0.0; }).named(name);
        } else {
            const ep::index begin = first(2);  // e_o or e_v
            return ep::generate<double>(extents, [this, begin](ep::index p) { return energies(begin + p); })
                .named(name);
        }
    }
};

/// True where the energy is PySCF's.
bool ccsd(ep::context& world, const std::string& folder, std::size_t runs) {
    // Small files, whole, on every rank.
    const auto read = [&](const auto& input) { return ep::evaluate(world, input).allgather(); };
    water inputs{read(ep::load_npy<double, 2>(folder + "/ccsd_integrals.npy")),
                 read(ep::load_npy<double, 1>(folder + "/ccsd_orbital_energies.npy")),
                 {},
                 {}};
    const double from_pyscf = read(ep::load_npy<double, 1>(folder + "/ccsd_energy.npy"))(0);
    const ep::index o = occupied, v = inputs.energies.extent(0) - occupied;
    inputs.t1 = ep::placeholder<double>({o, v}).named("t1");
    inputs.t2 = ep::placeholder<double>({o, o, v, v}).named("t2");

    const auto next = experiments::build_ccsd({o, v}, inputs);
    // For a molecule this small the default objective, time, leaves nearly everything to one rank. Asked for the fewest
    // bytes, the planner cuts all einsums over all ranks, as it does for a larger molecule. A short search is enough
    // here. Integrals, and what is made of them alone, are brought and computed in the first run and kept.
    const ep::options options{.objective = ep::objective::bytes, .runs = runs, .effort = 200'000};
    const ep::plan plan = ep::decompose(world, options, next.t1, next.t2, next.E);
    if (world.rank() == 0) {
        std::cout << plan.vertices().size() << " inputs and einsums, " << plan.bytes_sent()
                  << " bytes sent in the first iteration, " << plan.bytes_sent_again()
                  << " in each later one\n\niteration  correlation energy\n"
                  << std::fixed << std::setprecision(12);
    }

    // The first run starts from zeros, the others from what the run before left on the ranks: nothing is gathered but
    // the energy, which belongs to the amplitudes that the run was given.
    ep::results run = plan.run(world, ep::bind(inputs.t1, ep::array<double, 2>({o, v})),
                               ep::bind(inputs.t2, ep::array<double, 4>({o, o, v, v})));
    double energy = 0, before = 1;
    int iteration = 1;
    const double start = MPI_Wtime();
    for (; iteration <= 60 && std::abs(energy - before) > 1e-10; ++iteration) {
        run = plan.run(world, ep::bind(inputs.t1, run.get(next.t1)), ep::bind(inputs.t2, run.get(next.t2)));
        before = std::exchange(energy, run.get(next.E).allgather().value());
        if (world.rank() == 0 && (iteration == 1 || iteration % 5 == 0)) {
            std::cout << std::setw(9) << iteration << "  " << energy << '\n';
        }
    }
    if (world.rank() == 0) {
        std::cout << "converged  " << energy << " Hartree, in " << std::setprecision(2)
                  << 1e3 * (MPI_Wtime() - start) / (iteration - 1)
                  << " ms for each iteration\ndifference from PySCF: " << std::scientific << std::setprecision(2)
                  << energy - from_pyscf << " Hartree" << std::endl;
    }
    return std::abs(energy - from_pyscf) < 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return ccsd(world, argc > 1 ? argv[1] : EINPARALLEL_EXAMPLE_DATA,
                    static_cast<std::size_t>(example::argument(argc, argv, 2, 30)));
    });
}
