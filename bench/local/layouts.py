#!/usr/bin/env python3
"""Times products of two tensors in drawn layouts beside the best that is known for the same extents: no spelling slow.

    layouts.py --ours libbench_local_ours.so [--before libbench_local_ours.so] [--count 120] [--seed 64]
               [--type f8,f4,c8,i4,b2] [--cc gcc] [--rounds 7] [--worst 20]

A case is c = sum over j of a * b with labels i (of a), k (of b), j (of both) and, mostly, a batch label b of all three, and
an order of the labels for each tensor. The best of these is what ours is compared with: ours in the row-major layout
(b first, k last in b and c) and in twelve other drawn layouts; copies to that layout, ours, and a copy back; loops written
out in C, -O3 -march=native, with constant extents and strides. The best is measured again, in turns with ours; the ratio
is of their medians, above 1 where ours is faster. `bytes` is the ratio to a transposing copy of the same bytes, which is
the limit of a case with fewer than 20 operations a byte. b2 is bfloat16 in a and b, and float in c. With --before another
build of the library takes its turns, too.
"""

import argparse
import ctypes
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from local import address, ints, longs

EXTENTS = [1, 2, 3, 4, 6, 8, 12, 16, 20, 31, 64, 256, 4096, 100000]
TYPES = {
    "f8": ("double", np.float64),
    "f4": ("float", np.float32),
    "c8": ("float _Complex", np.complex64),
    "i4": ("int", np.int32),
    "b2": ("float", np.uint16),  # bits of bfloat16
}
WIDE = """static inline float wide(unsigned short x) {
    union { unsigned bits; float value; } of = {(unsigned)x << 16};
    return of.value;
}
"""
ROWS = ("bij", "bjk", "bik")


def draw(choose, dtype):
    """Extents of i, j, k and b, and the labels of a, b and c in their orders."""
    item = np.dtype(dtype).itemsize
    while True:
        size = {label: choose.choice(EXTENTS) for label in "ijk"}
        size["b"] = choose.choice(EXTENTS) if choose.random() < 0.75 else 0
        labels = [text if size["b"] else text.replace("b", "") for text in ROWS]
        points = math.prod(extent for extent in size.values() if extent)
        bytes_of = sum(math.prod(size[label] for label in text) for text in labels) * item
        if 1e5 <= points <= 2e8 and bytes_of <= 256 << 20:
            return size, tuple("".join(choose.sample(text, len(text))) for text in labels)


def loops(number, case, dtype):
    """The case as loops in C: in the order of the output, the sum innermost."""
    kind, is_half = TYPES[dtype][0], dtype == "b2"
    operand = "unsigned short" if is_half else kind
    read = lambda name, place: f"wide({name}[{place}])" if is_half else f"{name}[{place}]"  # noqa: E731
    size, (a, b, c) = case
    strides = []
    for text in (a, b, c):
        step, of = 1, {}
        for label in reversed(text):
            of[label] = step
            step *= size[label]
        strides.append(of)
    at = lambda of: " + ".join(f"{label} * {step}L" for label, step in of.items())  # noqa: E731
    lines = [f"void loops{number}(const {operand}* restrict x, const {operand}* restrict y, {kind}* restrict z) {{"]
    lines += [f"for (long {label} = 0; {label} < {size[label]}; ++{label})" for label in c]
    term = f"{read('x', at(strides[0]))} * {read('y', at(strides[1]))}"
    lines.append(f"{{ {kind} sum = 0; for (long j = 0; j < {size['j']}; ++j) sum += {term};")
    lines.append(f"z[{at(strides[2])}] = sum; }} }}")
    return "\n".join(lines)


def compiled(cases, dtype, compiler, folder):
    source, library = f"{folder}/loops.c", f"{folder}/loops.so"
    with open(source, "w", encoding="utf-8") as out:
        out.write(WIDE + "\n".join(loops(number, case, dtype) for number, case in enumerate(cases)))
    subprocess.run([compiler, "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", source, "-o", library], check=True)
    return ctypes.CDLL(library)


def once(call, least=2e-3):
    """Seconds of one call, of so many that they take `least` seconds."""
    count, begin = 0, time.perf_counter()
    while True:
        call()
        count += 1
        taken = time.perf_counter() - begin
        if taken >= least:
            return taken / count


class Library:
    def __init__(self, path):
        self.code = ctypes.CDLL(path)
        self.code.bench_product.restype = ctypes.c_bool
        self.code.bench_threads(1)

    def product(self, dtype, size, texts, arrays):
        names = "ijkb"
        extents = longs([size[label] or 1 for label in names])
        arguments = [dtype.encode(), 4, extents]
        for text, array in zip(texts, arrays):
            arguments += [len(text), ints([names.index(label) for label in text]), address(array)]
        return lambda: self.code.bench_product(*arguments)

    def permute(self, item, size, text, into, source, target):
        extents = longs([size[label] for label in text])
        order = ints([text.index(label) for label in into])
        return lambda: self.code.bench_permute(item, len(text), extents, order, address(source), address(target))


