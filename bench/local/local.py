#!/usr/bin/env python3
"""Times the local contraction, and element-wise expressions, beside their peers, in one process and on the same memory.

    local.py --ours libbench_local_ours.so [--before libbench_local_ours.so] [--eigen libbench_local_eigen.so]
             [--cases contractions,squares,...] [--only TEXT]
             [--type double,float] [--threads 1,2] [--seconds 0.2] [--rounds 5] [--unseen 12] [--seed 7] [--peers ...]

Peers: Eigen's Tensor module, TBLIS (PyPI pytblis), einsum_ir (PyPI etops) and torch.einsum (PyPI torch); the plain matrix
product of the same fused m, n, k is the best of ours, Eigen, TBLIS and OpenBLAS. Peers of the element-wise expressions
(--cases trees) are NumPy, numexpr (PyPI numexpr) and torch's eager mode (PyPI torch), of those with short rows
(--cases rows) NumPy and torch. All take turns; a figure is the median of the rounds: of the process's CPU time on one thread, of elapsed time on more. Ratios are of speeds: above 1, ours is
the faster. `before` is the same library of another commit, in turns with the others. The roof is what multiply-adds in
registers and copies of memory reach, measured in turns with all of them.
"""

import argparse
import ctypes
import itertools
import math
import os
import statistics
import subprocess
import sys
import time


def processor():
    """Name and flags of this processor."""
    name, flags = "unknown processor", set()
    try:
        with open("/proc/cpuinfo") as text:
            for line in text:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    name = value.strip()
                elif key.strip() == "flags":
                    flags = set(value.split())
    except OSError:
        pass
    return name, flags


def tell_the_processor(flags):
    """Libraries that look at the processor's model do not know all of them: say what it can do. Must precede loading."""
    if "avx512f" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
        os.environ.setdefault("BLIS_ARCH_TYPE", "0")  # skx
    elif "avx2" in flags and "sse4a" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Zen")
    elif "avx2" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


CPU, FLAGS = processor()
tell_the_processor(FLAGS)

try:
    import numpy as np
except ImportError:
    sys.exit("local.py: numpy is needed (Debian python3-numpy, or PyPI)")

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases as lists  # noqa: E402


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def ints(values):
    return (ctypes.c_int * max(len(values), 1))(*values)


