"""A Model.fit that overfits: the same training data on every rank, the evaluation data divided among them."""

from __future__ import annotations

from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops, train
from mindspore.dataset import NumpySlicesDataset

from mindeval import Accuracy, Loss, MetricCollection, Perplexity, distributed
from mindeval.training import BestCheckpoint, EarlyStopping, EvalCallback, EvalCell

V = 8
RNG = np.random.default_rng(3)


def _rows(count: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Ids and labels [count, 5]: the label of an id is the next id, but for noise."""
    ids = RNG.integers(0, V, (count, 5)).astype(np.int32)
    other = RNG.integers(0, V, (count, 5))
    return ids, np.where(RNG.random((count, 5)) < noise, other, (ids + 1) % V).astype(np.int32)


TRAINED = _rows(8, 0.1)
HELD_OUT = _rows(7, 0.5)  # seven rows: four and three for two ranks


class Bigrams(nn.Cell):
    """Ids [B, T] -> logits [B, T, V], all 0 at first."""

    def __init__(self):
        super().__init__()
        self.table = ms.Parameter(ops.zeros((V, V), ms.float32), name="table")

    def construct(self, ids):
        return ops.gather(self.table, ids, 0)


class WithLoss(nn.Cell):
    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, ids, labels):
        return ops.cross_entropy(self.network(ids).reshape((-1, V)), labels.reshape((-1,)))


def fit(folder: Path, epochs: int = 20) -> dict:
    """What this rank saw, kept and decided."""
    rank, world = distributed.this_rank(), distributed.world_size()
    metrics = MetricCollection(
        {"loss": Loss(), "perplexity": Perplexity(), "accuracy": Accuracy()}, distributed=world > 1
    )
    shard = distributed.shard(len(HELD_OUT[0]), rank, world)
    held_out = tuple(column[list(shard)] for column in HELD_OUT)
    network = Bigrams()
    model = train.Model(
        WithLoss(network),
        optimizer=nn.SGD(network.trainable_params(), 4.0),
        metrics=metrics.as_metrics(),
        eval_network=EvalCell(network, metrics),
        eval_indexes=[0, 1, 2],
    )
    record = EvalCallback(None, history=folder / "history.jsonl", log_every_n_steps=2)
    best = BestCheckpoint("perplexity", path=folder / "best.ckpt")
    stopping = EarlyStopping("perplexity", patience=2)
    steps = []

    class Steps(train.Callback):
        def on_train_step_end(self, run_context):
            steps.append(int(run_context.original_args().cur_step_num))

    model.fit(
        epochs,
        NumpySlicesDataset(TRAINED, ["ids", "labels"], shuffle=False).batch(4),
        NumpySlicesDataset(held_out, ["ids", "labels"], shuffle=False).batch(2),
        callbacks=[record, best, stopping, Steps()],
        dataset_sink_mode=False,
    )
    return {
        "history": record.history.records,
        "best": [best.best, best.best_step],
        "stopped": [stopping.stopped_step, steps[-1]],
        "written": record.history.write,
        "weights": network.table.asnumpy().tolist(),
    }
