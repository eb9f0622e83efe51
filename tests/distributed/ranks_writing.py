"""Run on every rank by tests/training/test_ranks_writing.py: trainings in which one rank cannot write."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from functools import partial
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, train
from mindspore.communication import get_rank, init

from mindeval import Loss
from mindeval.training import BestCheckpoint, EvalCallback

ms.set_device("CPU")
init()
RANK = get_rank()
FOLDER = Path(sys.argv[1])
STEPS = 6


class Weight(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")

    def construct(self, x):
        return (self.weight * x).sum()


class Losses(nn.Cell):
    """What Model.fit hands to metrics."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, x):
        return self.network(x).reshape((1,)), x, x


class Steps(train.Callback):
    """Counts the steps, and takes a folder away from rank 0 in one of them, or before them."""

    def __init__(self, folder=None, step=None):
        super().__init__()
        self.folder, self.step, self.done = folder, step, 0

    def on_train_begin(self, run_context):
        self.take_away()

    def on_train_step_begin(self, run_context):
        self.done += 1
        self.take_away()

    def take_away(self):
        if self.done == self.step and RANK == 0:
            shutil.rmtree(self.folder)


class Records(logging.Handler):
    def __init__(self):
        super().__init__(logging.ERROR)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


class SummaryRecord:
    """In place of MindSpore's, which forks: its files cannot be closed."""

    def __init__(self, log_dir, file_prefix):
        pass

    def add_value(self, plugin, name, value):
        pass

    def record(self, step):
        pass

    def close(self):
        raise OSError("no space left")


def ones(rows=STEPS):
    return ms.dataset.NumpySlicesDataset(np.ones((rows, 1), np.float32), ["x"], shuffle=False).batch(1)


def trained(callbacks):
    network = Weight()
    model = train.Model(network, optimizer=nn.SGD(network.trainable_params(), 0.125))
    model.train(1, ones(), callbacks, dataset_sink_mode=False)


def fitted(callbacks):
    network = Weight()
    model = train.Model(
        network,
        optimizer=nn.SGD(network.trainable_params(), 0.125),
        metrics={"loss": Loss()},
        eval_network=Losses(network),
        eval_indexes=[0, 1, 2],
    )
    model.fit(2, ones(3), ones(2), callbacks=callbacks, dataset_sink_mode=False)


def outcome(work, steps, callbacks_of=list):
    """What came of a training on this rank: the error, the steps that were done, what was logged and recorded."""
    logged, error, callbacks = Records(), None, []
    logging.getLogger("mindeval").addHandler(logged)
    try:
        callbacks = callbacks_of()
        work([steps, *callbacks])
    except Exception as raised:
        error = [type(raised).__name__, str(raised)]
    logging.getLogger("mindeval").removeHandler(logged)
    records = callbacks[0].history.records if callbacks else []
    kept = [[record["kind"], record["step"]] for record in records]
    return {"error": error, "steps": steps.done, "logged": logged.texts, "records": kept}


def evaluating(folder, on_error, every=100, window=100, lost=None, **arguments):
    def evaluate():
        if lost is not None and RANK == 0:
            shutil.rmtree(lost, ignore_errors=True)
        return {"m": 0.5}

    return EvalCallback(
        evaluate,
        every_n_steps=every,
        log_every_n_steps=window,
        history=folder / "history.jsonl",
        on_error=on_error,
        **arguments,
    )


