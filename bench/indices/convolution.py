#!/usr/bin/env python3
"""The convolution of convolution.cpp beside PyTorch's conv2d on one thread, with oneDNN and without (PyPI torch).

Usage: convolution.py --ours PROGRAM [--rounds r]. Ours and PyTorch's take turns, program by program; a figure is the
median of the rounds, of the process's CPU time.
"""

import argparse
import os
import statistics
import subprocess
import time


def conv2d(oneDNN, last):
    """Seconds of a call, or None where PyTorch is missing."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    layout = torch.channels_last if last else torch.contiguous_format
    image = torch.rand(1, 64, 56, 56).contiguous(memory_format=layout)
    weights = torch.rand(64, 64, 3, 3).contiguous(memory_format=layout)
    with torch.inference_mode(), torch.backends.mkldnn.flags(enabled=oneDNN):
        rounds = []
        for _ in range(8):
            start = time.process_time()
            for _ in range(10):
                torch.nn.functional.conv2d(image, weights, padding=1)
            rounds.append((time.process_time() - start) / 10)
    return statistics.median(rounds[1:])


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--ours", required=True, help="the program convolution")
    parse.add_argument("--rounds", type=int, default=7)
    options = parse.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    operations = 2.0 * 64 * 64 * 9 * 56 * 56
    figures = {}
    for _ in range(options.rounds):
        text = subprocess.run([options.ours, "--rounds", "7"], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines()[1:]:
            layout, (ours, product, _) = line[:16].strip(), line[16:].split()
            figures.setdefault((layout, "ours"), []).append(float(ours))
            figures.setdefault((layout, "product"), []).append(float(product))
        for layout in ("channels first", "channels last"):
            for name, oneDNN in (("torch", False), ("oneDNN", True)):
                seconds = conv2d(oneDNN, layout == "channels last")
                if seconds is not None:
                    figures.setdefault((layout, name), []).append(operations / seconds / 1e9)
    print("64 x 56 x 56 to 64, 3 x 3, float, one thread: GFlop/s, and ratios of ours to the others")
    for layout in ("channels first", "channels last"):
        values = {name: statistics.median(each) for (where, name), each in figures.items() if where == layout}
        print(f"{layout:16}" + "".join(
            f"  {name} {value:.1f}" + ("" if name == "ours" else f" ({values['ours'] / value:.2f})")
            for name, value in values.items()))
    if ("channels first", "torch") not in figures:
        print("PyTorch is missing")


if __name__ == "__main__":
    main()
