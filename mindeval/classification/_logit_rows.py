"""Logits of several classes, read where they are: by the fused kernel, or a block of rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mindspore as ms
import numpy as np

from mindeval import inputs, kernels
from mindeval.kernels.dispatch import device_of
from mindeval.kernels.rows import FORMATS, Rows, logits_array

_NUMBERS_OF_A_BLOCK = 1 << 14


class LogitRows:
    """The rows that count of logits ``[..., C]``. What is no logit is refused when it is read.

    Args:
        logits: a Tensor or an array. Floats stay where they are; other numbers become float64.
        index: which rows count, int64 [n], in C order of the leading axes.
    """

    def __init__(self, logits: Any, index: np.ndarray) -> None:
        name = logits.dtype.name if isinstance(logits, np.ndarray) else str(logits.dtype).lower()
        if name not in FORMATS:
            logits = inputs.to_numpy(logits, "logits").astype(np.float64)
        self._logits, self._index, self.classes = logits, index, int(logits.shape[-1])
        self._rows = Rows(*logits_array(logits), index, index, logits) if device_of(logits) == "CPU" else None

    def losses(self, classes: np.ndarray) -> np.ndarray:
        """-log p of one class of each row, float64 [n], >= 0, with the error of ``kernels.token_nll``."""
        leading = tuple(self._logits.shape[:-1])
        wanted = np.full(math.prod(leading), -1)
        wanted[self._index] = classes
        losses = kernels.token_nll(self._logits, wanted.reshape(leading), -1).nll.reshape(-1)[self._index]
        bad = np.flatnonzero(np.isnan(losses))
        if bad.size:
            check_logits(self._take(bad[:1]))
        return losses

    def best(self) -> np.ndarray:
        """The class with the highest logit of each row, int64 [n]; the lowest id among equals."""
        if self._rows is None:  # logits stay on their device
            return ms.ops.argmax(self._logits, -1).asnumpy().reshape(-1)[self._index].astype(np.int64)
        return np.concatenate([np.zeros(0, np.int64), *(block.argmax(axis=1) for _, block in self.blocks())])

    def blocks(self, which: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Some of the rows, or all, a block at a time: their places among those that count, and a copy [., C]."""
        places = np.arange(len(self._index)) if which is None else which
        step = max(1, _NUMBERS_OF_A_BLOCK // self.classes)
        for start in range(0, len(places), step):
            part = places[start : start + step]
            yield part, self._take(part)

    def _take(self, places: np.ndarray) -> np.ndarray:
        if self._rows is not None:
            return self._rows.take_floats(places)
        matrix, wanted = self._logits.reshape(-1, self.classes), ms.Tensor(self._index[places].astype(np.int32))
        return inputs.to_numpy(ms.ops.gather(matrix, wanted, 0), "logits")


def check_logits(values: np.ndarray) -> None:
    """Refuse what has no softmax. -inf is a class that is left out; nothing else that is not finite is a logit."""
    if not values.size:
        return
    highest = values.max()
    if np.isnan(highest):
        raise ValueError("logits must not be NaN where a label counts")
    if highest == np.inf:
        raise ValueError("logits must not be inf where a label counts (-inf, a class of probability 0, may be)")
    if values.ndim == 2 and values.max(axis=1).min() == -np.inf:
        raise ValueError("logits must have a finite one in each row where a label counts, but got a row of -inf")
