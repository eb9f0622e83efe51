"""Collectives and milliseconds of evaluating 1, 8 and 24 metrics on several ranks of this machine.

    python benchmarks/sync.py          # needs the extra [bench]; a few minutes on two cores

Three ways take turns in the same processes: a `MetricCollection`, one AllReduce for each state through the same
transport, and torchmetrics over gloo. Every metric is a multi-class accuracy with another `top_k`. Each way starts
when all ranks are there; its time is that of the slowest rank. Updates are not timed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "distributed")]

METRICS = [1, 8, 24]
CLASSES, ROWS = 50, 64
WAYS = ["mindeval", "one AllReduce a state", "torchmetrics, gloo"]


class Counter:
    """Counts the calls of functions that it is put in front of."""

    def __init__(self) -> None:
        self.calls = 0

    def of(self, function: Callable) -> Callable:
        def counted(*arguments, **named):
            self.calls += 1
            return function(*arguments, **named)

        return counted


def rank_main(gloo_port: int, repetitions: int, output: Path) -> None:
    """One rank: measures all ways for each number of metrics; rank 0 writes the rows."""
    import mindspore as ms
    import torch
    import torch.distributed
    from mindspore.communication import init

    from mindeval import distributed
    from mindeval.communicator import MindSporeCommunicator

    torch.set_num_threads(1)
    ms.set_device("CPU")
    init()
    rank, world = distributed.this_rank(), distributed.world_size()
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{gloo_port}", rank=rank, world_size=world
    )
    ours, theirs = Counter(), Counter()
    communicator = MindSporeCommunicator()
    MindSporeCommunicator.all_reduce = ours.of(MindSporeCommunicator.all_reduce)
    for name in ("all_gather", "all_reduce", "barrier"):
        setattr(torch.distributed, name, theirs.of(getattr(torch.distributed, name)))
    random = np.random.default_rng(rank)
    batch = random.normal(size=(ROWS, CLASSES)).astype(np.float32), random.integers(0, CLASSES, ROWS)

    rows = []
    for count in METRICS:
        ways = [
            (our_collection(count, batch), ours),
            (state_by_state(count, batch, communicator), ours),
            (their_collection(count, batch), theirs),
        ]
        seconds: list[list[float]] = [[] for _ in ways]
        calls = [0] * len(ways)
        for repetition in range(repetitions + 1):  # the first one connects the ranks
            for place, (evaluate, counter) in enumerate(ways):
                work = evaluate()
                communicator.all_reduce(np.zeros(1, np.int64))
                before, began = counter.calls, time.perf_counter()
                work()
                took, calls[place] = time.perf_counter() - began, counter.calls - before
                slowest = np.zeros(world, np.int64)
                slowest[rank] = int(took * 1e9)
                if repetition:
                    seconds[place].append(int(communicator.all_reduce(slowest).max()) / 1e9)
        for place, way in enumerate(WAYS):
            middle, least = statistics.median(seconds[place]), min(seconds[place])
            rows.append([world, count, way, calls[place], middle * 1000, least * 1000])
    if rank == 0:
        output.write_text(json.dumps(rows))
    torch.distributed.destroy_process_group()


# Each gives a function that prepares an evaluation and returns the work to be timed.


def our_collection(count: int, batch: tuple) -> Callable[[], Callable]:
    from mindeval import Accuracy, MetricCollection

    metrics = MetricCollection({f"top{k}": Accuracy(top_k=k) for k in range(1, count + 1)}, distributed=True)
    metrics.update(*batch)
    return lambda: metrics.eval


def state_by_state(count: int, batch: tuple, communicator) -> Callable[[], Callable]:
    from mindeval import Accuracy

    metrics = [Accuracy(top_k=k) for k in range(1, count + 1)]
    for metric in metrics:
        metric.update(*batch)

    def evaluate() -> None:
        for metric in metrics:
            for state in metric._states.values():
                communicator.all_reduce(state.pack(communicator.world))

    return lambda: evaluate


def their_collection(count: int, batch: tuple) -> Callable[[], Callable]:
    import torch
    from torchmetrics import MetricCollection
    from torchmetrics.classification import MulticlassAccuracy

    metrics = MetricCollection(
        {f"top{k}": MulticlassAccuracy(CLASSES, top_k=k, average="micro") for k in range(1, count + 1)}
    )
    scores, labels = (torch.from_numpy(part) for part in batch)

    def prepared() -> Callable:
        metrics.reset()  # a second compute() without an update answers from memory
        metrics.update(scores, labels)
        return metrics.compute

    return prepared


def machine() -> str:
    """What the numbers were measured on."""
    from importlib.metadata import version

    models = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().split("\n") if "model name" in line
    ]
    versions = ", ".join(f"{name} {version(name)}" for name in ("mindspore", "numpy", "torch", "torchmetrics"))
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores of {models[0] if models else platform.machine()}, load {load:.1f} before; {versions}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--worlds", type=int, nargs="+", default=[2, 4], help="numbers of ranks")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    from launcher import free_port, launch

    from mindeval.display import text_table

    print(machine(), flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="sync-") as folder:
        for world in options.worlds:
            output = Path(folder) / f"{world}.json"
            arguments = ["--rank", str(free_port()), str(options.repetitions), str(output)]
            launch(world, Path(__file__), arguments, Path(folder) / f"logs{world}", deadline=600, operation_timeout=120)
            rows += json.loads(output.read_text())
    cells = [
        [str(world), str(count), way, str(calls), f"{middle:.1f}", f"{least:.1f}"]
        for world, count, way, calls, middle, least in rows
    ]
    print(text_table(["ranks", "metrics", "way", "collectives", "ms (median)", "ms (least)"], cells))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        rank_main(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main())
