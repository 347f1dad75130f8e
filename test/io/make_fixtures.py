#!/usr/bin/env python3
"""Writes the files of fixtures/ that npy_test.cpp reads: python3 make_fixtures.py, with NumPy 1.14 or newer.

The element at flat C-order position n is n + 1 in real types, (n + 1) - (n + 1)/2 i in complex ones, and n % 3 == 0 in
bool: the test computes the same without a file.
"""

import pathlib
import warnings

import numpy
from numpy.lib import format as npy

FOLDER = pathlib.Path(__file__).parent / "fixtures"
SHAPE = (3, 4, 5)


def values(dtype: str, shape: tuple = SHAPE) -> numpy.ndarray:
    numbers = numpy.arange(int(numpy.prod(shape, dtype=int)))
    if numpy.dtype(dtype).kind == "b":
        return (numbers % 3 == 0).reshape(shape)
    if numpy.dtype(dtype).kind == "c":
        return ((numbers + 1) * (1 - 0.5j)).astype(dtype).reshape(shape)
    return (numbers + 1).astype(dtype).reshape(shape)


def save(name: str, array: numpy.ndarray, version: tuple = (1, 0)) -> None:
    with open(FOLDER / f"{name}.npy", "wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy recommends 1.0 where it is enough
        npy.write_array(file, array, version=version)


FOLDER.mkdir(exist_ok=True)
for dtype in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
    save(f"c_{dtype}", values(dtype))
for dtype in ("b1", "i2", "f4", "f8", "c16"):
    save(f"fortran_{dtype}", numpy.asfortranarray(values(dtype)))
save("version_2", values("f8"), (2, 0))
save("version_3", values("f8"), (3, 0))
save("scalar", values("f8", ()))
save("empty", values("f8", (3, 0, 2)))
save("matrix_fortran", numpy.asfortranarray(values("f8", (7, 6))))
save("big_endian", values(">f8"))
save("half", values("f2"))
save("text", numpy.array(["one", "two"]))
save("records", numpy.zeros(2, dtype=[("a", "f8"), ("b", "i4")]))
