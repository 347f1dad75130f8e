"""The networks of bench/networks/files by ep::network and by opt_einsum with NumPy, on one thread in one run: values,
and medians of the seconds that search and contraction take together.

python3 networks.py --ours PROGRAM [--only NAMES] [--times 5]. What cannot be imported is named.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

try:
    import numpy as np
    import opt_einsum
except ImportError as missing:
    sys.exit(f"networks.py: {missing.name} is missing: pip install numpy opt_einsum")

FILES = pathlib.Path(__file__).parent / "files"


def hashed(tensor, elements):
    """Numbers in [-1, 1) of two numbers, the same as in ours.cpp."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(tensor * 0x9E3779B97F4A7C15 % 2**64) + elements * np.uint64(0xD1B54A32D192ED03) + np.uint64(1)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(float) / 4503599627370496.0 - 1


def elements(kind, number, shape, dtype):
    if kind in ("zero", "one"):
        made = np.array([kind == "zero", kind == "one"])
    elif kind == "gate":
        turn, phase, other = hashed(number, np.arange(3, dtype=np.uint64)) * [1.5, 3, 3]
        made = np.array(
            [
                [np.cos(turn), -np.sin(turn) * np.exp(1j * phase)],
                [np.sin(turn) * np.exp(1j * other), np.cos(turn) * np.exp(1j * (phase + other))],
            ]
        )
    elif kind == "fsim":
        made = np.diag([1, 0, 0, np.exp(-1j * np.pi / 6)])
        made[1, 2] = made[2, 1] = -1j
    else:
        count = int(np.prod(shape, dtype=np.int64))
        made = hashed(number, np.arange(count, dtype=np.uint64)) * 3**0.5 * float(count) ** -0.25
    return made.astype(dtype).reshape(shape)


class Network:
    def __init__(self, path):
        lines = path.read_text().split("\n")
        self.name = path.stem
        element, limit = lines[0].split()
        self.limit = int(limit)
        extents = [int(extent) for extent in lines[1].split()]
        self.output = [int(label) for label in lines[2].split()]
        self.labels, self.kinds, self.tensors = [], [], []
        for number, line in enumerate(lines[4 : 4 + int(lines[3])]):
            kind, *labels = line.split()
            self.kinds.append(kind)
            self.labels.append([int(label) for label in labels])
            shape = [extents[label] for label in self.labels[-1]]
            self.tensors.append(elements(kind, number, shape, complex if element == "complex" else float))

    def contract(self, **options):
        operands = [each for pair in zip(self.tensors, self.labels) for each in pair]
        return opt_einsum.contract(*operands, self.output, **options)

    def amplitude(self):
        """Of a circuit, by its full state vector."""
        wires, state = [], np.ones(())
        result = None
        for kind, labels, tensor in zip(self.kinds, self.labels, self.tensors):
            if kind in ("zero", "one") and labels[0] not in wires:
                wires.append(labels[0])
                state = np.multiply.outer(state, tensor)
            elif kind in ("zero", "one"):
                at = wires.index(labels[0])
                state = np.tensordot(state, tensor, ([at], [0]))
                del wires[at]
            else:
                half = len(labels) // 2
                at = [wires.index(label) for label in labels[half:]]
                state = np.tensordot(tensor, state, (list(range(half, 2 * half)), at))
                wires = labels[:half] + [label for label in wires if label not in labels[half:]]
        return state


def difference(values, expected):
    return float(np.linalg.norm(np.ravel(values) - np.ravel(expected)) / np.linalg.norm(np.ravel(expected)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    print(f"numpy {np.__version__}, opt_einsum {opt_einsum.__version__}, one thread, medians of {options.times}")
    print(f"{'network':32} {'tensors':>7} {'ours':>10} {'opt_einsum':>10} {'ratio':>6} {'difference':>10}")
    failed = 0
    for path in sorted(FILES.glob("*.txt")):
        if options.only and not any(name in path.stem for name in options.only.split(",")):
            continue
        net = Network(path)
        theirs, ours = [], []
        with tempfile.NamedTemporaryFile() as result:
            for _ in range(options.times):
                start = time.perf_counter()
                expected = net.contract()
                theirs.append(time.perf_counter() - start)
                run = subprocess.run([options.ours, path, result.name, "2"], capture_output=True, text=True)
                if run.returncode != 0:
                    sys.exit(run.stderr)
                ours.append(float(run.stdout.split()[-1]))
            values = np.fromfile(result.name, dtype=net.tensors[0].dtype)
        worst = difference(values, expected)
        if "circuit_4x5" in net.name:
            worst = max(worst, difference(values, net.amplitude()))
        elif "circuit" in net.name:
            worst = max(worst, difference(values, net.contract(optimize="random-greedy")))
        ratio = statistics.median(ours) / statistics.median(theirs)
        failed += worst > 1e-10 or ratio > 1
        print(
            f"{net.name:32} {len(net.tensors):7} {statistics.median(ours):10.4g} {statistics.median(theirs):10.4g}"
            f" {ratio:6.2f} {worst:10.1e}{' limit ' + str(net.limit) if net.limit else ''}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
