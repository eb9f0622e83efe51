"""Your own loop, without Model: train a bigram model, evaluate it on the way, have the history diagnosed."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from mindeval import Accuracy, Loss, MetricCollection, Perplexity
from mindeval.training import EvalCell, History, diagnose

VOCAB = 5
SOURCE = np.array(  # probabilities of the next token after each token: what there is to learn
    [
        [0.6, 0.1, 0.1, 0.1, 0.1],
        [0.1, 0.1, 0.6, 0.1, 0.1],
        [0.05, 0.8, 0.05, 0.05, 0.05],
        [0.2] * 5,
        [0, 0, 0, 0.5, 0.5],
    ]
)


def sequences(rows, length, seed):
    """Token ids [rows, length] drawn from the source."""
    rng = np.random.default_rng(seed)
    ids = np.zeros((rows, length), np.int32)
    for t in range(1, length):
        for row in range(rows):
            ids[row, t] = rng.choice(VOCAB, p=SOURCE[ids[row, t - 1]])
    return ids


def main(steps=120, every=20):
    ms.set_seed(0)
    network = nn.Embedding(VOCAB, VOCAB)  # token ids [B, T] -> logits [B, T, V]
    optimizer = nn.Adam(network.trainable_params(), 0.05)
    metrics = MetricCollection({"loss": Loss(), "perplexity": Perplexity(shift=True), "accuracy": Accuracy(shift=True)})
    cell = EvalCell(network, metrics, columns={"inputs": 0, "labels": 0})  # the labels are the ids, shifted
    history = History()  # History("history.jsonl") keeps it

    def loss_of(ids):
        return ops.cross_entropy(network(ids[:, :-1]).reshape((-1, VOCAB)), ids[:, 1:].reshape((-1,)))

    step_of = ms.value_and_grad(loss_of, None, optimizer.parameters)
    train, held_out = sequences(96, 24, seed=1), sequences(21, 24, seed=2)
    for step in range(1, steps + 1):
        start = step * 16 % len(train)
        loss, gradients = step_of(ms.Tensor(train[start : start + 16]))
        optimizer(gradients)
        if step % 5 == 0:
            history.append({"kind": "train", "step": step, "loss": float(loss)})
        if step % every == 0:
            network.set_train(False)
            metrics.clear()
            for start in range(0, len(held_out), 8):  # the last batch is smaller: no matter
                metrics.update(*cell(ms.Tensor(held_out[start : start + 8])))
            scores = metrics.eval()
            network.set_train(True)
            history.append({"kind": "eval", "step": step, "metrics": scores})
            print(f"step {step:3}: perplexity {scores['perplexity']:.6f}, accuracy {scores['accuracy']:.6f}")
    print(diagnose(history))
    return network, held_out, history


if __name__ == "__main__":
    main()
