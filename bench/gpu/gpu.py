#!/usr/bin/env python3
"""Einsums on a GPU beside torch.einsum, cuBLAS and copies on the same GPU, then rings of two ranks that share it.

    cmake --build build --target bench_gpu
    gpu.py --device PROGRAM [--launcher "mpiexec -n"] [--results FOLDER] [--budget SECONDS] [--rounds N] [--quick]

PROGRAM is what bench/gpu/device.cpp is built to. Operands rest in device memory; contenders take turns, each sample is
about 10 ms of repetitions and the wait for the last, a figure is the median of the rounds. Ratios are of speeds: above 1
ours is the faster. torch computes in the same precision, TF32 off, its results made contiguous; where Python cannot
import it, or it sees no GPU, the rival is cuBLAS' product of the same fused sizes alone. Every case is compared with the
host's result. Writes gpu.json and gpu.txt to FOLDER; cases that the budget leaves no time for are named. Ends with 0
and a sentence where there is no device, with 1 where a result is wrong.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "local"))
import cases as lists  # noqa: E402

TOLERANCE = {"float32": 4e-5, "float64": 7e-14}  # 300 roundings; TF32 would show
RING_TOLERANCE = 1e-12
QUICK_PRODUCTS = {"tccg12", "tccg14", "tccg18", "quarter-transform"}  # cut less: smaller ones would all be joins


class Ours:
    def __init__(self, program):
        self.program = program
        self.start()

    def start(self):
        self.child = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start_again(self):
        self.child.kill()
        self.child.wait()
        self.start()

    def ask(self, *words):
        try:
            self.child.stdin.write(" ".join(map(str, words)) + "\n")
            self.child.stdin.flush()
            answer = json.loads(self.child.stdout.readline() or '{"failure": "the program ended"}')
        except BrokenPipeError:
            answer = {"failure": "the program ended"}
        return answer

    def time(self, what):
        def run(repetitions):
            answer = self.ask("time", what, repetitions)
            if isinstance(answer, dict):
                raise RuntimeError(answer["failure"])
            return answer

        return run


def import_torch():
    try:
        import torch
    except ImportError as missing:
        return None, f"torch: {missing}"
    if not torch.cuda.is_available():
        return None, "torch sees no GPU"
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    return torch, f"torch {torch.__version__}"


def torch_timer(torch, dtype, subscripts, extents):
    """Seconds of one of so many repetitions, as ours: begun, and the last one done."""
    torch.manual_seed(7)
    operands = [
        torch.rand([extents[label] for label in labels], dtype=getattr(torch, dtype), device="cuda") * 2 - 1
        for labels in subscripts.split("->")[0].split(",")
    ]

    def run(repetitions):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(repetitions):
            torch.einsum(subscripts, *operands).contiguous()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / repetitions

    return run


def race(timers, rounds, sample):
    """Medians of seconds."""
    repetitions = {}
    for name, run in timers.items():
        run(1)
        repetitions[name] = max(1, min(2000, int(sample / max(run(2), 1e-7))))
    seen = {name: [] for name in timers}
    for _ in range(rounds):
        for name, run in timers.items():
            seen[name].append(run(repetitions[name]))
    return {name: statistics.median(values) for name, values in seen.items()}


def mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(value, width=0):
    return f"{value:{width}.2f}" if value is not None else f"{'–':>{width}}"


def sections(quick):
    transposed = []
    for name, order, extents in lists.PERMUTATIONS:
        labels = "abcdef"[: len(order)]
        text = labels + "->" + "".join(labels[dimension] for dimension in order)
        transposed.append((name, text, dict(zip(labels, extents))))
    all_of_them = {
        "contractions": lists.CONTRACTIONS,
        "squares": lists.SQUARES + [("square8192", "ij,jk->ik", dict(i=8192, j=8192, k=8192))],
        "transpositions": transposed,
        "attention": lists.attention(),
        "batches": lists.BATCHES,
    }
    if quick:
        cut = {key: cases if key == "contractions" else cases[:2] for key, cases in all_of_them.items()}
        all_of_them = {
            key: [(name, text, {label: min(extent, round((4e5 if name in QUICK_PRODUCTS else 3e3) ** (1 / len(extents))))
                                for label, extent in extents.items()}) for name, text, extents in cases]
            for key, cases in cut.items()
        }
    return all_of_them


def row_of(case, dtype, ours, torch, asked):
    name, text, extents = case
    row = {"case": name, "einsum": text, "type": dtype,
           **ours.ask("einsum", dtype, text, *(f"{label}={extent}" for label, extent in extents.items()))}
    if "failure" in row:
        return row
    timers = {what: ours.time(what) for what in ["einsum", "run"] + (["gemm"] if row["flop"] else ["copy"])}
    try:
        if torch:
            timers["torch"] = torch_timer(torch, dtype, text, extents)
        seconds = race(timers, asked.rounds, asked.sample)
    except Exception as failure:  # of ours, or torch's: whatever it is, the next case is tried
        return {**row, "failure": (str(failure) or repr(failure)).splitlines()[0]}
    finally:
        del timers
        if torch:
            torch.cuda.empty_cache()
    row.update({f"{what}_ms": 1e3 * taken for what, taken in seconds.items()})
    row["gb_s"] = row["bytes"] / seconds["einsum"] / 1e9
    row["gflops"] = row["flop"] / seconds["einsum"] / 1e9
    row["of_cublas"] = seconds["gemm"] / seconds["einsum"] if "gemm" in seconds else None
    row["of_copy"] = seconds["copy"] / seconds["einsum"] if "copy" in seconds else None
    row["torch_ratio"] = seconds["torch"] / seconds["einsum"] if torch else None
    row["torch_run_ratio"] = seconds["torch"] / seconds["run"] if torch else None
    return row


def table(rows, dtype, section):
    shown = [row for row in rows if row["type"] == dtype and row["section"] == section]
    if not shown:
        return ""
    text = (f"\n{section}, {dtype}\n{'case':24} {'ms':>9} {'run ms':>9} {'GFlop/s':>9} {'GB/s':>8} {'cuBLAS':>7} {'copy':>5} "
            f"{'torch':>6} {'(run)':>6}  way\n")
    for row in shown:
        if "failure" in row:
            text += f"{row['case']:24} {row['failure']}\n"
            continue
        text += (f"{row['case']:24} {row['einsum_ms']:9.4f} {row['run_ms']:9.4f} {row['gflops']:9.1f} {row['gb_s']:8.1f} "
                 f"{number(row['of_cublas'], 7)}{'*' if row['is_gemm'] else ' '}{number(row['of_copy'], 5)} {number(row['torch_ratio'], 6)} "
                 f"{number(row['torch_run_ratio'], 6)}  {row['way']}{'' if row['right'] else '  WRONG: ' + str(row['difference'])}\n")
    good = [row for row in shown if "failure" not in row]
    means = {key: mean([row[key] for row in good]) for key in ("of_cublas", "of_copy", "torch_ratio", "torch_run_ratio")}
    return text + (f"{'geometric mean':62} {number(means['of_cublas'], 7)} {number(means['of_copy'], 5)} "
                   f"{number(means['torch_ratio'], 6)} {number(means['torch_run_ratio'], 6)}\n")


def rings(asked):
    sides = [48] if asked.quick else [2048, 4096, 8192]
    command = [*shlex.split(asked.launcher), "2", asked.device, ",".join(map(str, sides)), str(asked.rounds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=asked.budget / 2, check=False)
    except subprocess.TimeoutExpired:
        return [{"failure": f"the rings did not end within {asked.budget / 2:.0f} s", "right": False}]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 and not any("failure" in row for row in rows):
        rows.append({"failure": (done.stderr.strip().splitlines() or ["the rings ended with " + str(done.returncode)])[-1]})
    for row in rows:
        hidden = re.search(r"([\d.]+)% hidden", row.get("summary", ""))
        row["hidden_percent"] = float(hidden.group(1)) if hidden else None
        row["right"] = "failure" not in row and row["difference"] <= RING_TOLERANCE
    return rows


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--device", required=True, help="the program of bench/gpu/device.cpp")
    parse.add_argument("--launcher", default="mpiexec -n")
    parse.add_argument("--results", type=pathlib.Path, help="folder of gpu.json and gpu.txt; without it they are not written")
    parse.add_argument("--budget", type=float, default=200, help="seconds for the einsums, and half as many for the rings")
    parse.add_argument("--rounds", type=int, default=5, help="whose median is taken")
    parse.add_argument("--sample", type=float, default=0.01, help="seconds of a sample")
    parse.add_argument("--quick", action="store_true", help="small extents, one round: for tests")
    asked = parse.parse_args()
    if asked.quick:
        asked.rounds, asked.sample = 1, 0.0
    ours = Ours(asked.device)
    environment = ours.ask("environment")
    if "failure" in environment:
        print(f"bench_gpu: nothing is measured: {environment['failure']}")
        return 0
    torch, rival = import_torch()
    environment["rival"] = rival if torch else f"cuBLAS alone ({rival})"
    environment["date"] = time.strftime("%Y-%m-%d")
    query = "driver_version,clocks.max.sm,clocks.max.memory"
    try:
        asking = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
        environment["driver, clocks"] = asking.stdout.strip()
    except OSError:
        pass
    report = [", ".join(f"{key} {value}" for key, value in environment.items())]
    print(report[0], flush=True)
    begin, rows, left_out, turning, figures = time.monotonic(), [], [], [], {}

    def save():  # after each table: whatever ends the program, what was measured stays
        if asked.results:
            asked.results.mkdir(parents=True, exist_ok=True)
            found = {"environment": environment, "geometric_means": figures, "einsums": rows, "rings": turning, "left_out": left_out}
            (asked.results / "gpu.json").write_text(json.dumps(found, indent=1) + "\n")
            (asked.results / "gpu.txt").write_text("\n".join(report) + "\n")

    for section, cases in sections(asked.quick).items():
        for dtype in ("float64", "float32"):
            for case in cases:
                if time.monotonic() - begin > asked.budget:
                    left_out.append(f"{case[0]} {dtype}")
                    continue
                row = {"section": section, **row_of(case, dtype, ours, torch, asked)}
                row["right"] = "failure" not in row and row["difference"] <= TOLERANCE[dtype]
                rows.append(row)
                if "failure" in row:  # an error of a device sticks to its process
                    ours.start_again()
            report.append(table(rows, dtype, section))
            print(report[-1], end="", flush=True)
            save()
    good = [row for row in rows if "failure" not in row]
    figures |= {
        "of torch, contractions, attention, batches": mean(
            [row["torch_ratio"] for row in good if row["section"] in ("contractions", "attention", "batches")]),
        "the same, plan.run": mean(
            [row["torch_run_ratio"] for row in good if row["section"] in ("contractions", "attention", "batches")]),
        "GEMM-shaped, of cuBLAS": mean([row["of_cublas"] for row in good if row["is_gemm"]]),
        "transpositions, of copies": mean([row["of_copy"] for row in good]),
    }
    report.append("\nGeometric means: " + "; ".join(f"{name} {number(value)}" for name, value in figures.items())
                  + ("\nNo time for: " + ", ".join(left_out) if left_out else ""))
    save()
    turning += rings(asked)
    report.append("\nTwo ranks on one GPU, double:\n" + "\n".join(
        row.get("failure") or f"{row['ring']:>4} ring, {row['side']:.0f}³: {row['summary']}{'' if row['right'] else '  WRONG'}"
        for row in turning))
    print("\n".join(report[-2:]))
    save()
    wrong = [row for row in rows + turning if not row["right"]]
    print(f"{len(rows)} einsums and {len(turning)} rings, {len(wrong)} of them wrong or failed")
    return 1 if wrong or not rows or not turning else 0


if __name__ == "__main__":
    sys.exit(main())
