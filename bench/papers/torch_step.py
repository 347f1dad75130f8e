"""A training step of experiment 2's classifier in PyTorch, double precision: loss and the gradients of both weights.

    python3 torch_step.py RANKS ROUNDS BATCHxFEATURESxHIDDENxCLASSES...

One process with all threads (RANKS 1), or DistributedDataParallel over gloo. Prints one JSON object for each size.
"""
import json
import sys
import tempfile
import time

import torch
import torch.distributed as dist


def steps(rank, ranks, rounds, sizes, meeting):
    torch.set_default_dtype(torch.float64)
    if ranks > 1:
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    for text in sizes:
        times = step(*map(int, text.split("x")), ranks, rounds)
        if rank == 0:
            found = {"graph": "classifier:" + text, "seconds": times[0], "median": times[len(times) // 2]}
            print(json.dumps({**found, "version": torch.__version__}), flush=True)


def step(batch, features, hidden, classes, ranks, rounds):
    """Durations, sorted."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(features, hidden, bias=False), torch.nn.ReLU(), torch.nn.Linear(hidden, classes, bias=False)
    )
    if ranks > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    X, Y = torch.rand(batch // ranks, features), torch.randint(classes, (batch // ranks,))
    seconds = []
    for _ in range(rounds + 2):
        if ranks > 1:
            dist.barrier()
        begin = time.perf_counter()
        model.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(X), Y).backward()
        longest = torch.tensor([time.perf_counter() - begin])
        if ranks > 1:
            dist.all_reduce(longest, op=dist.ReduceOp.MAX)
        seconds.append(longest.item())
    return sorted(seconds[2:])


if __name__ == "__main__":
    processes, repeated = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        if processes == 1:
            steps(0, 1, repeated, sys.argv[3:], "")
        else:
            asked = (processes, repeated, sys.argv[3:], folder + "/meeting")
            torch.multiprocessing.spawn(steps, asked, nprocs=processes)
