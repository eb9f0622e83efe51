"""Per-token statistics of logits: negative log-likelihood and the rank of the label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class TokenStats(NamedTuple):
    """``nll``: float64, 0 at ignored labels. ``rank``, ``entropy``: None unless asked for. All of the labels' shape."""

    nll: np.ndarray
    rank: np.ndarray | None = None
    entropy: np.ndarray | None = None


def token_nll(
    logits: Any,
    labels: Any,
    ignore_index: int = -100,
    *,
    vocab_size: int | None = None,
    rank: bool = False,
    entropy: bool = False,
) -> TokenStats:
    """The negative log-likelihood of each label, row by row, in float64."""
    from mindeval import inputs

    values, ids = inputs.to_numpy(logits, "logits"), inputs.class_ids(labels, "labels")
    if values.dtype.kind != "f":
        raise TypeError(f"logits must be floats, but got {values.dtype}")
    values = values.reshape(-1, values.shape[-1])[:, :vocab_size]
    classes = values.shape[1]
    nll, ranks = np.zeros(ids.size), np.full(ids.size, -1, np.int64)
    for row, label in enumerate(ids.reshape(-1).tolist()):
        if label == ignore_index:
            continue
        if not 0 <= label < classes:
            raise ValueError(f"labels must lie in [0, {classes}) or be ignore_index, but got {label}")
        scores = values[row].astype(np.float64)
        top = scores.max()
        with np.errstate(invalid="ignore", over="ignore"):
            nll[row] = top + np.log(np.exp(scores - top).sum()) - scores[label]
        if np.isfinite(top):
            ranks[row] = (scores > scores[label]).sum() + (scores[:label] == scores[label]).sum()
    return TokenStats(nll.reshape(ids.shape), ranks.reshape(ids.shape) if rank else None)