def longs(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def aligned(count, dtype, fill):
    """A vector on a cache line, every element touched."""
    item = np.dtype(dtype).itemsize
    raw = np.empty(count * item + 64, np.uint8)
    start = -raw.ctypes.data % 64
    made = raw[start : start + count * item].view(dtype)
    made[:] = 0
    if fill:  # small integers: every order of summation gives the same result
        block = np.random.default_rng(count % 1000).integers(-3, 4, min(count, 1 << 20)).astype(dtype)
        for begin in range(0, count, len(block)):
            made[begin : begin + len(block)] = block[: min(len(block), count - begin)]
    return made


class Problem:
    """c = a · b with labels and extents, in row-major memory."""

    def __init__(self, name, text, extents, dtype):
        self.name, self.text, self.extents, self.dtype = name, text, extents, np.dtype(dtype)
        operands, self.c_labels = text.split("->")
        self.a_labels, self.b_labels = operands.split(",")
        a, b, c = set(self.a_labels), set(self.b_labels), set(self.c_labels)
        size = lambda labels: math.prod(extents[label] for label in labels)  # noqa: E731
        self.batch, self.m, self.n, self.k = size(a & b & c), size((a & c) - b), size((b & c) - a), size((a & b) - c)
        self.flops = 2.0 * self.batch * self.m * self.n * self.k
        counts = [size(labels) for labels in (self.a_labels, self.b_labels, self.c_labels)]
        self.bytes = self.dtype.itemsize * sum(counts)
        self.flat = [aligned(count, dtype, fill) for count, fill in zip(counts, (True, True, False))]
        self.a, self.b, self.c = (
            flat.reshape([extents[label] for label in labels])
            for flat, labels in zip(self.flat, (self.a_labels, self.b_labels, self.c_labels))
        )


# --- contenders: a function that makes a function without arguments, or None where the problem is not for it ---------


class Ours:
    def __init__(self, path, name="ours"):
        self.name = name
        self.library = ctypes.CDLL(path)
        self.library.bench_describe.restype = ctypes.c_char_p
        self.library.bench_peak.restype = ctypes.c_double
        self.library.bench_dispatch.restype = ctypes.c_double
        self.description = self.library.bench_describe().decode()

    def threads(self, count):
        self.library.bench_threads(count)

    def prepare(self, p):
        names = sorted(p.extents)
        number = {label: position for position, label in enumerate(names)}
        arguments = [p.dtype.itemsize, len(names), longs([p.extents[label] for label in names])]
        for labels, array in ((p.a_labels, p.a), (p.b_labels, p.b), (p.c_labels, p.c)):
            arguments += [len(labels), ints([number[label] for label in labels]), address(array)]
        return lambda: self.library.bench_contract(*arguments)

    def trees(self, kind="tree"):
        """(name, NumPy's form) of each element-wise expression, or of each one with short rows, as ours.cpp lists them."""
        name, form = getattr(self.library, f"bench_{kind}_name"), getattr(self.library, f"bench_{kind}_numpy")
        name.restype = form.restype = ctypes.c_char_p
        numbers = itertools.takewhile(name, itertools.count())
        return [(name(number).decode(), form(number).decode()) for number in numbers]

    def tree(self, name, form, arrays, out):
        listed = self.trees() if hasattr(self.library, "bench_tree") else []
        if (name, form) not in listed:  # a library from before
            return None
        run = self.library.bench_tree
        run.restype = None
        operands = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays.values()))
        number, count, result = listed.index((name, form)), ctypes.c_int64(out.size), address(out)
        return lambda: run(out.itemsize, number, count, operands, result)

    def rows(self, name, form, arrays, out):
        if not hasattr(self.library, "bench_rows"):  # a library from before
            return None
        run = self.library.bench_rows
        run.restype = None
        operands = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in arrays.values()))
        number = self.trees("rows").index((name, form))
        extents, result = [ctypes.c_int64(extent) for extent in arrays["x"].shape], address(out)
        return lambda: run(out.itemsize, number, *extents, operands, result)

    def gemm(self, p):
        """The plain product: no permutation, same m, n, k."""
        extents = dict(i=p.m, j=p.k, k=p.n, x=p.batch)
        names = "xijk"
        number = {label: position for position, label in enumerate(names)}
        batch = "x" if p.batch > 1 else ""
        arguments = [p.dtype.itemsize, 4, longs([extents[label] for label in names])]
        for labels, array in ((batch + "ij", p.a), (batch + "jk", p.b), (batch + "ik", p.c)):
            arguments += [len(labels), ints([number[label] for label in labels]), address(array)]
        return lambda: self.library.bench_contract(*arguments)


class Eigen:
    name = "Eigen"

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.description = "Eigen's Tensor module, -march=native"

    def threads(self, count):
        self.library.eigen_threads(count)
        self.single = count == 1

    def prepare(self, p):
        if p.batch > 1 or not self.single:  # no batches, and threads only through a device
            return None
        a_labels, b_labels, c_labels, extents = fused(p)
        summed = [label for label in a_labels if label in b_labels]
        rest = [label for label in a_labels + b_labels if label not in summed]
        arguments = [
            p.dtype.itemsize, len(a_labels), len(b_labels), len(summed),
            longs([extents[label] for label in a_labels]), longs([extents[label] for label in b_labels]),
            longs([extents[label] for label in c_labels]), ints([a_labels.index(label) for label in summed]),
            ints([b_labels.index(label) for label in summed]), ints([rest.index(label) for label in c_labels]),
            address(p.a), address(p.b), address(p.c),
        ]
        run = lambda: self.library.eigen_contract(*arguments)  # noqa: E731
        return run if run() else None

    def gemm(self, p):
        if p.batch > 64:
            return None
        step = [p.dtype.itemsize * count for count in (p.m * p.k, p.k * p.n, p.m * p.n)]
        m, n, k = (ctypes.c_int64(count) for count in (p.m, p.n, p.k))
        starts = [
            tuple(ctypes.c_void_p(array.ctypes.data + i * by) for array, by in zip((p.a, p.b, p.c), step))
            for i in range(p.batch)
        ]

        def run():
            for start in starts:
                self.library.eigen_gemm(p.dtype.itemsize, m, n, k, *start)

        return run


