"""Run on every rank by tests/training/test_ranks.py: a data-parallel training, and what may go wrong."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.communication import get_rank, init
from mindspore.train import Model

ms.set_device("CPU")
init()
RANK = get_rank()
FOLDER = Path(sys.argv[1])

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import fitting  # noqa: E402
import training_callback as example  # noqa: E402

from mindeval import Accuracy, ExactMatch, MetricCollection, Perplexity  # noqa: E402
from mindeval.integrations.mindformers import generate_evaluate  # noqa: E402
from mindeval.training import BestCheckpoint, EvalCallback, EvalCell  # noqa: E402


class Tiny(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")

    def construct(self, x):
        return (self.weight * x).sum()


class Rows:
    """A data set in place of MindSpore's: it fails on rank 1, in its second batch, the first time."""

    def __init__(self):
        self.evaluations = 0

    def create_tuple_iterator(self, num_epochs):
        self.evaluations += 1
        yield (ms.Tensor([0, 1]), ms.Tensor([0, 0]))
        if self.evaluations == 1 and RANK == 1:
            raise OSError("the disk of rank 1 is gone")


class Through(nn.Cell):
    def construct(self, a, b):
        return a, b


def train(callbacks, steps=4):
    network = Tiny()
    model = Model(network, optimizer=nn.SGD(network.trainable_params(), 0.1))
    model.train(1, example.batches((np.ones((steps, 1), np.float32),) * 1, 1), callbacks, dataset_sink_mode=False)


def one_rank_fails():
    metrics = MetricCollection([Accuracy()], distributed=True)
    callback = EvalCallback(
        (Through(), Rows(), metrics), every_n_steps=2, history=FOLDER / "fails.jsonl", on_error="log"
    )
    train(callback)
    return [{k: r.get(k) for k in ("kind", "step", "error", "metrics")} for r in callback.history.records]


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def ranks_differ():
    callback = EvalCallback(lambda: {"score": float(RANK), "same": 0.5}, every_n_steps=1, history=None)
    warnings = Warnings()
    logging.getLogger("mindeval").addHandler(warnings)
    try:
        train([callback], steps=3)
        train([callback, BestCheckpoint("score", "max", path=FOLDER / "differ.ckpt")], steps=1)
    except ValueError as error:
        return str(error), warnings.texts
    finally:
        logging.getLogger("mindeval").removeHandler(warnings)
    return None


class Speechless:
    """A model and its tokenizer in one: rank 1 cannot generate."""

    pad_token_id = 0

    def generate(self, prompts, **settings):
        if RANK == 1:
            raise OSError("the weights of rank 1 are gone")
        return prompts

    def decode(self, ids, skip_special_tokens):
        return " ".join(map(str, ids))


def generation_fails():
    data = ms.dataset.NumpySlicesDataset((np.ones((2, 3), np.int32),) * 2, ["input_ids", "labels"]).batch(1)
    try:
        generate_evaluate(Speechless(), Speechless(), data, MetricCollection([ExactMatch()], distributed=True))
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def sums_of_a_graph_count_once():
    """Every rank holds the global sums, as under semi-auto parallel."""
    perplexity = Perplexity(distributed=True)
    network = nn.Embedding(2, 2, embedding_table=ms.Tensor([[0.0, 0.0], [0.0, 0.0]], ms.float32))
    ids = ms.Tensor([[0, 1, 1]], ms.int32)
    perplexity.update(*EvalCell(network, perplexity, reduce="graph")(ids, ids))
    value = perplexity.eval()
    return [float(value), perplexity.result()["tokens"]]


ms.set_context(mode=ms.GRAPH_MODE)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=2, global_rank=RANK)
_, (evaluate, best, stopping), _ = example.run(FOLDER / "run", steps=150, every=15, patience=3)
results = {
    "history": evaluate.history.records,
    "best": [best.best, best.best_step],
    "stopped": stopping.stopped_step,
    "written": evaluate.history.write,
}
results["fit"] = fitting.fit(FOLDER / "fit")
ms.reset_auto_parallel_context()
ms.set_context(mode=ms.PYNATIVE_MODE)


def columns(values, size):
    return ms.dataset.NumpySlicesDataset(values, ["x"], shuffle=False).batch(size)


example.batches = columns
results["one_rank_fails"] = one_rank_fails()
results["sums"] = sums_of_a_graph_count_once()
results["ranks_differ"] = ranks_differ()
results["generation_fails"] = generation_fails()
(FOLDER / f"rank{RANK}.json").write_text(json.dumps(results))
