"""Ranks of labels in rows whose NLL is NaN: those that hold +inf, or nothing but -inf. Infinities are scores."""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import ops

from mindeval.kernels import blockwise

BLOCK = 40960  # few of them: each is compiled into every graph, and hardly ever run


def ranked(ranks: Any, valid: Any, rows: Any, weight: Any, labels: Any, width: int) -> Any:
    """The ranks, with those of the positions that count and have none (-1). Only rows with NaN keep -1.

    Args:
        ranks: int ``[...]``: what the kernel gave.
        valid: bool ``[...]``: the positions that count.
        rows: logits ``[N, W]``, or hidden states ``[N, H]`` where there is a weight.
        weight: ``[W, H]`` or None.
        labels: int ``[...]``, of N elements.
        width: the columns that are looked at.
    """
    missing = ops.logical_and(valid, ranks < 0)
    if missing.any():  # inside the graph as well: all others pay nothing but this question
        found = compared(rows, weight, ops.select(valid, labels, ops.zeros_like(labels)).reshape((-1,)), width)
        ranks = ops.select(missing, found.reshape(ranks.shape).astype(ranks.dtype), ranks)
    return ranks


def compared(rows: Any, weight: Any, labels: Any, width: int) -> Any:
    """How many scores of each row are above the label's, or equal at a lower id; -1 where one is NaN."""
    if weight is not None or rows.dtype != ms.float64:
        rows = rows.astype(ms.float32)
    if weight is None:
        rows = rows.reshape((-1, rows.shape[-1]))
        own = ops.gather_elements(rows, 1, labels.expand_dims(1)).reshape((-1,))
    else:
        rows, weight = rows.reshape((-1, rows.shape[-1])), weight.astype(ms.float32)
        own = ops.zeros(labels.shape, ms.float32)
        for start in range(0, width, BLOCK):
            own = own + blockwise.block_sums(_block(rows, weight, start, width), labels, start, False)[3]
    above = ops.zeros(labels.shape, ms.float32)
    nan = ops.zeros(labels.shape, ms.float32)
    for start in range(0, width, BLOCK):
        part = _block(rows, weight, start, width)
        above = above + blockwise.count_above(part, labels, own, start)
        nan = nan + (part != part).astype(ms.float32).sum(axis=1)
    return ops.select(nan > 0, ops.zeros_like(above) - 1, above).astype(ms.int32)


def _block(rows: Any, weight: Any, start: int, width: int) -> Any:
    """Scores [start, start + BLOCK) of each row."""
    stop = min(start + BLOCK, width)
    if weight is None:
        return rows[:, start:stop]
    return blockwise.head_block(rows, weight, None, None, None, start, stop - start)
