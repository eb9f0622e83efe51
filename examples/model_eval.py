"""The smallest use of Model.eval with mindeval: perplexity and token accuracy of a bigram model on three sentences."""

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model

from mindeval import Accuracy, MetricCollection, Perplexity

TOKENS = np.int32([[0, 1, 2, 0, 1], [0, 2, 1, 2, 0], [1, 2, 0, 1, 1]])
NEXT_TOKEN = [[0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]]  # probabilities after token 0, 1, 2


class BigramModel(nn.Cell):
    """Token ids [B, T] -> logits [B, T, V] and the ids again, which are the labels."""

    def __init__(self, probabilities):
        super().__init__()
        table = ms.Tensor(np.log(probabilities), ms.float32)
        self.logits = nn.Embedding(*table.shape, embedding_table=table)

    def construct(self, ids):
        return self.logits(ids), ids


def main():
    network = BigramModel(NEXT_TOKEN)
    metrics = MetricCollection([Perplexity(shift=True), Accuracy(shift=True)])
    model = Model(network, eval_network=network, metrics=metrics.as_metrics())
    for batch_size in (1, 2, 3):
        scores = model.eval(NumpySlicesDataset({"ids": TOKENS}, shuffle=False).batch(batch_size))
        print(f"batch size {batch_size}: perplexity {scores['perplexity']!r}, accuracy {scores['accuracy']!r}")
    print(metrics["perplexity"].eval().describe())


if __name__ == "__main__":
    main()
