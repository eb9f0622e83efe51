"""Peak memory and time of Model.eval: logits to the metrics, EvalCell, EvalCell with hidden states, MindSpore's own.

python benchmarks/eval_cell.py [--rows 1024] [--vocab 32000] [--batches 4] [--hidden 64]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

WAYS = ["logits", "EvalCell", "EvalCell, jit", "EvalCell, lm_head", "mindspore.train.Perplexity"]


def measure(way: str, rows: int, vocab: int, batches: int, hidden: int) -> dict:
    """Evaluate in this process; the peak memory is that above a tiny evaluation before."""
    import mindspore as ms
    import numpy as np
    from mindspore import nn, ops, train
    from mindspore.dataset import NumpySlicesDataset

    from mindeval import Accuracy, MetricCollection, Perplexity
    from mindeval.training import EvalCell

    ms.set_device("CPU")
    ms.set_context(mode=ms.GRAPH_MODE if way.endswith("jit") else ms.PYNATIVE_MODE)
    rng = np.random.default_rng(0)

    class Hidden(nn.Cell):
        def __init__(self):
            super().__init__()
            table = ms.Tensor(rng.normal(size=(1000, hidden)), ms.float32)
            self.table = nn.Embedding(1000, hidden, embedding_table=table)

        def construct(self, ids):
            return self.table(ids)

    class Logits(nn.Cell):
        def __init__(self, hidden_network, weight):
            super().__init__()
            self.hidden, self.weight = hidden_network, weight

        def construct(self, ids):
            states = self.hidden(ids)
            return ops.matmul(states.reshape((-1, states.shape[-1])), self.weight.T)

    class Plain(nn.Cell):
        def __init__(self, network, probabilities):
            super().__init__()
            self.network, self.probabilities = network, probabilities

        def construct(self, ids, labels):
            logits = self.network(ids)
            if self.probabilities:
                return ops.softmax(logits, -1), labels.reshape((-1,))
            return logits, labels

    weight = ms.Parameter(ms.Tensor(rng.normal(size=(vocab, hidden)) * 0.1, ms.float32), name="head")
    body = Hidden()
    network = Logits(body, weight)
    collection = MetricCollection([Perplexity(), Accuracy()])
    metrics = collection.as_metrics()
    if way == "EvalCell, lm_head":
        cell = EvalCell(body, collection, lm_head=weight)
    elif way.startswith("EvalCell"):
        cell = EvalCell(network, collection)
    elif way.startswith("mindspore"):
        cell, metrics = Plain(network, True), {"perplexity": train.Perplexity()}
    else:
        cell = Plain(network, False)
    model = train.Model(network, eval_network=cell, metrics=metrics)

    def data(count, size):
        ids = rng.integers(0, 1000, (count * size // 128 or 1, 128)).astype(np.int32)
        labels = rng.integers(0, vocab, ids.shape).astype(np.int32)
        return NumpySlicesDataset((ids, labels), ["ids", "labels"], shuffle=False).batch(max(1, size // 128))

    model.eval(data(1, 128))
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    values = model.eval(data(batches, rows))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"way": way, "MB": peak / 1024, "seconds": seconds, "perplexity": float(values["perplexity"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--vocab", type=int, default=32000)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--way", choices=WAYS)
    arguments = parser.parse_args()
    sizes = (arguments.rows, arguments.vocab, arguments.batches, arguments.hidden)
    if arguments.way:
        print(json.dumps(measure(arguments.way, *sizes)))
        return
    logits = arguments.rows * arguments.vocab * 4 / 2**20
    print(
        f"{arguments.batches} batches of {arguments.rows} tokens x {arguments.vocab} logits: {logits:.0f} MiB a batch"
    )
    print(f"{'way':28} {'peak MiB':>9} {'of logits':>9} {'seconds':>8} {'perplexity':>12}")
    for way in WAYS:
        named = [f"--{name}={size}" for name, size in zip(("rows", "vocab", "batches", "hidden"), sizes)]
        command = [sys.executable, __file__, "--way", way, *named]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "GLOG_v": "3"})
        row = json.loads(done.stdout.strip().splitlines()[-1])
        print(f"{way:28} {row['MB']:9.0f} {row['MB'] / logits:9.2f} {row['seconds']:8.2f} {row['perplexity']:12.4f}")


if __name__ == "__main__":
    main()