def fused(p):
    """Labels that are neighbours in every tensor that has them become one."""
    words = [p.a_labels, p.b_labels, p.c_labels]
    extents = dict(p.extents)
    changed = True
    while changed:
        changed = False
        for first in list(extents):
            for second in list(extents):
                having = [word for word in words if first in word or second in word]
                if first != second and having and all(first + second in word for word in having):
                    words = [word.replace(first + second, first) for word in words]
                    extents[first] *= extents.pop(second)
                    changed = True
                    break
            if changed:
                break
    return (*words, extents)


class OpenBlas:
    name = "OpenBLAS"

    def __init__(self):
        self.library = ctypes.CDLL("libopenblas.so.0")
        self.library.openblas_get_corename.restype = ctypes.c_char_p
        self.description = "OpenBLAS for " + self.library.openblas_get_corename().decode()

    def threads(self, count):
        self.library.openblas_set_num_threads(count)

    def gemm(self, p):
        if p.batch > 64:
            return None
        call, real = (
            (self.library.cblas_sgemm, ctypes.c_float) if p.dtype.itemsize == 4 else (self.library.cblas_dgemm, ctypes.c_double)
        )
        step = [p.dtype.itemsize * count for count in (p.m * p.k, p.k * p.n, p.m * p.n)]

        def run():
            for i in range(p.batch):
                a, b, c = (ctypes.c_void_p(array.ctypes.data + i * by) for array, by in zip((p.a, p.b, p.c), step))
                call(101, 111, 111, p.m, p.n, p.k, real(1), a, p.k, b, p.n, real(0), c, p.n)

        return run


class Tblis:
    name = "TBLIS"

    def __init__(self):
        import pytblis

        self.module = pytblis
        self.description = "TBLIS (pytblis)"

    def threads(self, count):
        self.module.set_num_threads(count)

    def prepare(self, p):
        return lambda: self.module.contract(p.text, p.a, p.b, out=p.c)

    def gemm(self, p):
        if p.batch > 1:
            return None
        a, b, c = p.flat[0].reshape(p.m, p.k), p.flat[1].reshape(p.k, p.n), p.flat[2].reshape(p.m, p.n)
        return lambda: self.module.contract("ij,jk->ik", a, b, out=c)


