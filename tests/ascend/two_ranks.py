"""Run by msrun on two devices: the sums that the distributed metrics rely on. Not a test file of its own."""

from __future__ import annotations

import os

import numpy as np


def main() -> None:
    import mindspore as ms
    from mindspore.communication import get_rank, init

    ms.set_device(os.environ.get("MINDEVAL_TEST_DEVICE", "CPU"))
    init()
    from mindeval import Perplexity
    from mindeval.communicator import DistributedError, MindSporeCommunicator

    rank = get_rank()
    communicator = MindSporeCommunicator()
    words = np.array([2**53 + 1 + rank, -(2**61) + rank, (2**21 - 1) ** 2, 0], np.int64)
    total = communicator.all_reduce(words)
    assert total.tolist() == [2**54 + 3, -(2**62) + 1, 2 * (2**21 - 1) ** 2, 0], total.tolist()
    os.environ["MINDEVAL_CARRIER"] = "float32"
    assert communicator.all_reduce(words).tolist() == total.tolist()
    del os.environ["MINDEVAL_CARRIER"]

    logits = np.random.default_rng(0).normal(0, 2, (4, 30)).astype(np.float32)
    labels = np.arange(4)
    mine = slice(2 * rank, 2 * rank + 2)
    metric = Perplexity(distributed=True)
    metric.update(ms.Tensor(logits[mine]), ms.Tensor(labels[mine].astype(np.int32)))
    alone = Perplexity()
    for part in (slice(0, 2), slice(2, 4)):
        alone.update(ms.Tensor(logits[part]), ms.Tensor(labels[part].astype(np.int32)))
    whole = alone._compute(alone._states)
    assert metric.eval() == next(iter(whole.values()))

    different = Perplexity(ignore_index=-100 - rank, distributed=True)
    different.update(ms.Tensor(logits[mine]), ms.Tensor(labels[mine].astype(np.int32)))
    try:
        different.eval()
    except DistributedError as error:
        print(f"rank {rank}: disagreement seen: {str(error)[:60]}")
    else:
        raise AssertionError("two ranks with different metrics were not told apart")


if __name__ == "__main__":
    main()
