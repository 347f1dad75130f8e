#!/usr/bin/env python3
"""Tokens a second of a LLaMA checkpoint beside PyTorch, on the same random weights, in turns.

    python3 llama.py LLAMA_RUN MPIEXEC [--widths 512,1024,2048] [--types float32,bfloat16] [--tokens S] [--steps N]
                     [--device LLAMA_RUN_WITH_CUDA]

Per width and type: one rank and two with one thread each, PyTorch (eager, and compiled where a compiler works) with one
thread. `sum` is the share of what a sum over as many bytes with as many threads reads a second. With a program for
devices one rank on its device, too, and PyTorch on it. Needs NumPy and PyTorch for the checkpoints and the comparison.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
LAYERS = {512: 16, 1024: 8, 2048: 4}


def torch_line(folder, tokens, steps, rounds, compiled, device):
    """Least seconds of a prefill and of a step; run in a process of its own."""
    import torch

    sys.path.insert(0, str(HERE))
    import checkpoint

    torch.set_num_threads(1)
    torch.set_default_device(device)
    finish = torch.cuda.synchronize if device == "cuda" else lambda: None
    config = json.loads((folder / "config.json").read_text())
    dtype = getattr(torch, config["torch_dtype"])
    model = checkpoint.Model(config, checkpoint.random_weights(config, dtype), dtype)
    step = torch.compile(model.__call__, dynamic=False) if compiled else model
    capacity = -(-(tokens + steps) // 64) * 64
    prompt = torch.tensor([[at * 7919 % config["vocab_size"] for at in range(tokens)]])
    prefills, decoding = [], []
    with torch.no_grad():
        for round_ in range(rounds + 1):
            cache = model.cache(1, capacity)
            begin = time.perf_counter()
            token = step(prompt, torch.arange(tokens), cache).argmax(-1, keepdim=True)
            finish()
            prefill = time.perf_counter() - begin
            taken = []
            for at in range(steps):
                begin = time.perf_counter()
                token = step(token, torch.tensor([tokens + at]), cache).argmax(-1, keepdim=True)
                finish()
                taken.append(time.perf_counter() - begin)
            if round_ > 0:  # the first compiles
                prefills.append(prefill)
                decoding += taken
    print(json.dumps({"prefill_tokens_per_s": tokens / min(prefills), "decoding_tokens_per_s": 1 / min(decoding),
                      "decoding_median_s": statistics.median(decoding)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=pathlib.Path)
    parser.add_argument("mpiexec", nargs="?", default="mpiexec.mpich")
    parser.add_argument("--widths", default="512,1024,2048")
    parser.add_argument("--types", default="float32,bfloat16")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torch", type=pathlib.Path, help="a folder: PyTorch alone")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--device", type=pathlib.Path, help="the program of LLAMA_RUN that runs on devices")
    parser.add_argument("--on", default="cpu", help="where PyTorch runs: cpu, cuda")
    asked = parser.parse_args()
    if asked.torch is not None:
        return torch_line(asked.torch, asked.tokens, asked.steps, asked.rounds, asked.compiled, asked.on)
    counts = [f"--{name}={getattr(asked, name)}" for name in ("tokens", "steps", "rounds")]
    ours = [word for name in ("tokens", "steps", "rounds") for word in (f"--{name}", str(getattr(asked, name)))]
    environment = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

    def line(command):
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr[-400:], file=sys.stderr)
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None

    print(f"{'width':>6} {'type':>9} {'program':>18} {'prefill/s':>10} {'tokens/s':>9} {'GB/s':>6} {'of sum':>7}")
    for width in map(int, asked.widths.split(",")):
        for type_ in asked.types.split(","):
            with tempfile.TemporaryDirectory() as folder:
                sizes = dict(width=width, neurons=width * 11 // 4, layers=LAYERS.get(width, 4), heads=width // 64,
                             groups=max(width // 256, 1), depth=64, vocabulary=8192, positions=1024)
                made = [f"--{name}={value}" for name, value in sizes.items()]
                line([sys.executable, HERE / "checkpoint.py", folder, "--type", type_, *made])
                programs = {f"{ranks} rank{'s' * (ranks > 1)}": [asked.mpiexec, "-n", ranks, asked.run, folder, *ours]
                            for ranks in (1, 2)}
                torch = [sys.executable, __file__, "--torch", folder, *counts]
                programs |= {"PyTorch": torch, "PyTorch compiled": [*torch, "--compiled"]}
                if asked.device is not None:
                    programs["1 device"] = [asked.mpiexec, "-n", 1, asked.device, folder, *ours, "--device", 1]
                    programs["PyTorch, device"] = [*torch, "--on", "cuda"]
                for name, command in programs.items():
                    if (found := line(command)) is None:
                        print(f"{width:>6} {type_:>9} {name:>18}   did not run", flush=True)
                        continue
                    share = ""
                    if "sum_GB_per_s" in found:
                        share = f" {found['weights_GB_per_s']:>6.1f} {found['weights_GB_per_s'] / found['sum_GB_per_s']:>7.2f}"
                    print(f"{width:>6} {type_:>9} {name:>18} {found['prefill_tokens_per_s']:>10.0f} "
                          f"{found['decoding_tokens_per_s']:>9.1f}{share}", flush=True)
    return None


if __name__ == "__main__":
    main()
