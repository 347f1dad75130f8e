#!/usr/bin/env python3
"""What a translation unit pays for the library, header-only and compiled, beside Eigen.

    python3 bench/compile_time.py [--repeat 3] [--compilers g++,clang++-14] [--levels O0,O2] [--counts 1,51]
                                  [--form labels|subscripts|expressions] [--tensors] [--ways header-only,compiled]
                                  [--no-library] [--keep FOLDER]

Compiles `#include <Eigen/Dense>` alone and with one product of matrices; then, in each way to use the library,
`#include <einparallel.hpp>` alone, with one einsum (the same product), with more einsums that all differ, each in a
function of its own, and with one einsum that is decomposed and run over MPI; and last the units that a compiled library
consists of, which are built once. With `--form expressions` the einsums on arrays are element-wise, of 1 to 12 operations.

`CPU s` is what the compiler computed for, whatever else the machine does; `peak MB` is its largest resident memory,
and `object KB` the size of the object file. `x Eigen` is the ratio of CPU seconds to Eigen's unit: of an include alone
to Eigen's include alone, of all else to Eigen's product. `ms further` is what each einsum costs in CPU time beyond the
first, which also pays for what all of them share. Header-only units have g++ collect its garbage sooner, as the CMake
target has it. All units are compiled in turns, once a round; a figure is the median of the rounds, a ratio the median
of the ratios within a round, since the speed of a machine drifts. Of the library's sum, the peak is that of the
largest unit.
"""

import argparse
import dataclasses
import os
import pathlib
import random
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EIGEN_FOLDERS = ("/usr/include/eigen3", "/usr/local/include/eigen3")
LABELS = "ijklmn"
WAYS = ("header-only", "compiled")
# As the target einparallel::einparallel has it.
GCC_HEADER_ONLY = ["--param=ggc-min-heapsize=400000", "--param=ggc-min-expand=40"]
LIBRARY_UNITS = (
    "kernel",
    "products_float",
    "products_double",
    "products_complex",
    "products_integers",
    "plan",
)
LIBRARY_UNITS_MPI = ("run",)

EIGEN_INCLUDE = "#include <Eigen/Dense>\n"
EIGEN_PRODUCT = (
    EIGEN_INCLUDE
    + """
void multiply(Eigen::MatrixXd& C, const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) { C.noalias() = A * B; }
"""
)

DISTRIBUTED = """#include <einparallel.hpp>

namespace ep = einparallel;

ep::distributed<double, 2> multiply(ep::context& world, const ep::array<double, 2>& a, const ep::array<double, 2>& b) {
    EINPARALLEL_LABELS(i, j, k);
    ep::tensor<double, 2> A = ep::from_root(a, 0), B = ep::from_root(b, 0), C;
    C(i, k) = A(i, j) * B(j, k);
    ep::plan plan = ep::decompose(world, C);
    return plan.run(world);
}
"""


@dataclasses.dataclass
class Subject:
    """A unit to compile, and its figures: one of each per round."""

    title: str
    source: pathlib.Path
    flags: list[str] = dataclasses.field(default_factory=list)
    against: str = ""  # the title of Eigen's unit
    einsums: int = 0
    seconds: list[float] = dataclasses.field(default_factory=list)
    megabytes: list[float] = dataclasses.field(default_factory=list)
    kilobytes: list[float] = dataclasses.field(default_factory=list)


def einsums(count: int) -> list[tuple[str, str, str]]:
    """`count` different (X, Y, Z) of ranks up to 3, always the same ones, the matrix product first: no two are equal up
    to renaming."""
    chooser = random.Random(20)
    found = [("ij", "jk", "ik")]
    while len(found) < count:
        x = chooser.sample(LABELS, chooser.randint(1, 3))
        y = chooser.sample(LABELS, chooser.randint(1, 3))
        union = list(dict.fromkeys(x + y))
        z = chooser.sample(union, chooser.randint(0, min(3, len(union))))
        names = {label: LABELS[place] for place, label in enumerate(union)}
        renamed = tuple("".join(names[label] for label in part) for part in (x, y, z))
        if renamed not in found:
            found.append(renamed)
    return found[:count]


def expressions(count: int) -> list[str]:
    """`count` element-wise expressions of 1 to 12 operations on x, y, z and w, always the same ones: no two are equal up
    to names and numbers."""
    chooser = random.Random(20)

    def parts(operations: int, count: int) -> list[str]:
        cuts = sorted(chooser.randint(0, operations) for _ in range(count - 1))
        return [made(end - begin) for begin, end in zip([0] + cuts, cuts + [operations])]

    def made(operations: int) -> str:
        if operations == 0:
            return chooser.choice("xyzw")
        kind = chooser.choice(["unary", "infix", "infix", "infix", "pair", "where"])
        if kind == "unary":
            return f"{chooser.choice(['abs', 'exp', 'log', 'tanh', 'sqrt'])}({made(operations - 1)})"
        if kind == "where" and operations > 1:
            return "where({} > {}, {}, {})".format(*parts(operations - 2, 4))
        a, b = parts(operations - 1, 2)
        if len(b) == 1 and chooser.random() < 0.4:
            b = f"{chooser.randint(1, 9)}.5"
        if kind == "pair":
            return f"{chooser.choice(['max', 'min'])}({a}, {b})"
        return f"({a} {chooser.choice('+-*/')} {b})"

    found = {"(x + x)": "x + y"}
    while len(found) < count:
        text = made(chooser.randint(1, 12))
        found.setdefault(re.sub(r"\b[xyzw]\b", "x", re.sub(r"\d\.5", "1.5", text)), text)
    return list(found.values())


