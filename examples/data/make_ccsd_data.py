#!/usr/bin/env python3
"""Writes the input of examples/ccsd.cpp: the water molecule of make_data.py in the 6-31G basis, and PySCF's CCSD energy.

    python3 make_ccsd_data.py [FOLDER]

Needs PySCF and NumPy. Energies in Hartree.
"""

import pathlib
import sys

import numpy
import pyscf
from make_data import GEOMETRY
from pyscf import ao2mo, cc, gto, scf

BASIS = "6-31G"


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    molecule = gto.M(atom=GEOMETRY, basis=BASIS, unit="Angstrom", verbose=0)
    field = scf.RHF(molecule)
    field.conv_tol = 1e-13
    field.conv_tol_grad = 1e-10
    field.kernel()
    coupled = cc.RCCSD(field)  # all electrons: no frozen core
    coupled.conv_tol = 1e-12
    coupled.conv_tol_normt = 1e-10
    coupled.max_cycle = 200
    coupled.kernel()
    if not field.converged or not coupled.converged:
        raise SystemExit("An iteration did not converge.")

    # (pq|rs) over molecular orbitals, a row for each pair p >= q, a column for each pair r >= s.
    integrals = ao2mo.full(molecule, field.mo_coeff, aosym="s4", compact=True)
    numpy.save(folder / "ccsd_integrals.npy", numpy.ascontiguousarray(integrals, dtype=numpy.float64))
    numpy.save(folder / "ccsd_orbital_energies.npy", numpy.ascontiguousarray(field.mo_energy, dtype=numpy.float64))
    numpy.save(folder / "ccsd_energy.npy", numpy.array([coupled.e_corr], dtype=numpy.float64))
    print(f"PySCF {pyscf.__version__}, NumPy {numpy.__version__}")
    print(f"basis {BASIS}, {molecule.nao} orbitals, {molecule.nelectron // 2} occupied")
    print(f"Hartree-Fock energy     {field.e_tot:.12f} Hartree")
    print(f"CCSD correlation energy {coupled.e_corr:.12f} Hartree")


if __name__ == "__main__":
    main()
