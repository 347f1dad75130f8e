#!/usr/bin/env python3
"""Writes the input of examples/mp2.cpp: a water molecule in the cc-pVDZ basis, and PySCF's own MP2 energy.

    python3 make_data.py [FOLDER]

Needs PySCF and NumPy. Everything is in atomic units (Hartree, Bohr) but the geometry, which is in Angstrom.
README.md in this folder says which versions the committed files were made with.
"""

import pathlib
import sys

import numpy
import pyscf
from pyscf import ao2mo, gto, mp, scf

# Near the experimental equilibrium (O-H 0.957 Angstrom, H-O-H 104.5 degrees).
GEOMETRY = """
O  0.00000   0.00000   0.11730
H  0.00000   0.75720  -0.46920
H  0.00000  -0.75720  -0.46920
"""
BASIS = "cc-pVDZ"


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    molecule = gto.M(atom=GEOMETRY, basis=BASIS, unit="Angstrom", verbose=0)

    field = scf.RHF(molecule)
    field.conv_tol = 1e-12
    field.conv_tol_grad = 1e-9
    field.max_cycle = 200
    field.kernel()
    if not field.converged:
        raise SystemExit("The Hartree-Fock iteration did not converge.")

    second_order = mp.MP2(field)  # all electrons: no frozen core
    correlation, _ = second_order.kernel()

    orbitals = molecule.nao
    occupied = molecule.nelectron // 2
    # (pq|rs) over atomic orbitals, all 24^4 of them: the symmetry is left in, as an einsum would meet it.
    integrals = ao2mo.restore(1, molecule.intor("int2e"), orbitals)

    numpy.save(folder / "eri.npy", numpy.ascontiguousarray(integrals, dtype=numpy.float64))
    numpy.save(folder / "mo_coefficients.npy", numpy.ascontiguousarray(field.mo_coeff, dtype=numpy.float64))
    numpy.save(folder / "mo_energies.npy", numpy.ascontiguousarray(field.mo_energy, dtype=numpy.float64))
    numpy.save(folder / "mp2_energy.npy", numpy.array([correlation], dtype=numpy.float64))
    numpy.save(folder / "occupied.npy", numpy.array([occupied], dtype=numpy.int64))

    # The same energy once more, from the files alone and in the formula that the example computes.
    c = numpy.load(folder / "mo_coefficients.npy")
    e = numpy.load(folder / "mo_energies.npy")
    ovov = numpy.einsum(
        "pqrs,pi,qa,rj,sb->iajb",
        numpy.load(folder / "eri.npy"),
        c[:, :occupied],
        c[:, occupied:],
        c[:, :occupied],
        c[:, occupied:],
        optimize=True,
    )
    i, a = e[:occupied], e[occupied:]
    denominators = i[:, None, None, None] - a[:, None, None] + i[:, None] - a
    amplitudes = ovov / denominators
    again = numpy.sum(amplitudes * (2 * ovov - ovov.transpose(0, 3, 2, 1)))

    print(f"PySCF {pyscf.__version__}, NumPy {numpy.__version__}")
    print(f"basis {BASIS}, {orbitals} orbitals, {occupied} occupied, geometry in Angstrom:{GEOMETRY.rstrip()}")
    print(f"Hartree-Fock energy     {field.e_tot:.12f} Hartree")
    print(f"MP2 correlation energy  {correlation:.12f} Hartree (PySCF)")
    print(f"the same from the files {again:.12f} Hartree, difference {again - correlation:.1e}")


if __name__ == "__main__":
    main()