def measure(ours, before, library, number, case, dtype, choose, rounds):
    size, texts = case
    real = TYPES[dtype][1]
    count = lambda text: math.prod(size[label] for label in text)  # noqa: E731
    fill = np.random.default_rng(1)
    arrays = [fill.integers(-3, 4, max(count(text), 1)).astype(np.float32 if dtype == "b2" else real) for text in texts]
    if dtype == "b2":
        arrays[:2] = [(array.view(np.uint32) >> 16).astype(real) for array in arrays[:2]]
    other = [array.copy() for array in arrays]
    rows = [text if size["b"] else text.replace("b", "") for text in ROWS]
    item = np.dtype(real).itemsize
    contenders = {}
    mine = ours.product(dtype, size, texts, arrays)
    written = getattr(library, f"loops{number}")
    contenders["loops"] = lambda: written(*[address(array) for array in arrays[:2]], address(other[2]))
    if not mine():
        raise SystemExit(f"layouts.py: the library does not know the type {dtype}: it is older than this script")
    contenders["loops"]()
    if not np.array_equal(arrays[2], other[2]):
        raise SystemExit(f"layouts.py: {texts} of {size} in {dtype}: ours and loops differ")
    contenders["row-major"] = ours.product(dtype, size, rows, other)
    for _ in range(12):
        drawn = ["".join(choose.sample(text, len(text))) for text in texts]
        contenders[",".join(drawn)] = ours.product(dtype, size, drawn, other)
    copies = [
        ours.permute(item, size, texts[0], rows[0], arrays[0], other[0]),
        ours.permute(item, size, texts[1], rows[1], arrays[1], other[1]),
        ours.permute(arrays[2].itemsize, size, rows[2], texts[2], other[2], arrays[2]),
    ]
    product = contenders["row-major"]

    def copied():
        copies[0]()
        copies[1]()
        product()
        copies[2]()

    contenders["copies"] = copied
    best = min(contenders, key=lambda name: min(once(contenders[name]), once(contenders[name])))
    times = {"ours": [], "best": [], "copy": [], "before": []}
    calls = {"ours": mine, "best": contenders[best], "copy": lambda: [copy() for copy in copies]}
    if before is not None:
        calls["before"] = before.product(dtype, size, texts, arrays)
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(once(call))
    seconds = {name: statistics.median(values) for name, values in times.items() if values}
    flops = 2.0 * math.prod(extent for extent in size.values() if extent)
    moved = sum(array.nbytes for array in arrays)
    return {
        "type": dtype, "case": ",".join(texts), "size": size, "best": best, "ratio": seconds["best"] / seconds["ours"],
        "bytes": seconds["copy"] / seconds["ours"], "rate": flops / seconds["ours"] * 1e-9, "intensity": flops / moved,
        "before": seconds["before"] / seconds["ours"] if before is not None else None,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--before")
    parser.add_argument("--count", type=int, default=120, help="cases of each type")
    parser.add_argument("--seed", type=int, default=64)
    parser.add_argument("--type", default=",".join(TYPES))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worst", type=int, default=20)
    asked = parser.parse_args()
    ours = Library(asked.ours)
    before = Library(asked.before) if asked.before else None
    found = []
    for dtype in asked.type.split(","):
        choose = random.Random(f"{asked.seed} {dtype}")
        cases = [draw(choose, TYPES[dtype][1]) for _ in range(asked.count)]
        with tempfile.TemporaryDirectory() as folder:
            library = compiled(cases, dtype, asked.cc, folder)
            for number, case in enumerate(cases):
                found.append(measure(ours, before, library, number, case, dtype, choose, asked.rounds))
                print(f"{len(found)} of {asked.count * len(asked.type.split(','))}", end="\r", file=sys.stderr, flush=True)

    def summary(name, list_of):
        ratios = sorted(each["ratio"] for each in list_of)
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
        good = sum(ratio >= 0.7 for ratio in ratios) / len(ratios)
        as_copies = sum(max(each["ratio"], each["bytes"] if each["intensity"] < 20 else 0) >= 0.7 for each in list_of)
        text = (f"{name}: geometric mean {mean:.3f}, {100 * good:.0f} % at least .7 ({100 * as_copies / len(ratios):.0f} % or "
                f"of a copy), worst {ratios[0]:.2f}")
        if before is not None:
            gain = math.exp(statistics.fmean(math.log(each["before"]) for each in list_of))
            text += f"; {gain:.2f} times as fast as before, worst {min(each['before'] for each in list_of):.2f}"
        print(text)

    for dtype in asked.type.split(","):
        summary(dtype, [each for each in found if each["type"] == dtype])
    summary("all", found)
    found.sort(key=lambda each: each["ratio"])
    print("type  ratio  bytes  GFlop/s  flops/byte  case (i j k b)                     best")
    for each in found[: asked.worst]:
        size = " ".join(str(each["size"][label]) for label in "ijkb")
        gain = f"   {each['before']:.2f} times as fast as before" if before is not None else ""
        print(f"{each['type']}  {each['ratio']:7.2f} {each['bytes']:6.2f} {each['rate']:8.2f} {each['intensity']:8.1f}     "
              f"{each['case']} ({size})".ljust(70) + each["best"] + gain)


if __name__ == "__main__":
    main()
