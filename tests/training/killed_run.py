"""Run by test_killed.py: a Model.train of a tiny network, for some steps, or until it is killed."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, train
from mindspore.dataset import NumpySlicesDataset

from mindeval.training import BestCheckpoint, EvalCallback, History

ms.set_device("CPU")
FOLDER = Path(sys.argv[1])
FIRST, LAST, KILLED = map(int, sys.argv[2:])  # steps done before, the last, the one whose evaluation is half written


class Weight(nn.Cell):
    """Its loss is its weight: each step of SGD with rate 1/8 lowers it by 1/8, which is exact."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1 - FIRST / 8], ms.float32), name="weight")

    def construct(self, x):
        return (self.weight * x).sum()


class HalfWritten(History):
    """The process is killed in the middle of a line."""

    def append(self, record):
        if (record["kind"], record["step"]) == ("eval", KILLED):
            with self.path.open("ab", buffering=0) as file:
                file.write(json.dumps(record).encode()[:40])
            os.kill(os.getpid(), signal.SIGKILL)
        super().append(record)


class Slowly(train.Callback):
    """Time for the test to see the file grow and to kill."""

    def on_train_step_end(self, run_context):
        time.sleep(0.01)


network = Weight()
model = train.Model(network, optimizer=nn.SGD(network.trainable_params(), 0.125))
record = EvalCallback(
    lambda: {"weight": float(network.weight.asnumpy()[0])},
    every_n_steps=4,
    log_every_n_steps=2,
    history=HalfWritten(FOLDER / "history.jsonl"),
    first_step=FIRST,
)
best = BestCheckpoint("weight", "min", path=FOLDER / "best.ckpt")
rows = NumpySlicesDataset(np.ones((LAST - FIRST, 1), np.float32), ["x"], shuffle=False).batch(1)
model.train(1, rows, [record, best, Slowly()], dataset_sink_mode=False)