def file_in_place_of_a_folder(folder):
    """Where a folder cannot be made; a rank that only reads finds nothing there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")
    return folder


def everything(folder, on_error):
    """Trainings in each of which rank 0 cannot write something else."""
    ours = {}
    for name, step, window in [("start", 0, 2), ("window", 3, 2), ("end", 3, 100)]:
        make = partial(evaluating, folder / name, on_error, window=window)
        ours[name] = outcome(trained, Steps(folder / name, step), lambda make=make: [make()])
    place = folder / "evaluation"
    ours["evaluation"] = outcome(trained, Steps(), lambda: [evaluating(place, on_error, lost=place, every=2)])
    place = folder / "fit"
    ours["fit"] = outcome(
        fitted,
        Steps(place, 3),
        lambda: [EvalCallback(None, history=place / "history.jsonl", log_every_n_steps=5, on_error=on_error)],
    )
    wrong = file_in_place_of_a_folder(folder / f"no_folder{RANK}")
    ours["opening the history"] = outcome(trained, Steps(), lambda: [evaluating(wrong, on_error)])
    ours["opening the summary"] = outcome(
        trained, Steps(), lambda: [evaluating(folder / "summary", on_error, summary=wrong)]
    )
    ms.SummaryRecord = SummaryRecord
    curves = folder / "curves"
    ours["summary"] = outcome(
        trained,
        Steps(curves, 3),
        lambda: [evaluating(folder / "summary2", on_error, window=2, summary=curves)],
    )
    ours["closing the summary"] = outcome(
        trained, Steps(), lambda: [evaluating(folder / "summary3", on_error, summary=folder / "curves2")]
    )
    alone = evaluating(folder / "now", on_error)
    if RANK == 0:
        shutil.rmtree(folder / "now")
    ours["evaluate_now"] = outcome(lambda callbacks: callbacks[1].evaluate_now(), Steps(), lambda: [alone])
    return ours


def best_weights(folder):
    wrong = file_in_place_of_a_folder(folder / f"no_folder{RANK}")

    def kept(path, **arguments):
        record = EvalCallback(lambda: {"m": 0.5}, every_n_steps=2, history=None)
        return [record, BestCheckpoint("m", "max", path=path, **arguments)]

    for place in ("rank 1", "note"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / "rank 1" / "best_rank1.ckpt" / "full").mkdir(parents=True, exist_ok=True)
    (folder / "note" / "best.json").mkdir(exist_ok=True)
    (folder / "note" / "best.ckpt").write_text("")
    return {
        "rank 0 saves": outcome(trained, Steps(), lambda: kept(wrong / "best.ckpt")),
        "rank 1 saves": outcome(trained, Steps(), lambda: kept(folder / "rank 1" / "best.ckpt", every_rank=True)),
        "reading the note": outcome(trained, Steps(), lambda: kept(folder / "note" / "best.ckpt")),
    }


def best_weights_of_both_ranks(folder):
    """Rank 1 cannot write at the second of three evaluations: what each rank's file holds then, and at the end."""
    obstacle = folder / ".best_rank1.unfinished.ckpt"
    queue, held = [0.5, 0.75, 0.625], []
    best = BestCheckpoint("m", "max", path=folder / "best.ckpt", every_rank=True, on_error="log")

    def look():
        (weight,) = ms.load_checkpoint(str(best.file)).values()
        held.append([weight.asnumpy().tolist(), json.loads((folder / "best.json").read_text())["step"]])

    def evaluate():
        if len(queue) == 2 and RANK == 1:
            obstacle.mkdir()
        elif len(queue) == 1:
            look()
            if RANK == 1:
                obstacle.rmdir()
        return {"m": queue.pop(0)}

    ours = outcome(trained, Steps(), lambda: [EvalCallback(evaluate, every_n_steps=2, history=None), best])
    look()
    return {**ours, "held": held, "best": [best.best, best.best_step]}


def long_window():
    """More losses than fit a text of the metrics."""
    callback = EvalCallback(None, history=None, log_every_n_steps=2000)
    callback._window.start(0)
    callback._window.losses = [np.float32(RANK + 1 / 3)] * 2000
    return callback._window.close(2000, callback._agreement.exchange)["loss"]


results = {
    "raise": everything(FOLDER / "raise", "raise"),
    "log": everything(FOLDER / "log", "log"),
    "best": best_weights(FOLDER / "best"),
    "best of both": best_weights_of_both_ranks(FOLDER / "both"),
    "long window": long_window(),
}
(FOLDER / f"rank{RANK}.json").write_text(json.dumps(results))
