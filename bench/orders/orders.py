#!/usr/bin/env python3
"""Contraction orders beside cotengra's, on the networks of einbench (PyPI einsum-benchmark).

    orders.py --ours contraction_orders [--instances] [--json FILE ...] [--only TEXT] [--least SECONDS] [--presets]

Networks: some of every generator of einsum-benchmark, with fixed seeds; with --instances those of its collection too,
which it downloads; with --json networks in files (format_string, shapes). Shown for each: multiply-adds of our order
(log10) and seconds of the processor; the same of cotengra.HyperOptimizer(minimize="flops") in as many seconds, SECONDS
(1) at least, as it cannot end sooner; with --presets also of cotengra's preset "auto" (minimize="flops"), in the time
that it takes. A ratio is ours / theirs. All run on one processor, without a cache. Multiply-adds are counted by one
function for all. Ends with 1 where a ratio to HyperOptimizer is above 1.05.
"""

import argparse
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import cotengra
    import einsum_benchmark
except ImportError as missing:
    sys.exit(f"orders.py: {missing.name} is needed (PyPI cotengra, einsum-benchmark, optuna, networkx)")


class Network:
    """Operands, output and extents by label."""

    def __init__(self, name, text, shapes):
        self.name = name
        operands, self.output = text.replace(" ", "").split("->")
        self.operands = operands.split(",")
        self.extents = {
            label: int(extent) for operand, shape in zip(self.operands, shapes) for label, extent in zip(operand, shape)
        }

    def lines(self):
        number = {label: place for place, label in enumerate(self.extents)}
        write = lambda values: " ".join(map(str, values)) + "\n"  # noqa: E731
        labels = lambda text: write(number[label] for label in text)  # noqa: E731
        return (
            write(self.extents.values())
            + labels(self.output)
            + write([len(self.operands)])
            + "".join(map(labels, self.operands))
        )

    def multiply_adds(self, steps):
        """Of pairs of tensors: operands first, then results as they come. Labels of one tensor alone are summed before."""
        users = dict.fromkeys(self.extents, 0)
        for labels in [*map(set, self.operands), set(self.output)]:
            for label in labels:
                users[label] += 1
        tensors = [{label for label in operand if users[label] > 1} for operand in self.operands]
        total = 0
        for left, right in steps:
            joined = tensors[left] | tensors[right]
            total += math.prod(self.extents[label] for label in joined)
            for label in tensors[left] & tensors[right]:
                users[label] -= 1
            tensors.append({label for label in joined if users[label] > 1})
        return total


def generated():
    generate = einsum_benchmark.generators
    for size in ((10, 10), (20, 20), (32, 32), (5, 5, 5)):
        yield "lattice " + "x".join(map(str, size)), generate.structured.lattice(size, d_min=2, seed=1)
    for count, degree in ((40, 3), (100, 3), (200, 3), (60, 5)):
        yield f"regular {count} {degree}", generate.random.regular(count, degree, seed=1)
    for count in (20, 50, 100, 200):
        yield f"network {count}", generate.random.connected_network(count, 2.5, 4, 2, 8, seed=1)
        yield f"hypernetwork {count}", generate.random.connected_hypernetwork(
            count, 2.5, max_tensor_order=10, max_edge_order=5, number_of_output_indices=5, max_output_index_order=3,
            min_axis_size=2, max_axis_size=6, seed=2
        )
    yield "tree 100", generate.structured.tree(100, seed=1)
    yield "matrix chain 100", generate.structured.matrix_chain(100, 10, 100, True, seed=1)


def networks(asked):
    for name, (text, shapes, *_) in generated():
        yield Network(name, text, shapes)
    for path in asked.json:
        with open(path) as file:
            read = json.load(file)
        yield Network(os.path.splitext(os.path.basename(path))[0], read["format_string"], read["shapes"])
    for instance in einsum_benchmark.instances if asked.instances else ():
        yield Network(instance.name, instance.format_string, [tensor.shape for tensor in instance.tensors])


def theirs(network, search):
    start = time.process_time()
    steps = search(network).get_ssa_path()
    return network.multiply_adds(steps), time.process_time() - start


def hyper(seconds):
    def search(network):
        optimizer = cotengra.HyperOptimizer(minimize="flops", max_time=seconds, max_repeats=10**6, parallel=False)
        return optimizer.search([tuple(each) for each in network.operands], tuple(network.output), network.extents)

    return search


def preset(network):
    optimizer = cotengra.presets.AutoOptimizer(minimize="flops", cache=False, parallel=False)
    return optimizer.search([tuple(each) for each in network.operands], tuple(network.output), network.extents)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--instances", action="store_true")
    parser.add_argument("--json", nargs="*", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--least", type=float, default=1)
    parser.add_argument("--presets", action="store_true")
    asked = parser.parse_args()
    version = importlib.metadata.version
    print(f"cotengra {version('cotengra')}, einsum-benchmark {version('einsum-benchmark')}")
    print(f"{'network':44} tensors     ours        HyperOptimizer  ratio" + "        preset auto  ratio" * asked.presets)
    worst = 0
    for network in networks(asked):
        if asked.only not in network.name:
            continue
        ran = subprocess.run([asked.ours], input=network.lines(), capture_output=True, text=True, check=True)
        seconds, *numbers = ran.stdout.split()
        places = map(int, numbers)
        ours = network.multiply_adds(zip(places, places))
        line = f"{network.name:44} {len(network.operands):7} {math.log10(ours):7.3f} {float(seconds):5.2f}s"
        for search in [hyper(max(float(seconds), asked.least)), preset][: 1 + asked.presets]:
            found, took = theirs(network, search)
            ratio = ours / found
            worst = max(worst, ratio) if search is not preset else worst
            line += f" {math.log10(found):12.3f} {took:5.2f}s {ratio:6.3g}"
        print(line, flush=True)
    print(f"worst ratio to HyperOptimizer: {worst:.3f}")
    sys.exit(worst > 1.05)


if __name__ == "__main__":
    main()