class EinsumIr:
    name = "einsum_ir"

    def __init__(self):
        import etops

        self.module = etops
        self.count = 1
        self.usable = {item: self.survives(item) for item in (4, 8)}
        self.description = f"einsum_ir (etops {etops.__version__})" + "".join(
            f", which crashes here in {name}" for item, name in ((4, "float"), (8, "double")) if not self.usable[item]
        )

    @staticmethod
    def survives(item):
        """Whether a product ends well in a process of its own: its double kernels for AVX2 corrupt memory (26.2.1)."""
        program = (
            "import sys, numpy as n; sys.path.insert(0, sys.argv[1]); import local as l\n"
            f"e = l.EinsumIr.__new__(l.EinsumIr); import etops; e.module, e.count, e.usable = etops, 1, {{{item}: True}}\n"
            f"for s in (64, 480):\n p = l.Problem('', 'ca,bc->ba', dict(a=s, b=s, c=s), 'f{item}'); r = e.prepare(p); r(); r()\n"
            " assert n.array_equal(p.c, p.b @ p.a); del p, r\n"
        )
        here = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run([sys.executable, "-c", program, here], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def threads(self, count):
        self.count = count

    def prepare(self, p):
        if not self.usable[p.dtype.itemsize]:
            return None
        e = self.module
        a_labels, b_labels, a, b = p.a_labels, p.b_labels, p.a, p.b
        if p.c_labels[-1] in set(b_labels) - set(a_labels):  # its m has the output's unit stride
            a_labels, b_labels, a, b = b_labels, a_labels, b, a

        def strides(labels):
            by, stride = {}, 1
            for label in reversed(labels):
                by[label] = stride
                stride *= p.extents[label]
            return tuple(by.get(label, 0) for label in p.extents)

        kinds = tuple(
            (e.dim.c if label in b_labels else e.dim.m) if label in a_labels and label in p.c_labels
            else e.dim.n if label in p.c_labels else e.dim.k
            for label in p.extents
        )
        config = e.TensorOperationConfig(
            data_type=e.float32 if p.dtype.itemsize == 4 else e.float64, prim_first=e.prim.zero, prim_main=e.prim.gemm,
            prim_last=e.prim.none, dim_types=kinds, exec_types=tuple(e.exec.seq for _ in kinds),
            dim_sizes=tuple(p.extents.values()), strides=((strides(a_labels), strides(b_labels), strides(p.c_labels)),),
        )
        wishes = dict(e.backend.tpp.get_default_optimization_config(), num_threads=self.count)
        try:
            operation = e.TensorOperation(e.optimize(config, wishes))
        except RuntimeError:
            return None
        return lambda: operation.execute(a, b, p.c)


class Torch:
    name = "torch"

    def __init__(self):
        import torch

        self.module = torch
        self.description = f"torch {torch.__version__}"

    def threads(self, count):
        self.module.set_num_threads(count)

    def prepare(self, p):
        a, b = self.module.from_numpy(p.a), self.module.from_numpy(p.b)
        return lambda: self.module.einsum(p.text, a, b)

    def tree(self, name, form, arrays, out):
        form = {"silu": "nn.functional.silu(x)", "x sigmoid(x)": "x * sigmoid(x)"}.get(name, form)
        tensors = {key: self.module.from_numpy(array) for key, array in arrays.items()}
        return eval(f"lambda: {form}", {**vars(self.module), **tensors})

    rows = tree


class NumPy:
    name = "NumPy"
    description = f"NumPy {np.__version__}, on one thread always"

    def threads(self, count):
        pass

    def tree(self, name, form, arrays, out):
        return eval(f"lambda: {form}", {**vars(np), **arrays})

    rows = tree


class NumExpr:
    name = "numexpr"

    def __init__(self):
        import numexpr

        self.module = numexpr
        self.description = f"numexpr {numexpr.__version__}"

    def threads(self, count):
        self.module.set_num_threads(count)

    def tree(self, name, form, arrays, out):
        self.module.evaluate(form, local_dict=arrays, out=out)
        return lambda: self.module.re_evaluate(local_dict=arrays)  # of the last expression, without compiling it again


def gather(options):
    """Ours, the peers that can be had, and the names of those that cannot."""
    makers = dict(eigen=lambda: Eigen(options.eigen), tblis=Tblis, einsum_ir=EinsumIr, numpy=NumPy, numexpr=NumExpr,
                  torch=Torch, openblas=OpenBlas)
    found, missing = [Ours(options.ours)], []
    if options.before:
        found.append(Ours(options.before, "before"))
    for peer, make in makers.items():
        if peer not in options.peers.split(","):
            continue
        if peer == "eigen" and not options.eigen:
            missing.append("Eigen")
            continue
        try:
            found.append(make())
        except Exception as reason:  # whatever an import may throw
            missing.append(f"{peer} ({str(reason).splitlines()[0][:60]})")
    return found, missing


# --- timing -----------------------------------------------------------------------------------------------------------


def clock(threads):
    return time.process_time if threads == 1 else time.perf_counter


def race(runs, seconds, rounds, now, brief=()):
    """Median seconds of each run; the runs take turns, each for about seconds / rounds at a time, or a quarter of that."""
    repeats, samples = {}, {name: [] for name in runs}
    for name, run in runs.items():
        run()
        start = now()
        run()
        once = max(now() - start, 1e-7)
        repeats[name] = max(1, int(seconds / rounds / once / (4 if name in brief else 1)))
    for _ in range(rounds):
        for name, run in runs.items():
            start = now()
            for _ in range(repeats[name]):
                run()
            samples[name].append((now() - start) / repeats[name])
    return {name: statistics.median(taken) for name, taken in samples.items()}


def mean(values):
    values = [value for value in values if value > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


class Machine:
    """What bounds every contraction: multiply-adds and bytes per second. Raced with the contenders, because a
    processor's clock follows what the other cores do."""

    def __init__(self, ours, dtype, threads):
        self.threads, self.item, self.library = threads, np.dtype(dtype).itemsize, ours.library
        self.source, self.target = aligned(2**26 // self.item, dtype, True), aligned(2**26 // self.item, dtype, False)
        self.seen = []

    def runs(self):
        return {
            "peak": lambda: self.library.bench_peak(self.item, ctypes.c_long(200000)),
            "copy": lambda: self.library.bench_copy(ctypes.c_int64(self.source.nbytes), address(self.source),
                                                    address(self.target)),
        }

    def measured(self, taken):
        """Operations per second of all threads, and bytes per second, read and written."""
        self.seen.append((self.threads * self.runs()["peak"]() / taken["peak"], 2 * self.source.nbytes / taken["copy"]))
        return self.seen[-1]


def check(p, name, expected):
    if not np.array_equal(p.flat[2][:: max(1, len(p.flat[2]) // 100000)], expected):
        print(f"  {name} computes something else in {p.name}", flush=True)


def contractions(title, problems, contenders, options, dtype, threads):
    now = clock(threads)
    peers = [each for each in contenders[1:] if hasattr(each, "prepare")]
    machine = Machine(contenders[0], dtype, threads)
    print(f"\n{title}, {np.dtype(dtype).name}, {threads} thread{'s' if threads > 1 else ''}: ratios of ours to …")
    print(f"{'case':24} {'m':>8} {'n':>6} {'k':>6} {'batch':>6} {'GFlop/s':>8} {'roof':>5} {'GEMM':>5} "
          + " ".join(f"{peer.name:>9}" for peer in peers) + f" {'best':>5}  best GEMM")
    columns = {key: [] for key in ["roof", "GEMM", "best"] + [peer.name for peer in peers]}
    flat = {key: [] for key in ["GFlop/s", "best GFlop/s"]}
    for name, text, extents in problems:
        if options.only and options.only not in name:
            continue
        p = Problem(name, text, extents, dtype)
        runs, products = {}, {}
        for each in contenders:
            run = each.prepare(p) if hasattr(each, "prepare") else None
            if run is not None:
                runs[each.name] = run
            plain = each.gemm(p) if hasattr(each, "gemm") and each.name != "before" else None
            if plain is not None and not options.no_gemm:
                products["GEMM " + each.name] = plain
        sample = slice(None, None, max(1, len(p.flat[2]) // 100000))
        runs["ours"]()
        expected = p.flat[2][sample].copy()
        for other, run in runs.items():
            if other not in ("ours", "torch"):
                p.flat[2][:] = 7
                run()
                check(p, other, expected)
        taken = race({**runs, **products, **machine.runs()}, options.seconds, options.rounds, now, machine.runs())
        ours = taken["ours"]
        speed, bandwidth = machine.measured(taken)
        ratios = {peer.name: taken[peer.name] / ours for peer in peers if peer.name in taken}
        best = min((ratio for name, ratio in ratios.items() if name != "before"), default=float("nan"))
        plain = {key: value for key, value in taken.items() if key.startswith("GEMM ")}
        quickest = min(plain, key=plain.get, default="")
        gemm = plain[quickest] / ours if plain else float("nan")
        roof = (p.flops / ours) / min(speed, p.flops / p.bytes * bandwidth)
        for key, value in dict(ratios, roof=roof, GEMM=gemm, best=best).items():
            columns[key].append(value)
        flat["GFlop/s"].append(p.flops / ours / 1e9)
        print(f"{name:24} {p.m:8} {p.n:6} {p.k:6} {p.batch:6} {p.flops / ours / 1e9:8.2f} {roof:5.2f} {gemm:5.2f} "
              + " ".join(f"{ratios[peer.name]:9.2f}" if peer.name in ratios else f"{'–':>9}" for peer in peers)
              + f" {best:5.2f}  {quickest[5:]} {p.flops / plain[quickest] / 1e9 if plain else 0:.1f}", flush=True)
        del p, runs, products
    if columns["roof"]:
        print(f"{'geometric mean':24} {'':8} {'':6} {'':6} {'':6} {mean(flat['GFlop/s']):8.2f} {mean(columns['roof']):5.2f} "
              f"{mean(columns['GEMM']):5.2f} " + " ".join(f"{mean(columns[peer.name]):9.2f}" for peer in peers)
              + f" {mean(columns['best']):5.2f}  (worst {min(columns['best'], default=0):.2f})")
        print(f"the roof, measured in turns: {mean([speed for speed, _ in machine.seen]) / 1e9:.0f} GFlop/s, "
              f"copies at {mean([bandwidth for _, bandwidth in machine.seen]) / 1e9:.1f} GB/s")


def versions(contenders):
    """The libraries of ours: this one, and the one before where it is given."""
    return {each.name: each.library for each in contenders if isinstance(each, Ours)}


def against_before(taken):
    return f"  {taken['before'] / taken['ours']:.2f} of before" if "before" in taken else ""


def general(contenders, options, dtype, threads):
    now = clock(threads)
    item = np.dtype(dtype).itemsize
    machine = Machine(contenders[0], dtype, threads)
    print(f"\nGeneral operators, {np.dtype(dtype).name}, {threads} threads: fraction of the vector-lane operations per "
          "second, two per point")
    for name, function in (("max-plus", "bench_max_plus"), ("squared distance", "bench_squared_distance")):
        for n in (256, 512, 1024):
            a, b, c = (aligned(n * n, dtype, fill) for fill in (True, True, False))
            size = ctypes.c_int64(n)
            runs = {each: lambda library=library: getattr(library, function)(item, size, address(a), address(b), address(c))
                    for each, library in versions(contenders).items()}
            taken = race({**runs, **machine.runs()}, options.seconds, options.rounds, now, machine.runs())
            speed, _ = machine.measured(taken)
            done = 2.0 * n**3 / taken["ours"]
            print(f"{name:24} {n:8} {done / 1e9:8.2f} G/s {done / (speed / 2):5.2f}{against_before(taken)}", flush=True)


def permutations(contenders, options, dtype, threads):
    now = clock(threads)
    ours, item = contenders[0].library, np.dtype(dtype).itemsize
    print(f"\nPermutations, {np.dtype(dtype).name}, {threads} threads: fraction of memcpy's bandwidth")
    fractions = []
    for name, order, extents in lists.PERMUTATIONS:
        if options.only and options.only not in name:
            continue
        count = math.prod(extents)
        source, target = aligned(count, dtype, True), aligned(count, dtype, False)
        size, way = longs(extents), ints(order)
        rank = len(order)
        runs = {each: lambda library=library: library.bench_permute(item, rank, size, way, address(source), address(target))
                for each, library in versions(contenders).items()}
        runs["ours"]()
        expected = source.reshape(extents).transpose(order)
        if not np.array_equal(target.reshape(expected.shape), expected):
            print(f"  {name}: wrong")
        taken = race({**runs,
                      "copy": lambda: ours.bench_copy(ctypes.c_int64(source.nbytes), address(source), address(target))},
                     options.seconds, options.rounds, now)
        fractions.append(taken["copy"] / taken["ours"])
        print(f"{name:24} {'x'.join(map(str, extents)):>24} {2 * source.nbytes / taken['ours'] / 1e9:7.2f} GB/s "
              f"{fractions[-1]:5.2f}{against_before(taken)}", flush=True)
    print(f"{'geometric mean':24} {'':24} {'':7}      {mean(fractions):5.2f}")


def trees(contenders, options, dtype, threads):
    now, item = clock(threads), np.dtype(dtype).itemsize
    peers = [each for each in contenders[1:] if hasattr(each, "tree")]
    print(f"\nElement-wise expressions, {np.dtype(dtype).name}, {threads} thread{'s' if threads > 1 else ''}: ratios of ours to …")
    print(f"{'case':14} {'n':>8} {'ns/elem':>8} {'GB/s':>6} " + " ".join(f"{peer.name:>9}" for peer in peers) + f" {'best':>5}")
    for n in (4096, 4 * 2**20):
        columns = {key: [] for key in ["ns", "best"] + [peer.name for peer in peers]}
        random = np.random.default_rng(options.seed)
        arrays, out = {name: aligned(n, dtype, False) for name in "xyzw"}, aligned(n, dtype, False)
        for array in arrays.values():
            array[:] = random.uniform(-2, 2, n)
        sample = slice(None, None, max(1, n // 100000))
        doubles = {name: array[sample].astype(np.float64) for name, array in arrays.items()}
        for name, form in contenders[0].trees():
            if options.only and options.only not in name:
                continue
            runs = {each.name: each.tree(name, form, arrays, out) for each in contenders if hasattr(each, "tree")}
            runs = {each: run for each, run in runs.items() if run is not None}
            expected = eval(form, {**vars(np), **doubles})
            for each, run in runs.items():
                out[:] = 7
                made = run()
                error = np.abs(np.asarray(out if made is None else made)[sample] - expected) / np.maximum(np.abs(expected), 1)
                if not error.max() < (1e-5 if item == 4 else 1e-12):
                    print(f"  {each} computes something else in {name}: relative error {error.max():.1e}", flush=True)
            taken = race(runs, options.seconds, options.rounds, now)
            ours = taken["ours"]
            ratios = {peer.name: taken[peer.name] / ours for peer in peers if peer.name in taken}
            best = min((ratio for peer, ratio in ratios.items() if peer != "before"), default=float("nan"))
            for key, value in dict(ratios, ns=1e9 * ours / n, best=best).items():
                columns[key].append(value)
            moved = item * n * (1 + sum(array in compile(form, name, "eval").co_names for array in arrays))
            print(f"{name:14} {n:8} {1e9 * ours / n:8.3f} {moved / ours / 1e9:6.1f} "
                  + " ".join(f"{ratios[peer.name]:9.2f}" if peer.name in ratios else f"{'–':>9}" for peer in peers)
                  + f" {best:5.2f}", flush=True)
        print(f"{'geometric mean':14} {n:8} {mean(columns['ns']):8.3f} {'':6} "
              + " ".join(f"{mean(columns[peer.name]):9.2f}" for peer in peers) + f" {mean(columns['best']):5.2f}", flush=True)


def short_rows(contenders, options, dtype, threads):
    now = clock(threads)
    peers = [each for each in contenders[1:] if hasattr(each, "rows")]
    print(f"\nShort rows, {np.dtype(dtype).name}, {threads} thread{'s' if threads > 1 else ''}: ratios of ours to …")
    print(f"{'case':16} {'rows':>8} {'long':>5} {'ns/elem':>8} " + " ".join(f"{peer.name:>9}" for peer in peers))
    for n, width in itertools.product((32768, 4 * 2**20), (3, 8, 16, 40)):
        count = n // width
        arrays = {name: aligned(math.prod(shape), dtype, True).reshape(shape)
                  for name, shape in (("x", (count, width)), ("a", (count,)), ("b", (width,)))}
        for name, form in contenders[0].trees("rows"):
            expected = np.asarray(eval(form, {**vars(np), **arrays}))
            out = aligned(expected.size, dtype, False).reshape(expected.shape)
            runs = {each.name: each.rows(name, form, arrays, out) for each in contenders if hasattr(each, "rows")}
            runs = {each: run for each, run in runs.items() if run is not None}
            runs["ours"]()
            if not np.allclose(out, expected, rtol=1e-4 if out.itemsize == 4 else 1e-12):
                print(f"  ours computes something else in {name}", flush=True)
            taken = race(runs, options.seconds, options.rounds, now)
            print(f"{name:16} {count:8} {width:5} {1e9 * taken['ours'] / (count * width):8.3f} "
                  + " ".join(f"{taken[peer.name] / taken['ours']:9.2f}" if peer.name in taken else f"{'–':>9}" for peer in peers),
                  flush=True)


def dispatch(contenders):
    ours = contenders[0].library
    print("\nDispatch of a 2x2 by 2x2 einsum, nanoseconds:")
    for into, name in enumerate(("C(i, k) = A(i, j) * B(j, k)", "einsum_into", "einsum, a new array")):
        print(f"{name:32} {statistics.median(ours.bench_dispatch(into, 200000) for _ in range(7)):8.1f}", flush=True)


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--ours", required=True, help="the library that the target bench_local_ours builds")
    parse.add_argument("--before", default="", help="that of another commit, which ours takes turns with")
    parse.add_argument("--eigen", default="", help="that of bench_local_eigen; without it Eigen is missing")
    parse.add_argument("--cases", default="contractions,unseen,squares,attention,chains,batches,general,permutations,trees,"
                       "rows,dispatch",
                       help="lists to run, by default all: %(default)s")
    parse.add_argument("--only", default="", help="cases whose name has this text")
    parse.add_argument("--type", default="double,float")
    parse.add_argument("--threads", default="1,2")
    parse.add_argument("--seconds", type=float, default=1.0, help="per contender and case")
    parse.add_argument("--rounds", type=int, default=5, help="whose median is printed")
    parse.add_argument("--unseen", type=int, default=12, help="random contractions")
    parse.add_argument("--seed", type=int, default=7, help="of the random ones")
    parse.add_argument("--peers", default="eigen,tblis,einsum_ir,numpy,numexpr,torch,openblas")
    parse.add_argument("--no-gemm", action="store_true", help="leave the plain product out")
    options = parse.parse_args()
    wanted = options.cases.split(",")
    contenders, missing = gather(options)
    print(f"{CPU}; ours: {contenders[0].description}; threads {options.threads}; "
          + "; ".join(each.description for each in contenders[1:]) + f"; missing: {', '.join(missing) or 'none'}")
    sections = [
        ("contractions", "Contractions", lists.CONTRACTIONS),
        ("unseen", f"Contractions from seed {options.seed}", lists.unseen(options.seed, options.unseen)),
        ("squares", "Square products", lists.SQUARES),
        ("attention", "Attention", lists.attention()),
        ("chains", "MTTKRP and TTM", lists.CHAINS),
        ("batches", "Batches", lists.BATCHES),
    ]
    unknown = set(wanted) - {key for key, _, _ in sections} - {"general", "permutations", "trees", "rows", "dispatch"}
    if unknown:
        sys.exit(f"local.py: no such cases: {', '.join(sorted(unknown))}")
    for threads in map(int, options.threads.split(",")):
        for each in contenders:
            each.threads(threads)
        for dtype in options.type.split(","):
            dtype = {"double": np.float64, "float": np.float32}[dtype]
            for key, title, problems in sections:
                if key in wanted:
                    contractions(title, problems, contenders, options, dtype, threads)
            if "general" in wanted:
                general(contenders, options, dtype, threads)
            if "permutations" in wanted:
                permutations(contenders, options, dtype, threads)
            if "trees" in wanted:
                trees(contenders, options, dtype, threads)
            if "rows" in wanted:
                short_rows(contenders, options, dtype, threads)
    if "dispatch" in wanted:
        dispatch(contenders)


if __name__ == "__main__":
    main()
