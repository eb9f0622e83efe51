"""Cells that reduce logits to the few numbers that answer scoring needs, inside an evaluation network."""

from __future__ import annotations

from collections.abc import Sequence

import mindspore as ms
from mindspore import nn, ops


class CandidateHead(nn.Cell):
    """Logits to the log-probabilities of a few candidate ids: for ``YesNoAccuracy`` and ``ChoiceAccuracy`` with
    ``inputs="log_probs"``.

    ``construct(logits[, positions])``: logits ``[B, V]``, or ``[B, T, V]`` with positions ``[B]`` (the last token of
    each prompt); gives float32 ``[B, C]``. The log-sum-exp is taken in float32 whatever the logits' dtype.

    Args:
        ids: C token ids, such as those of ``YesNoAccuracy(...).candidates``.

    Raises:
        ValueError: when called, for logits ``[B, T, V]`` without positions, or ``[B, V]`` with them.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import mindspore as ms
    >>> head = CandidateHead([0, 2])
    >>> head(ms.Tensor([[0.0, 0.0, 0.0, 0.0]])).asnumpy().round(4)
    array([[-1.3863, -1.3863]], dtype=float32)
    """

    def __init__(self, ids: Sequence[int]) -> None:
        super().__init__()
        self.ids = ms.Tensor([int(token) for token in ids], ms.int32)
        self.cast_first = ms.get_context("device_target") == "CPU"  # which has no Gather for bfloat16

    def construct(self, logits: ms.Tensor, positions: ms.Tensor | None = None) -> ms.Tensor:
        if self.cast_first:
            logits = logits.astype(ms.float32)
        if logits.ndim != (2 if positions is None else 3):
            raise ValueError(
                f"For 'CandidateHead', logits must have shape [B, V], or [B, T, V] with positions [B], but got "
                f"{logits.ndim} axes {'without' if positions is None else 'with'} positions"
            )
        if positions is not None:
            batch, length, width = logits.shape
            rows = ops.arange(0, batch) * length + positions.astype(ms.int64)
            logits = ops.gather(logits.reshape(batch * length, width), rows, 0)
        logits = logits.astype(ms.float32)
        return ops.gather(logits, self.ids, 1) - ops.logsumexp(logits, 1, True)


class OptionHead(nn.Cell):
    """Logits of question + option texts to each option's log-likelihood and number of tokens: for ``ChoiceAccuracy``
    with ``mode="loglikelihood"``.

    ``construct(logits, labels)``: logits ``[B * C, T, V]``, labels ``[B * C, T]`` with ``ignore_index`` outside the
    option; position t of both belongs to the same target (shift them before). Gives float32 ``[B, C, 2]``.

    Args:
        options: C, the number of options of each question.
        ignore_index: the label of positions outside the option.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import mindspore as ms
    >>> head = OptionHead(2)
    >>> head(ms.ops.zeros((2, 3, 4)), ms.Tensor([[-100, 1, 2], [-100, -100, 3]])).asnumpy().round(4)
    array([[[-2.7726,  2.    ],
            [-1.3863,  1.    ]]], dtype=float32)
    """

    def __init__(self, options: int, ignore_index: int = -100) -> None:
        super().__init__()
        self.options = options
        self.ignore_index = ignore_index

    def construct(self, logits: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        logits = logits.astype(ms.float32)
        counted = labels != self.ignore_index
        targets = ops.where(counted, labels, ops.zeros_like(labels)).astype(ms.int32)
        picked = ops.gather_elements(logits, 2, targets.expand_dims(2)).squeeze(2)
        log_probs = (picked - ops.logsumexp(logits, 2)) * counted.astype(ms.float32)
        sums = ops.stack((log_probs.sum(1), counted.astype(ms.float32).sum(1)), 1)
        return sums.reshape(-1, self.options, 2)
