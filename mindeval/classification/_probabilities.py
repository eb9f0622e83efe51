"""Probabilities or logits of classes from what users give, checked."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs
from mindeval.classification._arguments import spread_weights
from mindeval.classification._labels import warn_of_one_hot_labels, whole_labels
from mindeval.classification._logit_rows import LogitRows, check_logits

_SUM_TOLERANCE = 0.05  # half precision probabilities of many classes miss 1 by a few percent, sigmoids by far more


class Probabilities(NamedTuple):
    """What counts of a batch.

    ``values``: float64 [n]: of class 1 (binary and multilabel), logits if they were given; or [n, C]: probabilities, or
    ``LogitRows``. ``of_class_0``: float64 [n]: given probabilities of class 0, or None. ``labels``: int64 [n].
    ``weights``: float64 [n] or None. ``samples``: rows of the first axis. ``width``: the length of the labels' last
    axis.
    """

    values: np.ndarray | LogitRows
    of_class_0: np.ndarray | None
    labels: np.ndarray
    weights: np.ndarray | None
    samples: int
    width: int


def read_probabilities(
    given: Any,
    labels: Any,
    mask: Any,
    weights: Any,
    *,
    task: str,
    num_classes: int | None,
    ignore_index: int,
    from_logits: bool,
) -> Probabilities:
    """Check a batch of probabilities (or logits) and labels and take what counts of it.

    Args:
        given: binary: [...] as labels or [..., 1], of class 1, or [..., 2]; multiclass: [..., C]; multilabel: [...,
            L] as labels, each a binary problem. "classification" is binary for the binary shapes, else multiclass.
        labels: class ids; 0 or 1 for binary and multilabel; or ``ignore_index``.
        mask: bool of the labels' shape (multilabel: or without the last axis), True counts.
        weights: see ``spread_weights``.
        from_logits: whether logits were given in place of probabilities.
    """
    wanted, what = np.atleast_1d(whole_labels(labels, mask)), "logits" if from_logits else "probabilities"
    values = inputs.tensor_or_array(given, what)
    if np.ndim(labels) == 0 and values.ndim <= 1:
        values = values.reshape(1) if values.size == 1 else values.reshape(1, -1)
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one label, but got labels of shape {list(wanted.shape)}")
    width = _width(tuple(values.shape), wanted.shape, what, task, num_classes)
    if width is None and task == "classification":
        warn_of_one_hot_labels(wanted)
    counted = wanted != ignore_index
    if mask is not None:
        per_row = task == "multilabel" and np.shape(mask) == wanted.shape[:-1]
        flags = inputs.boolean_mask(mask, wanted.shape[:-1] if per_row else wanted.shape)
        counted = counted & (flags[..., None] if per_row else flags)
    keep, rows = counted.reshape(-1), counted.reshape(len(wanted), -1).any(axis=1)
    truth = wanted.reshape(-1)[keep].astype(np.int64)
    limit = width or 2
    if truth.size and (truth.min() < 0 or truth.max() >= limit):
        wrong = int(truth.min()) if truth.min() < 0 else int(truth.max())
        raise ValueError(f"labels must lie in [0, {limit}) or be {ignore_index} (ignored), but got {wrong}")
    spread = spread_weights(weights, counted)
    spread = None if spread is None else spread[keep]
    of_two = width == 2 and task in ("binary", "classification")
    kept, of_class_0 = _kept(values, keep, width, of_two, from_logits)
    return Probabilities(kept, of_class_0, truth, spread, int(rows.sum()), wanted.shape[-1])


def _width(given: tuple, wanted: tuple, what: str, task: str, num_classes: int | None) -> int | None:
    """The number of classes on the last axis, or None where there is one number for each label."""
    classes = num_classes if task != "multilabel" else None
    if task != "multiclass" and classes in (None, 2) and given in (wanted, (*wanted, 1)):
        if task == "multilabel" and num_classes not in (None, wanted[-1]):
            raise ValueError(f"labels must have num_classes={num_classes} on the last axis, but got {list(wanted)}")
        return None
    if task != "multilabel" and given[:-1] in (wanted, (math.prod(wanted),)):
        width = given[-1]
        if width < 2 or (task == "binary" and width != 2) or (classes is not None and width != classes):
            raise ValueError(f"{what} must be those of {classes or 2} classes on the last axis, but got {width}")
        return int(width)
    raise ValueError(
        f"{what} must have shape {list(wanted)}{'' if task == 'multilabel' else ' or [..., C]'} for labels "
        f"{list(wanted)}, but got {list(given)}"
    )


def _kept(
    values: Any, keep: np.ndarray, width: int | None, of_two: bool, from_logits: bool
) -> tuple[np.ndarray | LogitRows, np.ndarray | None]:
    """``values`` and ``of_class_0`` of ``Probabilities``."""
    if from_logits and width is not None and not of_two:
        return LogitRows(values, np.flatnonzero(keep)), None
    numbers = inputs.to_numpy(values, "logits" if from_logits else "probabilities")
    kept = numbers.reshape(keep.size, *([] if width is None else [width]))[keep].astype(np.float64)
    (check_logits if from_logits else _check_probabilities)(kept)
    if not of_two:
        return kept, None
    if not from_logits:
        return kept[:, 1], kept[:, 0]
    with np.errstate(over="ignore"):
        return kept[:, 1] - kept[:, 0], None


def _check_probabilities(values: np.ndarray) -> None:
    if np.isnan(values).any():
        raise ValueError("probabilities must not be NaN where a label counts")
    if not values.size:
        return
    if values.min() < 0 or values.max() > 1:
        raise ValueError(
            f"probabilities must lie in [0, 1], but got values from {values.min().item()} to {values.max().item()}: "
            "for logits say from_logits=True"
        )
    if values.ndim == 2:
        sums = values.sum(axis=1)
        worst = sums[np.abs(sums - 1).argmax()]
        if abs(worst - 1) > _SUM_TOLERANCE:
            raise ValueError(f"probabilities must sum to 1 over the classes, but got a row with the sum {worst:g}")
