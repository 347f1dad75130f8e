"""A training step of experiment 2's classifier in PyTorch, double precision: loss and the gradients of both weights.

    python3 torch_step.py BATCH FEATURES HIDDEN CLASSES RANKS ROUNDS

One process with all threads (RANKS 1), or DistributedDataParallel over gloo. Prints one JSON object.
"""
import json
import sys
import tempfile
import time

import torch
import torch.distributed as dist


def step(rank, batch, features, hidden, classes, ranks, rounds, meeting, pipe):
    if ranks > 1:
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    model = torch.nn.Sequential(
        torch.nn.Linear(features, hidden, bias=False), torch.nn.ReLU(), torch.nn.Linear(hidden, classes, bias=False)
    )
    if ranks > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    share = batch // ranks
    X, Y = torch.rand(share, features), torch.randint(classes, (share,))
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
    if rank == 0:
        pipe.put(sorted(seconds[2:]))


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:7]]
    results = torch.multiprocessing.get_context("spawn").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        if sizes[4] == 1:
            step(0, *sizes, "", results)
        else:
            torch.multiprocessing.spawn(step, (*sizes, folder + "/meeting", results), nprocs=sizes[4])
    times = results.get()
    print(json.dumps({"seconds": times[0], "median": times[len(times) // 2], "version": torch.__version__}))
