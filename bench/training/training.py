#!/usr/bin/env python3
"""Steps of training the classifier and the character model (bench/graphs) beside PyTorch's, on one thread.

    training.py --ours PROGRAM [--rounds r] [--quick]

In double precision the losses of 20 steps from the same start, and how far they are apart; in float the seconds of a
step, ours and PyTorch's, eager and compiled, program by program in turns: the median of the rounds, and the ratio.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {
    "classifier": ("32x8x500x48x70", ("128x24x20000x1024x10000", "512x24x20000x1024x10000")),
    "characters": ("4x24x32x4x2x40", ("8x128x256x8x4x90", "8x256x512x8x4x90")),
}


def classifier(torch, sizes, weights):
    """step(features, classes) -> loss."""
    W, V = (each.requires_grad_() for each in weights)

    def loss_of(features, classes):
        hidden = torch.nn.functional.embedding_bag(features, W, mode="sum").relu()
        return torch.nn.functional.cross_entropy(hidden @ V, classes)

    return loss_of, torch.optim.SGD([W, V], lr=0.5)


def characters(torch, sizes, weights):
    batch, context, width, heads, layers, alphabet = sizes
    weights = [each.requires_grad_() for each in weights]
    mask = torch.tril(torch.ones(context, context, dtype=torch.bool))

    def normalized(x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)

    def loss_of(text, following):
        x = weights[0][text] + weights[1]
        for layer in range(layers):
            w = weights[2 + 6 * layer:8 + 6 * layer]
            y = normalized(x)
            q, k, v = ((y @ w[each]).view(batch, context, heads, -1).transpose(1, 2) for each in range(3))
            scores = (q @ k.transpose(-1, -2)) / math.sqrt(width // heads)
            seen = torch.softmax(scores.masked_fill(~mask, -1e9), -1) @ v
            x = x + seen.transpose(1, 2).reshape(batch, context, width) @ w[3]
            x = x + torch.nn.functional.gelu(normalized(x) @ w[4]) @ w[5]
        logits = normalized(x) @ weights[-1]
        return torch.nn.functional.cross_entropy(logits.reshape(-1, alphabet), following.reshape(-1))

    return loss_of, torch.optim.Adam(weights, lr=0.003, betas=(0.9, 0.99))


def peer(model, text, steps, folder, compiled):
    """Losses and seconds of PyTorch's steps, as a program of its own."""
    import numpy
    import torch
    torch.set_num_threads(1)

    def load(name):
        return torch.from_numpy(numpy.load(f"{folder}/{name}.npy"))

    sizes = [int(each) for each in text.split("x")]
    count = 2 if model == "classifier" else 3 + 6 * sizes[4]
    loss_of, optimizer = globals()[model](torch, sizes, [load(f"start{each}") for each in range(count)])
    loss_of = torch.compile(loss_of) if compiled else loss_of
    losses, seconds = [], []
    for step in range(steps):
        given = load(f"first{step}").long(), load(f"second{step}").long()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*given)
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
        losses.append(loss.item())
    print(json.dumps({"losses": losses, "seconds": statistics.median(seconds)}))


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--ours", required=True, help="the program of ours.cpp")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--quick", action="store_true", help="losses only, and the smaller sizes")
    parse.add_argument("--peer", nargs=5, help=argparse.SUPPRESS)
    options = parse.parse_args()
    if options.peer:
        model, text, steps, folder, compiled = options.peer
        peer(model, text, int(steps), folder, compiled == "compiled")
        return 0
    os.environ["OMP_NUM_THREADS"] = "1"

    def torch_steps(model, text, steps, folder, how):
        return run([sys.executable, __file__, "--ours", options.ours, "--peer", model, text, str(steps), folder, how])

    apart = 0
    for model, (small, large) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            ours = run([options.ours, model, small, "double", "20", folder])["losses"]
            theirs = torch_steps(model, small, 20, folder, "eager")["losses"]
        difference = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
        apart = max(apart, difference)
        print(f"{model} {small}, double, 20 steps: losses {ours[0]:.6f} to {ours[-1]:.6f}, "
              f"apart from PyTorch's by {difference:.1e}")
        for text in large[:1 if options.quick else None]:
            figures = {"ours": [], "eager": [], "compiled": []}
            steps = 8
            for _ in range(1 if options.quick else options.rounds):
                with tempfile.TemporaryDirectory() as folder:
                    figures["ours"].append(run([options.ours, model, text, "float", str(steps), folder])["seconds"])
                    for how in ("eager", "compiled"):
                        figures[how].append(torch_steps(model, text, steps, folder, how)["seconds"])
            seconds = {who: statistics.median(each) for who, each in figures.items()}
            print(f"{model} {text}, float, one thread: a step in {seconds['ours'] * 1e3:.1f} ms; " + ", ".join(
                f"PyTorch {how} {seconds[how] * 1e3:.1f} ({seconds[how] / seconds['ours']:.2f} x as long)"
                for how in ("eager", "compiled")))
    return 0 if apart < 1e-10 else 1


if __name__ == "__main__":
    sys.exit(main())
