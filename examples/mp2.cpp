// The MP2 correlation energy of a water molecule in the cc-pVDZ basis, from integrals on disk to one number.
//
//     mpiexec -n 4 mp2 [FOLDER [DRAWING]]
//
// FOLDER holds the .npy files that data/README.md describes. The plan goes into the file DRAWING, for Graphviz.
// With --device the ranks compute on GPUs, where there are any.
//
// With (ia|jb) the two-electron integrals over molecular orbitals, i and j occupied, a and b virtual,
//
//     E = Σ (ia|jb) · (2 (ia|jb) − (ib|ja)) / (e_i + e_j − e_a − e_b).

#include "example.hpp"

#include <einparallel.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

namespace ep = einparallel;

namespace {

/// A small file, whole, on every rank. Planned and run like any other tensor, so that a file which only one rank cannot
/// read is an error on all of them.
template <class T, std::size_t Rank>
ep::array<T, Rank> read(ep::context& world, const std::string& path) {
    return ep::evaluate(world, ep::load_npy<T, Rank>(path)).allgather();
}

/// True where the energy is PySCF's and the plan foretold every byte.
bool mp2(ep::context& world, const std::string& folder, const std::string& drawing) {
    // Orbitals come in the order of their energies: first the occupied ones, then the virtual ones.
    const auto coefficients = read<double, 2>(world, folder + "/mo_coefficients.npy");
    const auto energies = read<double, 1>(world, folder + "/mo_energies.npy");
    const auto from_pyscf = read<double, 1>(world, folder + "/mp2_energy.npy")(0);
    const auto occupied = read<std::int64_t, 1>(world, folder + "/occupied.npy")(0);
    const auto basis = coefficients.extent(0);
    const auto virtuals = coefficients.extent(1) - occupied;

    // The columns of the coefficients that belong to either kind: views of the array, nothing is copied.
    const ep::view<const double, 2> c_occupied(coefficients.data(), {basis, occupied}, coefficients.strides());
    const ep::view<const double, 2> c_virtual(coefficients.data() + occupied, {basis, virtuals},
                                              coefficients.strides());
    const ep::view<const double, 1> e_occupied(energies.data(), {occupied});
    const ep::view<const double, 1> e_virtual(energies.data() + occupied, {virtuals});

    // The inputs of the graph. Every rank reads its own part of the large file; the small ones rank 0 hands out.
    const auto ao = ep::load_npy<double, 4>(folder + "/eri.npy").named("(pq|rs)");
    const auto C_o = ep::from_root(c_occupied, 0).named("C_o");
    const auto C_v = ep::from_root(c_virtual, 0).named("C_v");
    const auto e_o = ep::from_root(e_occupied, 0).named("e_o");
    const auto e_v = ep::from_root(e_virtual, 0).named("e_v");

    // From atomic to molecular orbitals, one index at a time, an occupied one first: it shrinks the tensor most.
    EINPARALLEL_LABELS(p, q, r, s, i, a, j, b);
    ep::tensor<double, 4> iqrs, iars, iajs, iajb;
    iqrs(i, q, r, s) = C_o(p, i) * ao(p, q, r, s);
    iars(i, a, r, s) = C_v(q, a) * iqrs(i, q, r, s);
    iajs(i, a, j, s) = C_o(r, j) * iars(i, a, r, s);
    iajb(i, a, j, b) = C_v(s, b) * iajs(i, a, j, s);

    // One join of five operands, and a sum over everything that is left.
    ep::tensor<double, 4> t;
    ep::tensor<double, 0> E;
    t(i, a, j, b) = iajb(i, a, j, b) / (e_o(i) + e_o(j) - e_v(a) - e_v(b));
    E() = t(i, a, j, b) * (2.0 * iajb(i, a, j, b) - iajb(i, b, j, a));

    // Names for the table.
    iqrs.named("(iq|rs)");
    iars.named("(ia|rs)");
    iajs.named("(ia|js)");
    iajb.named("(ia|jb)");
    t.named("t");
    E.named("E");

    // For a molecule this small the default objective, time, rightly leaves the last steps to one rank: messages would
    // take longer than the arithmetic. Asked for the fewest bytes among plans that occupy every rank, the planner cuts
    // all of them, as it does for a larger molecule.
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, E);
    if (world.rank() == 0) {
        std::cout << plan << '\n';
        if (!drawing.empty()) {
            std::ofstream(drawing) << plan.to_dot();
        }
    }

    const ep::results run = example::run_plan(world, plan);
    const double energy = run.get(E).allgather().value();
    const bool as_predicted = example::moved_as_predicted(world, plan, run);
    if (world.rank() == 0) {
        std::cout << "MP2 correlation energy: " << std::fixed << std::setprecision(12) << energy << " Hartree\n"
                  << "difference from PySCF: " << std::scientific << std::setprecision(2) << energy - from_pyscf
                  << " Hartree" << std::endl;
    }
    return as_predicted && std::abs(energy - from_pyscf) < 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return mp2(world, argc > 1 ? argv[1] : EINPARALLEL_EXAMPLE_DATA, argc > 2 ? argv[2] : "");
    });
}
