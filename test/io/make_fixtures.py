#!/usr/bin/env python3
"""Writes the files of fixtures/ that npy_test.cpp reads: python3 make_fixtures.py, with NumPy 1.14 or newer;
and float8.safetensors, with ml_dtypes and safetensors.

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
for dtype in ("i2", "c16"):
    save(f"big_endian_{dtype}", values(f">{dtype}"))
for dtype in ("u4", "c8"):
    save(f"big_endian_{dtype}", numpy.asfortranarray(values(f">{dtype}")))
save("half", values("f2"))
save("text", numpy.array(["one", "two"]))
save("records", numpy.zeros(2, dtype=[("a", "f8"), ("b", "i4")]))


def save_float8() -> None:
    """What ml_dtypes makes of elements of 8 bits: the values of all 256 patterns, and for every pattern of a positive
    one the first float16, as bits, that is rounded to it or a later one (0x7c01: none). Signs and NaN go through."""
    import ml_dtypes
    import safetensors.numpy

    halves = numpy.arange(1 << 16, dtype=numpy.uint16).view(numpy.float16)
    tensors = {}
    for name, dtype in (("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)):
        patterns = numpy.arange(256, dtype=numpy.uint8)
        with numpy.errstate(all="ignore"):
            rounded = halves.astype(dtype).view(numpy.uint8)
            values = patterns.view(dtype).astype(numpy.float32)
        positive = rounded[:0x7C01]
        assert (numpy.diff(positive.astype(int)) >= 0).all() and (rounded[0x8000:0xFC01] == positive + 128).all()
        assert numpy.isnan(rounded.view(dtype).astype(numpy.float32))[numpy.isnan(halves)].all()
        first = numpy.searchsorted(positive, patterns[:128]).astype(numpy.uint16)
        tensors |= {name: patterns.view(dtype), name + "_values": values, name + "_first": first}
    safetensors.numpy.save_file(tensors, FOLDER / "float8.safetensors")


save_float8()
