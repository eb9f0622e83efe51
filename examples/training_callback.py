"""Evaluate while a small transformer trains, keep the best weights, stop early, and have the run diagnosed.

It learns a few pages so often that it overfits, on purpose. On one card or several:

    python examples/training_callback.py
    msrun --worker_num=2 --local_worker_num=2 --join=True examples/training_callback.py

Run it again with the same folder and it goes on with the history that is there.
"""

import argparse
import os
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import GeneratorDataset
from mindspore.train import Model

from mindeval import Accuracy, MetricCollection, Perplexity, distributed
from mindeval.training import BestCheckpoint, EarlyStopping, EvalCallback, EvalCell, diagnose

DATA = Path(__file__).parent / "data" / "english.txt"
LENGTH = 32  # characters in a window


class Transformer(nn.Cell):
    """Character ids [B, T] -> logits [B, T, V]."""

    def __init__(self, vocab, width=48, heads=2, layers=1):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.positions = ms.Parameter(ops.zeros((LENGTH, width)), name="positions")
        self.blocks = nn.CellList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm((width,))
        self.head = nn.Dense(width, vocab, has_bias=False)

    def construct(self, ids):
        x = self.embedding(ids) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Block(nn.Cell):
    """Causal attention, then two dense layers, each added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv = nn.Dense(width, 3 * width)
        self.out = nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.future = ms.Tensor(np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1))

    def construct(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape((batch, length, 3, self.heads, self.size)).transpose((2, 0, 3, 1, 4))
        scores = ops.matmul(qkv[0], qkv[1].swapaxes(-1, -2)) / self.size**0.5 + self.future
        mixed = ops.matmul(ops.softmax(scores, -1), qkv[2]).swapaxes(1, 2).reshape((batch, length, width))
        x = x + self.out(mixed)
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class WithLoss(nn.Cell):
    """The mean loss of a batch, for Model.train."""

    def __init__(self, network, vocab):
        super().__init__(auto_prefix=False)  # the network's parameters keep their names
        self.network, self.vocab = network, vocab

    def construct(self, ids, labels):
        logits = self.network(ids).reshape((-1, self.vocab))
        return ops.cross_entropy(logits, labels.reshape((-1,)))


def windows(text, characters):
    """Ids and labels [N, LENGTH]: the label of each character is the next one."""
    ids = np.array([characters.index(c) for c in text], np.int32)
    rows = (len(ids) - 1) // LENGTH
    return ids[: rows * LENGTH].reshape(rows, LENGTH), ids[1 : rows * LENGTH + 1].reshape(rows, LENGTH)


def batches(columns, batch_size, rows=None, seed=None):
    """A data set of some of the rows, in a fixed order, or shuffled anew in each epoch by a seed."""
    rows = np.arange(len(columns[0])) if rows is None else np.asarray(list(rows))
    generator = np.random.default_rng(seed)

    def pick():
        order = rows if seed is None else generator.permutation(rows)
        for row in order:
            yield tuple(column[row] for column in columns)

    return GeneratorDataset(pick, ["ids", "labels"], shuffle=False).batch(batch_size, drop_remainder=seed is not None)


def run(folder, steps=300, every=30, patience=4, chars=3000, first_step=0):
    """Train, and return the network, the callbacks and the evaluation data."""
    text = DATA.read_text(encoding="utf-8")
    characters = sorted(set(text))
    train, held_out = windows(text[:chars], characters), windows(text[chars : chars + 2500], characters)
    rank, world = distributed.this_rank(), distributed.world_size()

    ms.set_seed(1)
    network = Transformer(len(characters))
    metrics = MetricCollection([Perplexity(), Accuracy()], distributed=world > 1)
    metrics.set_distributed(world > 1, expected_samples=len(held_out[0]))
    shard = distributed.shard(len(held_out[0]), rank, world)  # uneven: no row is counted twice
    evaluation = (EvalCell(network, metrics), batches(held_out, 16, shard), metrics)

    batch_size = 16 // world
    mine = batches(train, batch_size, range(rank, len(train[0]) // world * world, world), seed=rank)
    callbacks = [
        EvalCallback(
            evaluation,
            every_n_steps=every,
            history=Path(folder) / "history.jsonl",
            tokens_per_step=batch_size * LENGTH,
            first_step=first_step,
        ),
        BestCheckpoint("perplexity", path=Path(folder) / "best.ckpt"),
        EarlyStopping("perplexity", patience=patience),
    ]
    model = Model(WithLoss(network, len(characters)), optimizer=nn.Adam(network.trainable_params(), 5e-3))
    epochs = -(-steps // mine.get_dataset_size())
    model.train(epochs, mine, callbacks=callbacks, dataset_sink_mode=False)
    return network, callbacks, held_out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default="training_run")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--device", default="CPU", choices=["CPU", "GPU", "Ascend"])
    arguments = parser.parse_args()
    ms.set_device(arguments.device)
    ms.set_context(mode=ms.GRAPH_MODE)
    if int(os.environ.get("MS_WORKER_NUM", "1")) > 1:
        init()
        ms.set_auto_parallel_context(
            parallel_mode="data_parallel", gradients_mean=True, device_num=get_group_size(), global_rank=get_rank()
        )

    _, (evaluate, best, stopping), _ = run(arguments.folder, arguments.steps)
    if distributed.this_rank() == 0:
        for step, value in evaluate.history.series("perplexity"):
            print(f"step {step:4}: perplexity {value:.4f}")
        print(f"best perplexity {best.best:.4f} at step {best.best_step}: {best.file}")
        print(f"stopped early at step {stopping.stopped_step}")
        print(diagnose(evaluate.history))
        print(diagnose(evaluate.history).text("zh"))


if __name__ == "__main__":
    main()
