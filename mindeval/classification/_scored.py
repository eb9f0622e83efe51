"""From scores and labels to what counts of them, checked. What is kept of them is in _scores.py."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs
from mindeval.classification._arguments import spread_weights
from mindeval.classification._labels import warn_of_one_hot_labels, whole_labels
from mindeval.classification._score_words import column_differences


class Scored(NamedTuple):
    """Scores and labels of the positions that count.

    ``scores``: numbers [n], or [n, classes]. ``lost``: float64 [n], to be added to scores, or None. ``labels``: int64
    [n], or for multilabel [n, labels] with ``counted`` of the same shape. ``weights``: float64 [n] or None. ``ids``:
    int64 [n] or None. ``samples``: rows of the first axis.
    """

    scores: np.ndarray
    lost: np.ndarray | None
    labels: np.ndarray
    counted: np.ndarray | None
    weights: np.ndarray | None
    ids: np.ndarray | None
    samples: int


def read_scores(
    scores: Any,
    labels: Any,
    mask: Any,
    sample_ids: Any,
    weights: Any,
    kind: str,
    num_classes: int | None,
    ignore_index: int,
    task: str,
) -> Scored:
    """Check a batch of scores and labels and take what counts of it.

    Args:
        scores: binary: [...] as labels, [..., 1], or [..., 2], whose difference (class 1 minus class 0) is the score;
            multiclass: [..., C]; both also [N, 2] or [N, C] for N labels in all; multilabel: [..., L] as labels. Any
            numbers but NaN; higher is likelier.
        labels: binary: 0, 1 or ignored; multiclass: ids in [0, C) or ignored; multilabel: 0, 1 or ignored.
        mask: bool of the labels' shape (multilabel: or without the last axis), True counts.
        sample_ids: one integer for each label of one axis (for each row, for multilabel).
        weights: see ``spread_weights``.
        kind: "binary", "multiclass" or "multilabel".
        task: what the user said: "classification" or the kind.
    """
    wanted = np.atleast_1d(whole_labels(labels, mask).astype(np.int64, copy=False))
    given = inputs.to_numpy(scores, "scores")
    if kind == "multilabel" and wanted.ndim == 1:
        wanted, given = wanted[None], given[None] if given.ndim == 1 else given
    elif given.ndim == 0 or (np.ndim(labels) == 0 and given.ndim == 1):
        given = given.reshape(1, -1)[..., 0] if given.size == 1 else given[None]
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one label, but got labels of shape {list(wanted.shape)}")
    given = _of_kind(given, wanted.shape, kind, num_classes)
    if kind == "binary" and task == "classification":
        warn_of_one_hot_labels(wanted)
    rows_shape = wanted.shape[:-1] if kind == "multilabel" else wanted.shape
    limit = int(num_classes or 0) if kind == "multiclass" else 2
    if mask is None and kind != "multilabel" and ignore_index < 0 and int(wanted.view(np.uint64).max()) < limit:
        scores, lost = _checked(given.reshape(-1, *given.shape[wanted.ndim :]), None, kind)
        ids = _ids_of_rows(sample_ids, wanted.shape)
        spread = None if weights is None else spread_weights(weights, np.ones(wanted.shape, bool))
        spread = None if spread is None else np.ascontiguousarray(spread)
        return Scored(scores, lost, wanted.reshape(-1), None, spread, ids, len(wanted))  # nothing is copied
    counted = wanted != ignore_index
    if mask is not None:
        per_row = kind == "multilabel" and np.shape(mask) == rows_shape
        flags = inputs.boolean_mask(mask, rows_shape if per_row else wanted.shape)
        counted = counted & (flags[..., None] if per_row else flags)
    _check_labels(wanted[counted], limit, ignore_index)
    ids = _ids_of_rows(sample_ids, rows_shape)
    spread = spread_weights(weights, counted.any(axis=-1) if kind == "multilabel" else counted)
    samples = int(counted.reshape(len(wanted), -1).any(axis=1).sum())
    width = given.shape[len(rows_shape) :]
    flat, truth, keep = given.reshape(-1, *width), wanted.reshape(-1), counted.reshape(-1)
    row_flags: np.ndarray | None = None
    if kind == "multilabel":
        truth, row_flags = truth.reshape(-1, *width), keep.reshape(-1, *width)
        keep = row_flags.any(axis=1)
    if not keep.all():
        flat, truth = flat[keep], truth[keep]
        spread, ids, row_flags = (None if part is None else part[keep] for part in (spread, ids, row_flags))
    flat, lost = _checked(flat, row_flags, kind)
    if row_flags is not None:
        flat, truth = np.where(row_flags, flat, 0.0), np.where(row_flags, truth, 0)
    spread = None if spread is None else np.ascontiguousarray(spread)
    return Scored(flat, lost, truth, row_flags, spread, ids, samples)


def _ids_of_rows(sample_ids: Any, shape: tuple) -> np.ndarray | None:
    if sample_ids is not None and len(shape) != 1:
        raise ValueError(f"sample_ids need labels of one row each, but got rows of shape {list(shape)}")
    return None if sample_ids is None else inputs.sample_ids(sample_ids, shape[0])


def _of_kind(given: np.ndarray, shape: tuple, kind: str, num_classes: int | None) -> np.ndarray:
    """The scores in the shape of the kind."""
    columns = 2 if kind == "binary" else int(num_classes or 0)
    if kind != "multilabel" and given.shape == (math.prod(shape), columns):  # flattened, as decisions may be
        return given.reshape(*shape, columns)
    if kind == "binary":
        if given.shape == shape:
            return given
        if given.shape == (*shape, 1):
            return given[..., 0]
        if given.shape == (*shape, 2):
            return given
        hint = ""
        if given.ndim == len(shape) + 1 and given.shape[:-1] == shape:
            hint = f": for more than two classes say num_classes={given.shape[-1]}"
        expected = f"{list(shape)} (or that with a last axis of 1 or 2)"
    elif kind == "multilabel":
        if given.shape == shape and shape[-1] == num_classes:
            return given
        expected, hint = f"{list(shape[:-1])} + [{num_classes}] as labels", ""
    else:
        if given.shape == (*shape, num_classes):
            return given
        expected, hint = f"{[*shape, num_classes]}", ""
    raise ValueError(f"scores must have shape {expected} for labels {list(shape)}, but got {list(given.shape)}{hint}")


def _checked(scores: np.ndarray, counted: np.ndarray | None, kind: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Scores without NaN; and, of two columns of a binary problem, what float64 lost of their difference."""
    _check_scores(scores, counted)
    return column_differences(scores) if kind == "binary" and scores.ndim == 2 else (scores, None)


def _check_labels(labels: np.ndarray, limit: int, ignore_index: int) -> None:
    if labels.size and (labels.min() < 0 or labels.max() >= limit):
        wrong = int(labels.min()) if labels.min() < 0 else int(labels.max())
        raise ValueError(f"labels must lie in [0, {limit}) or be {ignore_index} (ignored), but got {wrong}")


def _check_scores(scores: np.ndarray, counted: np.ndarray | None) -> None:
    if scores.dtype.kind in "iu" and scores.size and max(-int(scores.min()), int(scores.max())) > 2**53:
        kept = scores if counted is None else scores[counted]
        if kept.size and max(-int(kept.min()), int(kept.max())) > 2**53:
            raise ValueError("integer scores must lie within +-2^53, beyond which float64 cannot tell them apart")
    with np.errstate(invalid="ignore", over="ignore"):
        if scores.dtype.kind != "f" or not np.isnan(scores.sum(dtype=np.float64)):
            return
    bad = np.isnan(scores)  # or infinities of both signs, which are scores
    if bad.any() and (bad if counted is None else bad & counted).any():
        raise ValueError("scores must not be NaN where a label counts")
