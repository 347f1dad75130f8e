"""Writes the networks of bench/networks/files: python3 make.py (needs opt_einsum, for its random equations).

A file: a line with the element type and the memory limit in bytes (0: none), a line of extents by label, a line of the
output's labels, the number of tensors, and for each a line with what its elements are and its labels. The elements
follow from the number of the tensor and of the element; see elements() in networks.py and in ours.cpp.
"""

import pathlib
import random

import opt_einsum.testing

FILES = pathlib.Path(__file__).parent / "files"


class Network:
    def __init__(self):
        self.extents, self.tensors, self.output = [], [], []

    def label(self, extent):
        self.extents.append(extent)
        return len(self.extents) - 1

    def add(self, *labels, kind="hash"):
        self.tensors.append((kind, labels))

    def write(self, name, element="double", limit=0):
        lines = [f"{element} {limit}", " ".join(map(str, self.extents)), " ".join(map(str, self.output))]
        lines.append(str(len(self.tensors)))
        lines += [" ".join([kind, *map(str, labels)]) for kind, labels in self.tensors]
        (FILES / f"{name}.txt").write_text("\n".join(lines) + "\n")


def product_of_chains(length, bond, physical):
    """⟨a|b⟩ of two matrix product states."""
    net = Network()
    sites = [net.label(physical) for _ in range(length)]
    for _ in range(2):
        bonds = [net.label(bond) for _ in range(length - 1)]
        for at, site in enumerate(sites):
            net.add(*bonds[max(at - 1, 0) : at + 1], site)
    return net


def lattice(shape, bond, periodic=False, open_sides=0):
    """A tensor at each point of a grid, a label between neighbours."""
    net = Network()
    points = [()]
    for extent in shape:
        points = [point + (at,) for point in points for at in range(extent)]
    labels = {point: [] for point in points}
    for point in points:
        for axis, extent in enumerate(shape):
            if point[axis] + 1 < extent or (periodic and extent > 2):
                other = list(point)
                other[axis] = (other[axis] + 1) % extent
                edge = net.label(bond)
                labels[point].append(edge)
                labels[tuple(other)].append(edge)
    for point in points[:open_sides]:
        labels[point].append(net.label(bond))
        net.output.append(labels[point][-1])
    for point in points:
        net.add(*labels[point])
    return net


def tree(depth, bond, leaf):
    """⟨a|b⟩ of two tree tensor networks."""
    net = Network()
    leaves = [net.label(leaf) for _ in range(2**depth)]
    for _ in range(2):
        level = leaves
        while len(level) > 2:
            above = [net.label(bond) for _ in range(len(level) // 2)]
            for at, label in enumerate(above):
                net.add(level[2 * at], level[2 * at + 1], label)
            level = above
        net.add(*level)
    return net


def equation(tensors, degree, seed, outputs=0, extents=(2, 4)):
    """opt_einsum's random equations."""
    text, shapes = opt_einsum.testing.rand_equation(
        tensors, degree, n_out=outputs, d_min=extents[0], d_max=extents[1], seed=seed
    )
    net = Network()
    known = {}
    inputs, output = text.split("->")
    for subscript, shape in zip(inputs.split(","), shapes):
        for name, extent in zip(subscript, shape):
            if name not in known:
                known[name] = net.label(extent)
        net.add(*(known[name] for name in subscript))
    net.output = [known[name] for name in output]
    return net


def matrices(extents):
    net = Network()
    labels = [net.label(extent) for extent in extents]
    for left, right in zip(labels, labels[1:]):
        net.add(left, right)
    net.output = [labels[0], labels[-1]]
    return net


def hyper(tensors, labels, seed):
    """Labels in up to four tensors, some in the output as well."""
    draw = random.Random(seed)
    net = Network()
    having = [[] for _ in range(tensors)]
    for _ in range(labels):
        label = net.label(draw.choice([2, 3, 4]))
        for tensor in draw.sample(range(tensors), draw.choice([2, 2, 2, 3, 4])):
            having[tensor].append(label)
    for own in having:
        net.add(*own)
    net.output = sorted(draw.sample(sorted({label for own in having for label in own}), 3))
    return net


def circuit(rows, columns, depth, seed):
    """⟨bits| circuit |0…0⟩: layers of random single-qubit gates and of two-qubit gates along a grid's edges in turn."""
    draw = random.Random(seed)
    net = Network()
    qubits = [(row, column) for row in range(rows) for column in range(columns)]
    wire = {qubit: net.label(2) for qubit in qubits}
    for qubit in qubits:
        net.add(wire[qubit], kind="zero")
    for layer in range(depth):
        for qubit in qubits:
            after = net.label(2)
            net.add(after, wire[qubit], kind="gate")
            wire[qubit] = after
        axis, parity = layer % 2, layer // 2 % 2
        for qubit in qubits:
            other = (qubit[0] + 1, qubit[1]) if axis else (qubit[0], qubit[1] + 1)
            if qubit[axis == 0] % 2 == parity and other in wire:
                after = net.label(2), net.label(2)
                net.add(*after, wire[qubit], wire[other], kind="fsim")
                wire[qubit], wire[other] = after
    for qubit in qubits:
        net.add(wire[qubit], kind=draw.choice(["zero", "one"]))
    return net


def main():
    FILES.mkdir(exist_ok=True)
    product_of_chains(100, 64, 2).write("mps_100_bond_64")
    lattice((5, 40), 3).write("strip_5x40_bond_3")
    product_of_chains(500, 16, 2).write("mps_500_bond_16")
    lattice((6, 6), 6).write("peps_6x6_bond_6")
    lattice((10, 10), 3).write("peps_10x10_bond_3")
    lattice((16, 16), 2).write("peps_16x16_bond_2")
    lattice((3, 3, 3), 3).write("cube_3x3x3_bond_3")
    lattice((4, 4, 4), 2).write("cube_4x4x4_bond_2")
    lattice((5, 5), 4, periodic=True, open_sides=2).write("torus_5x5_bond_4")
    lattice((8, 8), 4).write("peps_8x8_bond_4_in_256_KiB", limit=256 * 1024)
    tree(6, 24, 4).write("tree_64_bond_24")
    tree(8, 10, 3).write("tree_256_bond_10")
    matrices([300, 700, 40, 900, 500, 20, 800, 600, 1000, 100, 700]).write("matrices_10")
    equation(20, 4, 1, outputs=2).write("random_20_of_degree_4")
    equation(40, 3, 2, outputs=2, extents=(2, 5)).write("random_40_of_degree_3")
    equation(100, 3, 3, extents=(2, 3)).write("random_100_of_degree_3")
    hyper(30, 40, 4).write("hyper_30")
    hyper(10, 24, 5).write("hyper_10")
    circuit(4, 5, 12, 6).write("circuit_4x5_depth_12", "complex")
    circuit(5, 6, 10, 7).write("circuit_5x6_depth_10", "complex")


if __name__ == "__main__":
    main()