def unit(count: int, form: str, tensors: bool) -> str:
    lines = ["#include <einparallel.hpp>", "", "namespace ep = einparallel;"]
    kind = "tensor" if tensors else "array"
    if count > 0 and form == "expressions":
        lines.append("EINPARALLEL_LABELS(i);")
        operands = ", ".join(f"const ep::{kind}<double, 1>& {name}" for name in "XYZW")
        for number, text in enumerate(expressions(count)):
            call = re.sub(r"\b[xyzw]\b", lambda name: f"{name[0].upper()}(i)", text)
            lines.append(f"void expression_{number}(ep::{kind}<double, 1>& R, {operands}) {{ R(i) = {call}; }}")
        return "\n".join(lines) + "\n"
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


def mpi_flags() -> list[str] | None:
    """What a unit over MPI is compiled with, as the first MPI's compiler wrapper says; None where there is no MPI."""
    for wrapper, question in (
        ("mpicxx.mpich", "-compile_info"),
        ("mpicxx", "-compile_info"),
        ("mpicxx", "-showme:compile"),
    ):
        if not shutil.which(wrapper):
            continue
        answer = subprocess.run([wrapper, question], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            continue
        folders = [word[2:] for word in shlex.split(answer.stdout) if word.startswith("-I")]
        if any((pathlib.Path(folder) / "mpi.h").exists() for folder in folders):
            macros = ("EINPARALLEL_HAS_MPI", "MPICH_SKIP_MPICXX", "OMPI_SKIP_MPICXX")
            return [f"-D{macro}=1" for macro in macros] + [f"-I{folder}" for folder in folders]
    return None


def write_subjects(options: argparse.Namespace, folder: pathlib.Path) -> list[tuple[str, list[Subject]]]:
    """Writes the units, and returns them in groups: Eigen's first, each of the ways, the library's."""

    def written(name: str, text: str) -> pathlib.Path:
        (folder / name).write_text(text)
        return folder / name

    groups = []
    eigen = next((path for path in EIGEN_FOLDERS if pathlib.Path(path, "Eigen", "Dense").exists()), None)
    mpi = mpi_flags()
    if eigen:
        flags = ["-isystem", eigen]
        include = Subject("<Eigen/Dense>", written("eigen_include.cpp", EIGEN_INCLUDE), flags)
        product = Subject("one product", written("eigen_product.cpp", EIGEN_PRODUCT), flags)
        include.against, product.against = include.title, product.title
        groups.append(("Eigen", [include, product]))
    else:
        print("no Eigen was found: no ratios")
    if mpi is None:
        print("no MPI was found: nothing distributed")

    core = [f"-I{ROOT / 'include'}"]
    for way in options.ways:
        flags = core + (["-DEINPARALLEL_COMPILED=1"] if way == "compiled" else [])
        subjects = [Subject("<einparallel.hpp>", written("core.cpp", unit(0, "", False)), flags, "<Eigen/Dense>")]
        for count in options.counts:
            text = unit(count, options.form, options.tensors)
            title = f"{count} {'expression' if options.form == 'expressions' else 'einsum'}{'s' if count > 1 else ''}"
            subjects.append(Subject(title, written(f"einsums_{count}.cpp", text), flags, "one product", count))
        if mpi is not None:
            source = written("distributed.cpp", DISTRIBUTED)
            subjects.append(Subject("1 einsum, distributed", source, flags + mpi, "one product"))
        groups.append((way, subjects))

    if options.library:
        # As CMake builds them: they go into a shared library too.
        flags = core + ["-DEINPARALLEL_COMPILED=1", "-fPIC", "-fvisibility=hidden"]
        subjects = []
        for name in LIBRARY_UNITS + (LIBRARY_UNITS_MPI if mpi is not None else ()):
            source = written(f"library_{name}.cpp", f"#include <einparallel/source/{name}.hpp>\n")
            more = mpi if name in LIBRARY_UNITS_MPI else []
            subjects.append(Subject(f"source/{name}.hpp", source, flags + more, "one product"))
        groups.append(("the library's units", subjects))
    return groups


def measure(command: list[str], subject: Subject, output: pathlib.Path) -> None:
    """Compiles the unit once and adds the figures (of the compiler proper, not of its driver alone)."""
    command = command + subject.flags + ["-c", str(subject.source), "-o", str(output)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    # wait4 counts the process and those that it waited for.
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{shlex.join(command)} failed:\n{errors.decode(errors='replace')[:4000]}")
    subject.seconds.append(usage.ru_utime + usage.ru_stime)
    subject.megabytes.append(usage.ru_maxrss / 1024)
    subject.kilobytes.append(output.stat().st_size / 1024)


def line(subject: Subject, base: Subject | None, further: str = "") -> str:
    """The subject's medians; `base` is what its CPU seconds are divided by."""
    ratio = ""
    if base:
        ratio = f"{statistics.median(ours / theirs for ours, theirs in zip(subject.seconds, base.seconds)):.2f}"
    return (
        f"  {subject.title:<31}{statistics.median(subject.seconds):>8.2f}{statistics.median(subject.megabytes):>9.0f}"
        f"{statistics.median(subject.kilobytes):>11.0f}{ratio:>9}{further:>12}"
    ).rstrip()


def library_sum(subjects: list[Subject]) -> Subject:
    """All units of the library as one: CPU seconds and sizes add up, of the peaks the largest counts."""
    whole = Subject("sum", pathlib.Path(), against="one product")
    whole.seconds = [sum(figures) for figures in zip(*(subject.seconds for subject in subjects))]
    whole.megabytes = [max(figures) for figures in zip(*(subject.megabytes for subject in subjects))]
    whole.kilobytes = [sum(figures) for figures in zip(*(subject.kilobytes for subject in subjects))]
    return whole


def report(groups: list[tuple[str, list[Subject]]], library: bool) -> None:
    bases = {subject.title: subject for subject in groups[0][1]} if groups[0][0] == "Eigen" else {}
    print(f"  {'unit':<31}{'CPU s':>8}{'peak MB':>9}{'object KB':>11}{'x Eigen':>9}{'ms further':>12}")
    for title, subjects in groups:
        print(f" {title}")
        first = None
        for subject in subjects:
            further = ""
            if subject.einsums and first is None:
                first = subject
            elif subject.einsums:
                more = (ours - theirs for ours, theirs in zip(subject.seconds, first.seconds))
                further = f"{1000 * statistics.median(more) / (subject.einsums - first.einsums):.0f}"
            print(line(subject, bases.get(subject.against), further))
    if library:
        whole = library_sum(groups[-1][1])
        print(line(whole, bases.get(whole.against)), flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="rounds, each of all units")
    parser.add_argument("--compilers", default="g++,clang++-14")
    parser.add_argument("--levels", default="O0,O2")
    parser.add_argument("--counts", default="1,51", help="einsums in a unit; a unit with one is measured in any case")
    parser.add_argument("--form", choices=("labels", "subscripts", "expressions"), default="labels")
    parser.add_argument("--tensors", action="store_true", help="record on ep::tensor instead of running on ep::array")
    parser.add_argument("--ways", default=",".join(WAYS), help="the library's own units belong to `compiled`")
    parser.add_argument("--no-library", dest="library", action="store_false", help="leave out the library's own units")
    parser.add_argument("--keep", help="folder in which the units are kept")
    options = parser.parse_args()
    options.ways = options.ways.split(",")
    if unknown := [way for way in options.ways if way not in WAYS]:
        parser.error(f"--ways: '{unknown[0]}' is none of {', '.join(WAYS)}")
    try:
        options.counts = sorted({1} | {int(count) for count in options.counts.split(",") if count})
    except ValueError:
        parser.error(f"--counts: '{options.counts}' is no list of numbers")
    if options.repeat < 1 or options.counts[0] < 1:
        parser.error("--repeat and --counts are at least 1")
    options.library = options.library and "compiled" in options.ways
    options.compilers = [name for name in options.compilers.split(",") if shutil.which(name)]
    if not options.compilers:
        parser.error("--compilers: none of them was found")
    return options


def compare(options: argparse.Namespace, folder: pathlib.Path) -> None:
    what = "tensors" if options.tensors else "arrays"
    rounds = f"medians of {options.repeat} rounds" if options.repeat > 1 else "one round"
    print(f"{options.form} on {what}, {rounds}, {os.cpu_count()} cores")
    groups = write_subjects(options, folder)
    for compiler in options.compilers:
        answer = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
        version = answer.stdout.splitlines()[0]
        for level in options.levels.split(","):
            print(f"\n{version}, -{level}", flush=True)
            subjects = [(way, subject) for way, group in groups for subject in group]
            for _, subject in subjects:
                subject.seconds, subject.megabytes, subject.kilobytes = [], [], []
            for _ in range(options.repeat):
                for way, subject in subjects:
                    more = GCC_HEADER_ONLY if way == "header-only" and "clang" not in version else []
                    measure([compiler, "-std=c++20", f"-{level}"] + more, subject, folder / "unit.o")
            report(groups, options.library)


def main() -> None:
    options = parse()
    if options.keep:
        folder = pathlib.Path(options.keep)
        folder.mkdir(parents=True, exist_ok=True)
        compare(options, folder)
    else:
        with tempfile.TemporaryDirectory(prefix="einparallel_compile_") as folder:
            compare(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
