"""One way in which ranks fall out of step, named by the first argument. Every rank writes what it met."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import mindspore as ms
import numpy as np
from harness import message
from mindspore.communication import init

from mindeval import Accuracy, distributed, wire

ms.set_device("CPU")
init()
RANK = distributed.this_rank()
metric = Accuracy(distributed=True)
metric.update(np.arange(3), np.arange(3))
metric.eval()  # connects the ranks, so that what follows is measured against the operation's timeout alone


def only_rank_0_evaluates() -> dict:
    """A metric that is evaluated under ``if rank == 0``."""
    if RANK == 0:
        began = time.monotonic()
        return {"error": message(metric.eval), "seconds": time.monotonic() - began}
    time.sleep(14)
    return {}


def only_rank_0_calls() -> dict:
    """A metric that is called under ``if rank == 0``."""
    if RANK == 0:
        began = time.monotonic()
        return {"error": message(lambda: metric(np.arange(3), np.arange(3))), "seconds": time.monotonic() - began}
    time.sleep(14)
    return {}


def a_rank_is_killed() -> dict:
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1)
    began = time.monotonic()
    error = message(metric.eval)
    return {"error": error, "again": message(metric.eval), "seconds": time.monotonic() - began}


def another_collective_meets_ours() -> dict:
    import mindspore.mint.distributed as mint

    if RANK == 1:
        words = ms.Tensor(np.ones(wire.FRAME, np.int64))
        mint.all_reduce(words)
        words.asnumpy()
        time.sleep(2)
        return {}
    return {"error": message(metric.eval), "again": message(metric.eval)}


def ranks_carry_words_differently() -> dict:
    os.environ["MINDEVAL_CARRIER"] = "float32" if RANK == 1 else "int64"
    return {"error": message(metric.eval), "again": message(metric.eval)}


if __name__ == "__main__":
    outcome = globals()[sys.argv[1]]()
    (Path(sys.argv[2]) / f"rank{RANK}.json").write_text(json.dumps(outcome))
    os._exit(0)  # a broken group must not hold the exit up
