#!/usr/bin/env python3
"""What a translation unit pays for the library: seconds and peak memory of the compiler.

    python3 bench/compile_time.py [--repeat 3] [--compilers g++,clang++-14] [--levels O0,O2] [--counts 1,50,200]
                                  [--form labels|subscripts] [--tensors] [--keep FOLDER]

Compiles `#include <einparallel.hpp>` alone, then units with 1, 50 and 200 different einsums of two operands, each in a
function of its own, and prints medians. `CPU s` is what the compiler itself computed for: on a machine that does nothing
else it is `seconds`, on a busy one it is the figure to compare. `ms further` is what each einsum costs in CPU time beyond
the first one, which also pays for what all of them share. <Eigen/Core>, where it is installed, stands beside them as a
measure.
"""

import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LABELS = "ijklmn"


def einsums(count: int) -> list[tuple[str, str, str]]:
    """`count` different (X, Y, Z) of ranks up to 3, always the same ones: no two are equal up to renaming."""
    chooser = random.Random(20)
    seen: set[str] = set()
    found = []
    while len(found) < count:
        x = chooser.sample(LABELS, chooser.randint(1, 3))
        y = chooser.sample(LABELS, chooser.randint(1, 3))
        union = list(dict.fromkeys(x + y))
        z = chooser.sample(union, chooser.randint(0, min(3, len(union))))
        names = {label: LABELS[place] for place, label in enumerate(union)}
        renamed = tuple("".join(names[label] for label in part) for part in (x, y, z))
        if ",".join(renamed) not in seen:
            seen.add(",".join(renamed))
            found.append(renamed)
    return found


def unit(count: int, form: str, tensors: bool) -> str:
    lines = ["#include <einparallel.hpp>", "", "namespace ep = einparallel;"]
    kind = "tensor" if tensors else "array"
    if count > 0 and form == "labels":
        lines.append(f"EINPARALLEL_LABELS({', '.join(LABELS)});")
    for number, (x, y, z) in enumerate(einsums(count)):
        operands = f"const ep::{kind}<double, {len(x)}>& X, const ep::{kind}<double, {len(y)}>& Y"
        if form == "labels":
            call = f"Z({', '.join(z)}) = X({', '.join(x)}) * Y({', '.join(y)});"
        elif tensors:
            call = f'Z = ep::einsum<"{x},{y}->{z}">(X, Y);'
        else:
            call = f'ep::einsum_into<"{x},{y}->{z}">(Z, X, Y);'
        lines.append(f"void einsum_{number}(ep::{kind}<double, {len(z)}>& Z, {operands}) {{ {call} }}")
    return "\n".join(lines) + "\n"


def measure(command: list[str], repeat: int) -> tuple[float, float, float]:
    """Medians of seconds, CPU seconds and peak MB (of the compiler proper, not of its driver alone)."""
    seconds = []
    computing = []
    memory = []
    for _ in range(repeat):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        # wait4 counts the process and those that it waited for.
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - start)
        computing.append(usage.ru_utime + usage.ru_stime)
        memory.append(usage.ru_maxrss / 1024)
        if status != 0:
            sys.exit(f"{' '.join(command)} failed:\n{errors.decode(errors='replace')[:4000]}")
    return statistics.median(seconds), statistics.median(computing), statistics.median(memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--compilers", default="g++,clang++-14,clang++")
    parser.add_argument("--levels", default="O0,O2")
    parser.add_argument("--counts", default="1,50,200")
    parser.add_argument("--form", choices=("labels", "subscripts"), default="labels")
    parser.add_argument("--tensors", action="store_true", help="record on ep::tensor instead of running on ep::array")
    parser.add_argument("--keep", help="folder in which the units are kept")
    options = parser.parse_args()

    compilers = [name for name in options.compilers.split(",") if shutil.which(name)]
    if "clang++-14" in compilers and "clang++" in compilers:
        compilers.remove("clang++")
    counts = [int(count) for count in options.counts.split(",")]
    folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="einparallel_compile_"))
    folder.mkdir(parents=True, exist_ok=True)
    eigen = next((path for path in ("/usr/include/eigen3", "/usr/local/include/eigen3") if pathlib.Path(path).exists()), None)

    subjects = []
    if eigen:
        (folder / "eigen.cpp").write_text("#include <Eigen/Core>\n")
        subjects.append(("<Eigen/Core>", "eigen.cpp", 0))
    for count in [0] + counts:
        name = f"einsums_{count}.cpp"
        (folder / name).write_text(unit(count, options.form, options.tensors))
        subjects.append((f"{count} einsum{'s' if count != 1 else ''}" if count else "<einparallel.hpp>", name, count))

    what = "tensors" if options.tensors else "arrays"
    print(f"{options.form} on {what}, medians of {options.repeat}, core alone, {os.cpu_count()} cores")
    for compiler in compilers:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        for level in options.levels.split(","):
            print(f"\n{version}, -{level}")
            print(f"  {'unit':<20}{'seconds':>9}{'CPU s':>9}{'peak MB':>9}{'ms further':>12}")
            first = None
            for title, name, count in subjects:
                command = [compiler, "-std=c++20", f"-{level}", f"-I{ROOT / 'include'}"]
                command += ["-isystem", eigen] if eigen else []
                command += ["-c", str(folder / name), "-o", str(folder / "unit.o")]
                seconds, computing, megabytes = measure(command, options.repeat)
                each = ""
                if count and first is None:
                    first = (count, computing)
                elif count:
                    each = f"{1000 * (computing - first[1]) / (count - first[0]):.0f}"
                print(f"  {title:<20}{seconds:>9.2f}{computing:>9.2f}{megabytes:>9.0f}{each:>12}", flush=True)
    if not options.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
