#!/usr/bin/env python3
"""The experiments of the three papers, run on this machine and simulated: tables, JSON and pictures.

    cmake --build build --target bench_papers
    python3 papers.py --run PROGRAM [--simulated PROGRAM] [--sharding PROGRAM] [--scalapack PROGRAM] [--results FOLDER]
                      [--only thesis,chain,classifier,llama,halves,scaling,sharding] [--quick] [--draw] [--simulations]
                      [--torch PYTHON] [--launcher WORDS] [--sleeping LIBRARY] [--before WORDS] [--before-others WORDS]
                      [--limit SECONDS]

Writes papers.json, papers.txt and papers_*.svg to FOLDER; with --only, what is not named is kept. --draw: from
papers.json alone. --simulations: without what is run and timed, of which the rows are kept. --before: words before each
timed command, and --before-others before all others. --limit: for one command. --torch: a Python that has PyTorch.
--sleeping: preloaded where ranks are more than cores, so that ranks that wait leave them to those that work. Published
values are sentences of the texts, which came without their plots.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).parent
# Clusters of the papers. Rates are ours: 60 % of 32 Ice Lake cores' single precision peak, 80 % of a P100's and of a
# V100's, and of its tensor cores' half precision peak, PCIe 3 x16 between GPUs.
MACHINES = {
    "16 m6in.16xlarge": "nodes=16,ranks=1,gbit=100,us=15,tflops=3",
    "4 P100": "nodes=4,ranks=1,gbit=96,us=10,tflops=7.5",
    "8 V100": "nodes=8,ranks=1,gbit=96,us=10,tflops=12",
    "8 V100, tensor cores": "nodes=8,ranks=1,gbit=96,us=10,tflops=90",
    "512 ranks": "nodes=512,ranks=1,gbit=100,us=2,tflops=1",
}
NARROW = "512x8x64x1376x4000"  # 7B's layer, an eighth as wide
CHAIN, CLASSIFIER, LLAMA = "EinDecomp,SQRT", "EinDecomp,data parallel", "EinDecomp,Megatron,sequence,attention heads"


class Experiments:
    def __init__(self, asked, experiment):
        self.asked, self.rows, self.experiment, self.said = asked, [], experiment, set()

    def call(self, command, timed=True, threads=1, ranks=1):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
        if ranks > (os.cpu_count() or 1):
            env.update(MPIR_CVAR_POLLS_BEFORE_YIELD="1", LD_PRELOAD=self.asked.sleeping)
        words = shlex.split(self.asked.before if timed else self.asked.before_others) + [str(word) for word in command]
        try:
            done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=self.asked.limit, check=False)
        except subprocess.TimeoutExpired as late:
            return (late.stdout or b"").decode(), f"did not end within {self.asked.limit} s"
        except OSError as failure:
            return "", f"'{words[0]}' cannot be started: {failure.strerror}"
        errors = done.stderr.strip().splitlines()
        return done.stdout, "" if done.returncode == 0 else errors[-1] if errors else f"ended with {done.returncode}"

    def add(self, kind, rows, failure, **known):
        """Rows of a program's JSON lines; where it failed, one that says why."""
        found = []
        for line in rows.splitlines():
            try:
                found += [json.loads(line)] if line.startswith("{") else []
            except ValueError:
                failure = failure or f"'{line[:60]} ...' is no row"
        if failure:
            found.append({"failure": failure})
        for row in found:
            self.rows.append({"experiment": self.experiment, "kind": kind, **known, **row})
            if "failure" in row and row["failure"] not in self.said:
                self.said.add(row["failure"])
                print(f"  {row.get('graph', known.get('graph', self.experiment))}: {row['failure']}", flush=True)
        return found

    def run(self, graphs, plans, ranks, rounds=5, threads=1, element="double", **known):
        if self.asked.simulations:
            return
        launcher = [*shlex.split(self.asked.launcher), ranks]
        print(f"  run {', '.join(graphs)} on {ranks}", flush=True)
        text, failure = self.call(
            [*launcher, self.asked.run, "--graph", ",".join(graphs), "--plan", plans, "--rounds", rounds,
             "--element", element],
            threads=threads, ranks=ranks,
        )
        found = self.add("run", text, failure, ranks=ranks, threads=threads, element=element, **known)
        # The same, simulated with the constants that were measured just before.
        constants = next((row for row in found if "seconds_per_flop" in row), None)
        if ranks > 1 and constants:
            cluster = (
                f"nodes={ranks},ranks=1,gbit={8e-9 / constants['seconds_per_byte']:.4f},"
                f"us={1e6 * constants['seconds_per_message']:.4f},tflops={1e-12 / constants['seconds_per_flop']:.6f},"
                f"exposed={constants['exposed']:.3f}"
            )
            ours = dict.fromkeys(row["plan"] for row in found if row.get("model") and row["plan"] not in ALONE)
            self.simulate(graphs, ",".join(ours), cluster, "beside run", ranks, element=element, kind="as run", **known)

    def simulate(self, graphs, plans, cluster, machine, ranks, element="float", kind="simulated", **known):
        if not self.asked.simulated or not plans:
            return
        for graph in graphs:
            print(f"  simulate {graph} on {ranks}", flush=True)
            text, failure = self.call(
                [self.asked.simulated, "--graph", graph, "--plan", plans, "--cluster", cluster, "--ranks", ranks,
                 "--element", element, "--json", "yes"],
                timed=False,
            )
            self.add(kind, text, failure, ranks=ranks, machine=machine, element=element, **known)

    def thesis(self, quick):
        for outers, rounds in (((2, 4), 2),) if quick else (((2, 4, 8, 12, 16, 24, 32), 7), ((48,), 2)):
            graphs = [f"thesis:{outer}" + ("x20" if quick else "") for outer in outers]
            self.run(graphs, "one rank,capacity,EinDecomp,c,mn,k,master-worker", 2, rounds)
            self.run(graphs, "EinDecomp", 1, rounds, threads=2, label="one process, all threads")

    def chain(self, quick):
        for kind in ("square", "skewed"):
            sides = (100,) if quick else (500, 1000, 1500, 2000, 2500)
            for ranks in (2,) if quick else (1, 2, 4):
                self.run([f"chain-{kind}:{side}" for side in sides], CHAIN if ranks > 1 else "EinDecomp", ranks,
                         2 if quick else 4)
                self.scalapack(kind, sides, ranks, 2 if quick else 3)
            for machine, sides in (("16 m6in.16xlarge", (5000, 10000, 20000, 40000, 80000)),
                                   ("4 P100", (2500, 5000, 10000, 20000))):
                self.simulate([f"chain-{kind}:{side}" for side in (sides[:1] if quick else sides)], CHAIN,
                              MACHINES[machine], machine, int(machine.split()[0]))

    def scalapack(self, kind, sides, ranks, rounds):
        if not self.asked.scalapack or self.asked.simulations:
            return
        command = [*shlex.split(self.asked.launcher), ranks, self.asked.scalapack, "--side", ",".join(map(str, sides)),
                   "--rounds", rounds, "--rows", 2 if ranks == 4 else 1, *(["--skewed"] if kind == "skewed" else [])]
        text, failure = self.call(command, ranks=ranks)
        for side, best, median, results in re.findall(r"i (\d+) .*ScaLAPACK ([\d.]+) / ([\d.]+) ms; .* results (\w+)", text):
            row = {"plan": "ScaLAPACK", "seconds": float(best) / 1e3, "median": float(median) / 1e3, "results": results}
            self.add("run", json.dumps(row), "", graph=f"chain-{kind}:{side}", ranks=ranks)
        self.add("run", "", failure, plan="ScaLAPACK", ranks=ranks)

    def classifier(self, quick):
        for batch in (128,) if quick else (128, 512):
            rest = "512x300" if quick else "2048x3647"  # a quarter of the paper's
            sizes = [f"{batch}x{features}x{rest}" for features in ((512,) if quick else (2048, 4096, 8192, 16384))]
            graphs, rounds = ["classifier:" + each for each in sizes], 2 if quick else 4
            self.run(graphs, "one rank,capacity," + CLASSIFIER, 2, rounds)
            self.run(graphs, "EinDecomp", 1, rounds, threads=2, label="one process, all threads")
            for ranks, name in (1, "PyTorch, one process"), (2, "PyTorch, data parallel"):
                if self.asked.torch and not self.asked.simulations:
                    text, failure = self.call([self.asked.torch, HERE / "torch_step.py", ranks, rounds, *sizes],
                                              threads=2 // ranks)
                    self.add("run", text, failure, ranks=ranks, plan=name)
            graphs = [f"classifier:{batch}x{features}" for features in ((8192,) if quick else (8192, 32768, 131072, 597540))]
            self.simulate(graphs, CLASSIFIER, MACHINES["4 P100"], "4 P100", 4)
            self.simulate(graphs, "EinDecomp", MACHINES["4 P100"], "4 P100", 1, label="one rank")

    @staticmethod
    def narrow(quick):
        return [f"llama:1x4x{sequence}x" + ("64x4x16x160x100" if quick else NARROW)
                for sequence in ((16,) if quick else (128, 256))]

    def llama(self, quick):
        for ranks in (2,) if quick else (2, 4):
            self.run(self.narrow(quick), "one rank,capacity," + LLAMA, ranks, 2 if quick else 7)
        sweeps = (("batch", [f"llama:32x{batch}x4096" for batch in (1, 2, 4, 8, 16)], (8,)),
                  ("short", ["llama:32x8x1024"], (2, 4, 8)), ("long", ["llama:32x4x4096"], (2, 4, 8)))
        for sweep, graphs, devices in (("short", ["llama:2x8x1024"], (2,)),) if quick else sweeps:
            for ranks in devices:
                self.simulate(graphs, LLAMA, MACHINES["8 V100"], "8 V100", ranks, sweep=sweep)

    def halves(self, quick):
        """Experiment 3 in half precision beside single, the same work."""
        for element in ("float", "bfloat16"):
            for ranks in (2,) if quick else (2, 4):
                self.run(self.narrow(quick), "one rank,capacity," + LLAMA, ranks, 2 if quick else 7, element=element)
            for machine in ("8 V100", "8 V100, tensor cores"):
                for graph, devices in ((("llama:2x8x1024", (2,)),) if quick else
                                       (("llama:32x8x1024", (2, 4, 8)), ("llama:32x4x4096", (2, 4, 8)))):
                    for ranks in devices:
                        self.simulate([graph], LLAMA, MACHINES[machine], machine, ranks, element=element)

    def scaling(self, quick):
        # SimGrid searches its lists of messages one by one: LLaMA on 512 ranks takes it longer than five minutes.
        for graph, most in (("product:32768", 512), ("chain-skewed:32768", 512), ("llama:2x16x2048", 64))[: 1 if quick else None]:
            for ranks in (8,) if quick else (8, 64, 512):
                if ranks <= most:
                    self.simulate([graph], "EinDecomp", MACHINES["512 ranks"], "512 ranks", ranks, element="double")

    def sharding(self, _quick):
        if self.asked.sharding:
            text, failure = self.call([self.asked.sharding], timed=False)
            self.add("plan", text, failure)


EXPERIMENTS = ("thesis", "chain", "classifier", "llama", "halves", "scaling", "sharding")
ALONE = ("one rank", "capacity")
# The placements that the text derives: operands and output.
SHARDING = {
    "ColumnParallelLinear, forward": ("Replicate", "Shard(o)", "Shard(o)"),
    "ColumnParallelLinear, grad_input": ("Shard(o)", "Shard(o)", "Partial"),
    "ColumnParallelLinear, grad_weight": ("Replicate", "Shard(o)", "Shard(o)"),
    "scaling factor, forward": ("Shard(s)", "Replicate", "Shard(s)"),
    "scaling factor, grad_input": ("Shard(s)", "Replicate", "Shard(s)"),
    "scaling factor, grad_weight": ("Shard(s)", "Shard(s)", "Partial"),
}


def size_of(row, number=0):
    return int(row.get("graph", ":0").split(":")[1].split("x")[number])


def plan_of(row):
    return row.get("label") or row.get("plan", "")


class Panel:
    """A table and a part of a picture: a figure by plan and size."""

    def __init__(self, picture, title, chosen, x, xlabel, unit="ms", y=lambda row, _others: 1e3 * row["seconds"],
                 lines=(), plans=None):
        self.picture, self.title, self.chosen, self.x, self.xlabel = picture, title, chosen, x, xlabel
        self.unit, self.y, self.lines, self.plans = unit, y, lines, plans

    def table(self, rows):
        """{plan: {x: value}}, and sentences where there is none."""
        made, why = {}, {}
        chosen = [row for row in rows if "graph" in row and self.chosen(row)]
        for row in chosen:
            others = {plan_of(each): each["seconds"] for each in chosen
                      if each["graph"] == row["graph"] and "seconds" in each}
            plan = plan_of(row)
            if plan and (self.plans is None or plan in self.plans):
                refused = row.get("failure", "")
                value = None if refused else self.y(row, others)
                made.setdefault(plan, {})[self.x(row)] = value
                if refused:
                    why[plan] = "not part of this version" if "not part of this version" in refused else refused
        return made, why


def of(experiment, kind, **known):
    return lambda row: (row["experiment"], row["kind"]) == (experiment, kind) and all(
        row.get(name) == value for name, value in known.items())


def panels():
    def share(row, others):
        return others.get("capacity", float("nan")) / row["seconds"]

    def speedup(row, others):
        return others.get("one rank", float("nan")) / row["seconds"]

    thesis = of("thesis", "run")
    ways = ("one process, all threads", "EinDecomp", "c", "mn", "k", "master-worker")
    yield Panel("thesis", "Thesis, figures 5 and 6: speed-up over one rank", thesis, size_of, "|m0| = |n0| = |k0|",
                "times", speedup, ((1.24, "both sockets, all threads (figure 1)"),), ways)
    yield Panel("thesis", "Thesis: share of two cores' capacity", thesis, size_of, "|m0| = |n0| = |k0|", "share", share,
                plans=ways)
    for kind in ("square", "skewed"):
        def chosen(row, kind=kind):
            return row.get("graph", "").startswith("chain-" + kind)
        for ranks in (1, 2, 4):
            yield Panel("chain_run" if ranks == 2 else "", f"Experiment 1, {kind}, {ranks} ranks here",
                        lambda row, c=chosen, r=ranks: of("chain", "run", ranks=r)(row) and c(row), size_of, "s")
        for machine in ("16 m6in.16xlarge", "4 P100"):
            yield Panel("chain_simulated", f"Experiment 1, {kind}, {machine}, simulated",
                        lambda row, c=chosen, m=machine: of("chain", "simulated", machine=m)(row) and c(row), size_of,
                        "s")
    for batch in (128, 512):
        def this(row, batch=batch):
            return row.get("graph", "").startswith(f"classifier:{batch}x")
        yield Panel("classifier", f"Experiment 2, batch {batch}, run, hidden layer and classes a quarter",
                    lambda row, c=this: of("classifier", "run")(row) and c(row) and row.get("plan") != "capacity",
                    lambda row: size_of(row, 1), "features")
        yield Panel("classifier", f"Experiment 2, batch {batch}, 4 P100, simulated",
                    lambda row, c=this: of("classifier", "simulated")(row) and c(row), lambda row: size_of(row, 1),
                    "features")
    for ranks in (2, 4):
        yield Panel("llama_run", f"Experiment 3, one narrow layer, {ranks} ranks here, 4 prompts",
                    lambda row, r=ranks: of("llama", "run", ranks=r)(row) and row.get("plan") != "capacity",
                    lambda row: size_of(row, 2), "tokens")
    for sweep, what, x in (("batch", "8 V100, 4096 tokens", lambda row: size_of(row, 1)),
                           ("short", "1024 tokens, 8 prompts", lambda row: row["ranks"]),
                           ("long", "4096 tokens, 4 prompts", lambda row: row["ranks"])):
        yield Panel("llama", f"Experiment 3, LLaMA-7B, {what}, simulated", of("llama", "simulated", sweep=sweep), x,
                    "prompts" if sweep == "batch" else "devices")


def cell(value):
    return "-" if value is None or value != value else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def columns(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(word.ljust(width) if number == 0 else word.rjust(width)
                                      for number, (word, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def write_tables(rows):
    text = []
    for row in rows:
        if row.get("kernels") and row["experiment"] == "thesis" and row["ranks"] == 2:
            text.append(f"Runs: {row['kernels']}; double precision; best of the rounds. Simulations: single precision.")
            break
    for panel in panels():
        made, why = panel.table(rows)
        if not made:
            continue
        sizes = sorted({x for values in made.values() for x in values})
        table = [[panel.xlabel, *map(str, sizes)]]
        for plan, values in made.items():
            table.append([plan, *(cell(values.get(x)) for x in sizes)])
        text.append(f"{panel.title} ({panel.unit})\n" + columns(table))
        text[-1] += "".join(f"\n  {plan}: {sentence}" for plan, sentence in why.items())
    scaled = [row for row in rows if row["experiment"] == "scaling" and "seconds" in row]
    if scaled:
        table = [["graph", "ranks", "seconds", "model", "efficiency", "exposed", "least exposed", "MB held", "MB of inputs"]]
        for row in scaled:
            least = max(0.0, 1 - row["efficiency"] * row["seconds"] / row["limit"])
            table.append([row["graph"], str(row["ranks"]), cell(row["seconds"]), cell(row["model"]),
                          f"{row['efficiency']:.3f}", f"{100 * row['exposed']:.1f} %", f"{100 * least:.1f} %",
                          f"{row['held'] / 1e6:.0f}", f"{row['inputs'] / 1e6:.0f}"])
        text.append("Simulated clusters of 100 Gbit/s, 2 us and 1 Tflop/s per rank, double precision\n" + columns(table))
    beside = [(run, again) for again in rows if again["kind"] == "as run" and "seconds" in again for run in rows
              if run["kind"] == "run" and "seconds" in run and not run.get("label") and
              all(run.get(name) == again.get(name) for name in ("experiment", "graph", "plan", "ranks", "element"))]
    if beside:
        table = [["graph", "plan", "ranks", "run ms", "simulated ms", "model ms", "simulated / run"]]
        for run, again in beside:
            element = run.get("element", "double")
            table.append([run["graph"] + ("" if element == "double" else ", " + element), run["plan"],
                          str(run["ranks"]), cell(1e3 * run["seconds"]), cell(1e3 * again["seconds"]), cell(1e3 * run["model"]),
                          f"{again['seconds'] / run['seconds']:.2f}"])
        text.append("Run beside simulated, with the constants of world.calibrate()\n" + columns(table))
    text += halves(rows)
    shown = [row for row in rows if row["experiment"] == "sharding" and "einsum" in row]
    if shown:
        table = [["example", "einsum", "first", "second", "output", "sent", "as in the text"]]
        for row in shown:
            published = SHARDING.get(row["example"])
            same = published == (row["first"], row["second"], row["output"])
            table.append([row["example"], row["einsum"], row["first"], row["second"], row["output"],
                          row["sent"] + (f", {row['bytes'] / 1e3:.0f} kB" if row["bytes"] else ""),
                          "not there" if published is None else "yes" if same else "NO"])
        text.append("Placements along one axis of 4 ranks (Computing sharding with einsum)\n" + columns(table))
    text += [claims(rows), defects(rows)]
    return "\n\n".join(part for part in text if part) + "\n"


def halves(rows):
    """Each plan in half precision beside itself in single precision, and where EinDecomp's cuts differ."""
    kept = ("kind", "graph", "ranks", "machine", "plan")
    known = {(*(row.get(name) for name in kept), row["element"]): row for row in rows
             if row["experiment"] == "halves" and row["kind"] in ("run", "simulated") and "seconds" in row}
    table = [["graph", "where", "ranks", "plan", "float ms", "bfloat16 ms", "seconds", "bytes sent", "held"]]
    cuts = []
    for key, half in known.items():
        single = known.get((*key[:-1], "float"))
        if half["element"] != "bfloat16" or single is None:
            continue
        kind, graph, ranks, machine, plan = key[:-1]
        ratio = lambda name: f"{half[name] / single[name]:.2f}" if single[name] else "-"
        table.append([graph, machine or "run", str(ranks), plan, cell(1e3 * single["seconds"]),
                      cell(1e3 * half["seconds"]), ratio("seconds"), ratio("bytes"), ratio("held")])
        if plan == "EinDecomp":
            same = half["cuts"] == single["cuts"]
            cuts.append(f"  {graph}, {machine or 'run'}, {ranks} ranks: " +
                        (f"{half['cuts']}, as in float" if same else f"{half['cuts']}; in float {single['cuts']}"))
    if len(table) == 1:
        return []
    return ["Experiment 3 in bfloat16 beside float: durations, and bfloat16 / float. Sums that are pending travel in "
            "float.\n" + columns(table),
            "Shares of the multiply-adds by cut, EinDecomp in bfloat16\n" + "\n".join(cuts)]


def ratios(rows, chosen, plan, to):
    """seconds of `plan` / seconds of `to`, least and largest, over what was measured of both."""
    times = {}
    for row in rows:
        if chosen(row) and "seconds" in row:
            apart = row["experiment"] in ("chain", "llama")  # else ranks are part of a plan's name
            key = (row["graph"], row.get("machine"), row.get("sweep"), row["ranks"] if apart else 0)
            times.setdefault(key, {}).setdefault(plan_of(row), row["seconds"])
    both = [each[plan] / each[to] for each in times.values() if plan in each and to in each]
    return f"{min(both):.2f} to {max(both):.2f}" if both else "-"


def claims(rows):
    """What the texts say, beside ours."""
    thesis = of("thesis", "run")
    large = lambda row: thesis(row) and size_of(row) >= 24
    here, gpus = of("chain", "run"), of("chain", "simulated", machine="4 P100")
    cpus = of("chain", "simulated", machine="16 m6in.16xlarge")
    kind = lambda chosen, word: lambda row: chosen(row) and word in row["graph"]
    train, llama = of("classifier", "run"), of("llama", "simulated")
    table = [["published (no plot was at hand: sentences)", "published", "ours", "ours is"]]
    for sentence, published, chosen, plan, to, what in (
        ("thesis, fig. 1: all threads of both sockets over one", "1.24", thesis, "one rank",
         "one process, all threads", "one process, two threads, run"),
        ("thesis, 6.2: the second socket is 5 % slower", "1.95 at most", large, "one rank", "c", "c on two ranks, outer >= 24"),
        ("thesis, 6.2: k a bit slower than m/n", "> 1", large, "k", "mn", "k / mn, outer >= 24"),
        ("EinDecomp, 9.3: SQRT / EinDecomp, skewed, GPUs", "2", kind(gpus, "skewed"), "SQRT", "EinDecomp", "simulated"),
        ("EinDecomp, 9.3: SQRT / EinDecomp, square, GPUs", "1", kind(gpus, "square"), "SQRT", "EinDecomp", "simulated"),
        ("EinDecomp, 9.3: SQRT / EinDecomp, square, CPUs", "> 1", kind(cpus, "square"), "SQRT", "EinDecomp", "simulated"),
        ("EinDecomp, 9.3: ScaLAPACK / EinDecomp", "> 1", here, "ScaLAPACK", "EinDecomp", "run"),
        ("EinDecomp, 9.3: PyTorch on several / on one", "> 1", train, "PyTorch, data parallel", "PyTorch, one process", "run"),
        ("EinDecomp, 9.3: PyTorch data parallel / EinDecomp", "> 1", train, "PyTorch, data parallel", "EinDecomp", "run"),
        ("EinDecomp, 9.3: Megatron / sequence", "> 1", llama, "Megatron", "sequence", "simulated"),
        ("EinDecomp, 9.3: Megatron / EinDecomp", ">= 1", llama, "Megatron", "EinDecomp", "simulated"),
        ("EinDecomp, 9.3: sequence / EinDecomp", ">= 1", llama, "sequence", "EinDecomp", "simulated"),
        ("EinDecomp, 9.3: attention / EinDecomp", ">= 1", llama, "attention heads", "EinDecomp", "simulated"),
    ):
        table.append([sentence, published, ratios(rows, chosen, plan, to), what])
    return "The texts' statements beside ours (ratios of durations, least and largest)\n" + columns(table)


def defects(rows):
    """Where EinDecomp's plan is slower than another by more than 5 %."""
    found, judged = [], 0
    for row in rows:
        if row["kind"] not in ("run", "simulated") or row.get("plan") != "EinDecomp" or "seconds" not in row or row.get("label"):
            continue
        for rival in rows:
            same = all(rival.get(name) == row.get(name) for name in ("experiment", "kind", "graph", "ranks", "machine", "sweep", "element"))
            if same and rival.get("plan") not in (None, "EinDecomp", "capacity", "PyTorch, one process") and "seconds" in rival:
                judged += 1
                if row["seconds"] > 1.05 * rival["seconds"] and row.get("median", 1) > 1.05 * rival.get("median", 0):
                    found.append(f"  {row['graph']}, {row['ranks']} ranks, {row.get('machine', 'run')}: "
                                 f"{row['seconds'] / rival['seconds']:.2f} times {rival['plan']}")
    return f"EinDecomp slower than another by more than 5 %: {len(found)} of {judged}" + "".join("\n" + each for each in found)


def draw(rows, folder):
    try:
        import matplotlib

        matplotlib.use("svg")
        import matplotlib.pyplot as plot
    except ImportError:
        print("No pictures: this Python has no matplotlib (pip install matplotlib, or Debian's python3-matplotlib).")
        return
    matplotlib.rcParams.update({"svg.hashsalt": "einparallel", "svg.fonttype": "none", "font.size": 8, "axes.grid": True, "grid.alpha": 0.3})
    pictures = {}
    for panel in panels():
        made = panel.table(rows)[0]
        if panel.picture and made:
            pictures.setdefault(panel.picture, []).append((panel, made))
    for name, parts in pictures.items():
        across = len(parts) if len(parts) < 4 else (len(parts) + 1) // 2
        down = (len(parts) + across - 1) // across
        figure, axes = plot.subplots(down, across, figsize=(4.6 * across, 3.4 * down), squeeze=False, layout="constrained")
        for axis, (panel, made) in zip(axes.flat, parts):
            for plan, values in made.items():
                points = sorted((x, y) for x, y in values.items() if y is not None)
                style = "--" if plan.startswith(("PyTorch", "ScaLAPACK")) else "-"
                if points:
                    axis.plot(*zip(*points), style, marker="o", markersize=3, linewidth=1.3, label=plan)
            for height, text in panel.lines:
                axis.axhline(height, color="gray", linestyle=":", label="published: " + text)
            axis.set_xscale("log", base=2)
            axis.set_xticks(*[[x for x in sorted({x for each in made.values() for x in each})]] * 2, minor=False)
            axis.minorticks_off()
            axis.set_yscale("log" if panel.unit == "ms" else "linear")
            axis.set(title=textwrap.fill(panel.title, 46), xlabel=panel.xlabel, ylabel=panel.unit)
            axis.set_ylim(bottom=None if panel.unit == "ms" else 0)
            axis.legend(fontsize=6)
        for axis in list(axes.flat)[len(parts):]:
            axis.set_visible(False)
        figure.savefig(folder / f"papers_{name}.svg", metadata={"Date": None})
        plot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in ("run", "simulated", "sharding", "scalapack"):
        parser.add_argument("--" + program, default="")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=",".join(EXPERIMENTS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--simulations", action="store_true")
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--launcher", default="mpiexec -n")
    parser.add_argument("--sleeping", default="")
    parser.add_argument("--before", default="")
    parser.add_argument("--before-others", default="")
    parser.add_argument("--limit", type=int, default=300)
    asked = parser.parse_args()
    chosen = asked.only.split(",")
    if unknown := [name for name in chosen if name not in EXPERIMENTS]:
        sys.exit(f"papers: the experiment '{unknown[0]}' is none of " + ", ".join(EXPERIMENTS))
    if not asked.draw:
        torch = shutil.which(asked.torch) and not subprocess.run([asked.torch, "-c", "import torch"], capture_output=True, check=False).returncode
        asked.torch = "" if asked.quick or not torch else asked.torch
        for program, what in (("simulated", "nothing is simulated: SimGrid was not found"),
                              ("scalapack", "no ScaLAPACK: its library was not found"), ("torch", "no PyTorch: it cannot be imported")):
            if not getattr(asked, program) and not asked.quick:
                print(f"Missing: {what}.")
    asked.results.mkdir(parents=True, exist_ok=True)
    file = asked.results / "papers.json"
    try:
        rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() and not asked.quick else []
    except ValueError as failure:
        sys.exit(f"papers: {file} cannot be read: {failure}")
    timed = ("run", "as run") if asked.simulations else ()
    for name in () if asked.draw else chosen:
        print(name, flush=True)
        made = Experiments(asked, name)
        getattr(made, name)(asked.quick)
        # After each experiment, and as a whole: what was measured stays where a later one is interrupted.
        rows = [row for row in rows if row["experiment"] != name or row["kind"] in timed] + made.rows
        file.with_suffix(".new").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
        file.with_suffix(".new").replace(file)
    text = write_tables(rows)
    print("\n" + text)
    (asked.results / "papers.txt").write_text(text, encoding="utf-8")
    draw(rows, asked.results)
    # Of the largest sum; a half that is rounded the other way is one of many.
    allowed = {"float": 1e-6, "bfloat16": 1e-3}
    wrong = [row for row in rows if not row.get("difference", 0) < allowed.get(row.get("element"), 1e-9) or
             row.get("results") == "DIFFER"]
    for row in wrong:
        print(f"Wrong: {row['graph']} as {row['plan']} on {row['ranks']} ranks is not what the first plan makes.")
    return 1 if wrong or not any("seconds" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
