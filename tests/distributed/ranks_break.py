"""One way in which two ranks fall out of step, named by the first argument. Every rank writes what it met.

A rank's own collective can return before its words have left the process, so no rank ends, or is killed, before the
other has told it by a file that it has what it needs.
"""

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
RANK, FOLDER = distributed.this_rank(), Path(sys.argv[2])
metric = Accuracy(distributed=True)
metric.update(np.arange(3), np.arange(3))
metric.eval()  # connects the ranks, so that what follows is measured against the operation's timeout alone


def wait_for(name: str) -> None:
    """Wait for a file in the folder, which another rank writes."""
    end = time.monotonic() + 600
    while not (FOLDER / name).exists():
        assert time.monotonic() < end, f"{name} never came"
        time.sleep(0.05)


def only_rank_0_evaluates() -> dict:
    """A metric that is evaluated under ``if rank == 0``."""
    if RANK == 0:
        began = time.monotonic()
        return {"error": message(metric.eval), "seconds": time.monotonic() - began}
    wait_for("rank0.json")
    return {}


def only_rank_0_calls() -> dict:
    """A metric that is called under ``if rank == 0``."""
    if RANK == 0:
        began = time.monotonic()
        return {"error": message(lambda: metric(np.arange(3), np.arange(3))), "seconds": time.monotonic() - began}
    wait_for("rank0.json")
    return {}


def a_rank_is_killed() -> dict:
    if RANK == 1:
        wait_for("connected")
        os.kill(os.getpid(), signal.SIGKILL)
    (FOLDER / "connected").touch()
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
        wait_for("rank0.json")
        return {}
    return {"error": message(metric.eval), "again": message(metric.eval)}


def ranks_carry_words_differently() -> dict:
    os.environ["MINDEVAL_CARRIER"] = "float32" if RANK == 1 else "int64"
    return {"error": message(metric.eval), "again": message(metric.eval)}


if __name__ == "__main__":
    outcome = globals()[sys.argv[1]]()
    written = FOLDER / f"rank{RANK}.part"
    written.write_text(json.dumps(outcome))
    written.rename(FOLDER / f"rank{RANK}.json")
    os._exit(0)  # a broken group must not hold the exit up
