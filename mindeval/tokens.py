"""TokenMetric: what metrics over logits and labels share: shapes, shift, mask, and one pass over the logits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs, kernels
from mindeval.metric import Metric


class TokenBatch(NamedTuple):
    """The statistics of one batch of logits.

    ``stats``: what ``kernels.token_nll`` gave, of the labels' shape. ``counted``: bool of the labels' shape, False
    where the label is ignored or masked. ``samples``: rows of the first axis with any counted position.
    """

    stats: kernels.TokenStats
    counted: np.ndarray
    samples: int


class TokenMetric(Metric):
    """A metric that reads logits ``[..., V]`` with labels ``[...]`` through ``kernels.token_nll``.

    Members of one collection that agree on ``ignore_index``, ``shift`` and ``vocab_size`` share one pass over the
    logits. ``needs_rank`` says that the metric wants the label's rank as well.
    """

    needs_rank = False

    def __init__(self, ignore_index: int, shift: bool, vocab_size: int | None, **base: Any) -> None:
        kind = type(self).__name__
        self.ignore_index = inputs.whole_number(ignore_index, f"For '{kind}', ignore_index")
        self.vocab_size = None if vocab_size is None else inputs.whole_number(vocab_size, f"For '{kind}', vocab_size")
        if self.vocab_size is not None and self.vocab_size < 1:
            raise ValueError(f"For '{kind}', vocab_size must be at least 1, but got {vocab_size}")
        if not isinstance(shift, bool):
            raise TypeError(f"For '{kind}', shift must be True or False, but got {shift!r}")
        self.shift = shift
        super().__init__(**base)

    def _pass(self) -> tuple:
        return ("token_nll", self.ignore_index, self.shift, self.vocab_size)

    def _token_batch(self, logits: Any, labels: Any, mask: Any = None) -> TokenBatch:
        members = self._scope.members.values()
        rank = any(m.needs_rank for m in members if isinstance(m, TokenMetric) and m._pass() == self._pass())

        def compute(logits: Any, labels: Any, mask: Any) -> TokenBatch:
            return token_batch(logits, labels, mask, self.ignore_index, self.shift, self.vocab_size, rank)

        return self._scope.shared(self.name, self._pass(), (logits, labels, mask), compute)


def token_batch(
    logits: Any, labels: Any, mask: Any, ignore_index: int, shift: bool, vocab_size: int | None, rank: bool
) -> TokenBatch:
    """Check a batch and read its logits once.

    Args:
        logits: float Tensor or array ``[..., V]``, or flattened ``[N, V]``.
        labels: integers ``[...]``, or of N elements in all where the logits are flattened.
        mask: None, or bool of the labels' shape.
        shift: position t predicts the label at t + 1: the last logits and the first labels of each row are dropped.
    """
    ids = inputs.class_ids(labels, "labels")
    logits = inputs.tensor_or_array(logits, "logits")
    check_logits(logits, ids)
    counted = ids != ignore_index
    if mask is not None:
        counted &= inputs.boolean_mask(mask, ids.shape)
    if shift:
        logits, ids, counted = shifted(logits.reshape(*ids.shape, logits.shape[-1]), ids, counted)
    wanted = np.where(counted, ids, ignore_index)
    flattened = tuple(logits.shape[:-1]) != ids.shape
    stats = kernels.token_nll(
        logits, wanted.reshape(-1) if flattened else wanted, ignore_index, vocab_size=vocab_size, rank=rank
    )
    if flattened:
        ranks = None if stats.rank is None else stats.rank.reshape(ids.shape)
        stats = kernels.TokenStats(stats.nll.reshape(ids.shape), ranks)
    return TokenBatch(stats, counted, int(counted.reshape(len(counted), -1).any(axis=1).sum()))


def shifted(scores: Any, ids: np.ndarray, counted: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The scores without their last position, the ids and the mask without their first: t predicts t + 1."""
    if ids.ndim < 2 or ids.shape[-1] < 2:
        raise ValueError(f"labels must have shape [B, T] with T >= 2 for shift=True, but got {list(ids.shape)}")
    return scores[..., :-1, :], ids[..., 1:], counted[..., 1:]


def check_logits(logits: Any, labels: np.ndarray) -> None:
    """Raise a ValueError unless logits are ``[..., V]`` for labels ``[...]``, or ``[N, V]`` for N labels in all."""
    given = f"but got logits {list(logits.shape)} against labels {list(labels.shape)}"
    if logits.ndim < 2 or labels.ndim < 1:
        raise ValueError(f"logits must have shape [N, V] or [B, T, V] for labels [N] or [B, T], {given}")
    if 0 in logits.shape or labels.size == 0:
        raise ValueError(f"a batch must not be empty, {given}")
    if tuple(logits.shape[:-1]) == labels.shape or (logits.ndim == 2 and logits.shape[0] == labels.size):
        return
    if logits.ndim == labels.ndim + 1 and (logits.shape[0], *logits.shape[2:]) == labels.shape:
        raise ValueError(f"logits must have the vocabulary last, as [B, T, V], {given}: transpose [B, V, T] logits")
    raise ValueError(f"logits must have shape [..., V] to match labels [...], {given}")


def check_labels(labels: np.ndarray, classes: int) -> None:
    """Raise a ValueError unless all labels lie in [0, classes)."""
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        wrong = labels[(labels < 0) | (labels >= classes)]
        raise ValueError(f"labels must lie in [0, {classes}) or be ignore_index, but got {int(wrong[0])}")
