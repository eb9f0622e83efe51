"""Small batches on which a compiled Ascend operator must agree with the NumPy twin before it is used.

``python -m mindeval.kernels.ascend_check logits`` (or ``linear``) checks a part on the card; the build runs it.
"""

from __future__ import annotations

import sys
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor

from . import numpy_twin
from .rows import rows_of

TOLERANCE = 1e-5  # nat: float32 arithmetic on a few hundred logits
ROWS, VOCAB, HIDDEN = 5, 257, 64  # a vocabulary that fills neither a 32-byte unit nor a vector
_DTYPES = {"float32": ms.float32, "float16": ms.float16, "bfloat16": ms.bfloat16}


def expected(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """nll and rank of each row by the NumPy twin."""
    rows, _ = rows_of(logits, labels, -100, None)
    stats = numpy_twin.token_nll(rows, True, False)
    assert stats.rank is not None
    return stats.nll, stats.rank


def difference(nll: np.ndarray, wanted: np.ndarray) -> str | None:
    worst = np.abs(nll - wanted)
    if np.all(worst <= TOLERANCE):  # False for NaN
        return None
    row = int(np.argmax(np.where(np.isnan(worst), np.inf, worst)))
    return f"nll of row {row} is {nll[row]!r}, the NumPy twin has {wanted[row]!r} (tolerance {TOLERANCE})"


def check_logits(module: Any, dtype: str) -> str | None:
    """How ``mindeval_token_statistics`` differs from the NumPy twin; None if it does not.

    Quarters up to 8, so that all dtypes hold them exactly and many are equal; the labels lie at both ends and inside;
    the last row is ignored.
    """
    from .ascend import IGNORED, finish

    values = np.random.default_rng(0).integers(-32, 33, (ROWS, VOCAB)).astype(np.float32) / 4
    labels = np.array([0, VOCAB - 1, 100, 128, IGNORED], np.int32)
    logits = Tensor(values).astype(_DTYPES[dtype])
    statistics = module.mindeval_token_statistics(logits, Tensor(labels), VOCAB, True).asnumpy()
    if statistics.shape != (4, ROWS):
        return f"statistics have shape {list(statistics.shape)}, not {[4, ROWS]}"
    stats = finish(statistics, True)
    nll, ranks = expected(values[:-1], labels[:-1])
    assert stats.rank is not None
    if stats.rank[:-1].tolist() != ranks.tolist():
        return f"ranks are {stats.rank[:-1].tolist()}, the NumPy twin has {ranks.tolist()}"
    wrong = difference(stats.nll[:-1], nll)
    if wrong is None and statistics[:, -1].tolist() != [0, 1, 0, 0]:
        wrong = f"the statistics of an ignored row are {statistics[:, -1].tolist()}, not [0, 1, 0, 0]"
    return wrong


def check_linear(module: Any, dtype: str) -> str | None:
    """How ``mindeval_linear_max_sum`` differs from the NumPy twin, whole and in two shards; None if it does not.

    Hidden states and weights are -1, 0 or 1, so that the logits are small integers, exact in every accumulation order.
    """
    generator = np.random.default_rng(1)
    hidden = generator.integers(-1, 2, (ROWS, HIDDEN)).astype(np.float32)
    weight = generator.integers(-1, 2, (VOCAB, HIDDEN)).astype(np.float32)
    labels = np.array([0, VOCAB - 1, 100, 128, 127], np.int32)
    nll, _ = expected(hidden @ weight.T, labels)

    def sums(start: int, end: int) -> np.ndarray:
        part = Tensor(weight[start : end + 1]).astype(_DTYPES[dtype])
        outputs = module.mindeval_linear_max_sum(
            Tensor(hidden).astype(_DTYPES[dtype]), part, Tensor(labels), start, end
        )
        return np.array([output.asnumpy() for output in outputs], np.float64)

    _, total, below = sums(0, VOCAB - 1)
    wrong = difference(np.log(total) - below, nll)
    if wrong is not None:
        return wrong
    first, second = sums(0, 127), sums(128, VOCAB - 1)
    largest = np.maximum(first[0], second[0])
    total = sum(part[1] * np.exp(part[0] - largest) for part in (first, second))
    inside = np.where(labels < 128, first[2] + first[0], second[2] + second[0])
    outside = np.where(labels < 128, second[2], first[2])
    if outside.any():
        return f"a label in another shard gives {outside.tolist()}, not 0"
    wrong = difference(np.log(total) + largest - inside, nll)
    return None if wrong is None else f"in two shards: {wrong}"


def main(part: str) -> int:
    """Checks a part for all its dtypes on the card; 0 if it agrees with the NumPy twin."""
    from . import ascend

    ms.set_device("Ascend")
    reasons = {dtype: ascend.unusable(part, dtype) for dtype in ascend.FORMATS[part]}
    failed = [f"{dtype}: {reason}" for dtype, reason in reasons.items() if reason is not None]
    print("\n".join(failed))
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
