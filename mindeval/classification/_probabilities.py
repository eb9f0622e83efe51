"""Probabilities of classes from what users give, checked; and exp, log and softmax whose bits are those of any host."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs
from mindeval.classification._arguments import spread_weights
from mindeval.classification._labels import whole_labels

_SUM_TOLERANCE = 0.05  # half precision probabilities of many classes miss 1 by a few percent, sigmoids by far more
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # the product of the first with an exponent is exact
_LOWEST = -745.2  # exp of less is 0


class Probabilities(NamedTuple):
    """What counts of a batch.

    ``values``: float64 [n]: of class 1 (binary and multilabel), or [n, C]; logits if they were given. ``of_class_0``:
    float64 [n]: given probabilities of class 0, or None. ``labels``: int64 [n]. ``weights``: float64 [n] or None.
    ``samples``: rows of the first axis. ``width``: the length of the labels' last axis.
    """

    values: np.ndarray
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
    wanted = np.atleast_1d(whole_labels(labels, mask))
    values = inputs.to_numpy(given, "probabilities" if not from_logits else "logits")
    what = "logits" if from_logits else "probabilities"
    if np.ndim(labels) == 0 and values.ndim <= 1:
        values = values.reshape(1) if values.size == 1 else values[None]
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one label, but got labels of shape {list(wanted.shape)}")
    classes = num_classes if task != "multilabel" else None
    binary = task != "multiclass" and classes in (None, 2)
    if binary and values.shape in (wanted.shape, (*wanted.shape, 1)):
        values, width = values.reshape(wanted.shape), None
        if task == "multilabel" and num_classes not in (None, wanted.shape[-1]):
            raise ValueError(
                f"labels must have num_classes={num_classes} on the last axis, but got {list(wanted.shape)}"
            )
    elif task in ("classification", "multiclass", "binary") and values.shape[:-1] in (wanted.shape, (wanted.size,)):
        width = values.shape[-1]
        if width < 2 or (task == "binary" and width != 2) or (classes is not None and width != classes):
            raise ValueError(f"{what} must be those of {classes or 2} classes on the last axis, but got {width}")
    else:
        raise ValueError(
            f"{what} must have shape {list(wanted.shape)}{'' if task == 'multilabel' else ' or [..., C]'} for labels "
            f"{list(wanted.shape)}, but got {list(values.shape)}"
        )
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
    kept = values.reshape(keep.size, *([] if width is None else [width]))[keep].astype(np.float64)
    _check_values(kept, from_logits)
    of_class_0 = None
    if width == 2 and task in ("binary", "classification"):
        if from_logits:
            with np.errstate(over="ignore"):
                kept = kept[:, 1] - kept[:, 0]
        else:
            kept, of_class_0 = kept[:, 1], kept[:, 0]
    spread = spread_weights(weights, counted)
    spread = None if spread is None else spread[keep]
    return Probabilities(kept, of_class_0, truth, spread, int(rows.sum()), wanted.shape[-1])


def _check_values(values: np.ndarray, from_logits: bool) -> None:
    what = "logits" if from_logits else "probabilities"
    if np.isnan(values).any():
        raise ValueError(f"{what} must not be NaN where a label counts")
    if not values.size:
        return
    if from_logits:
        _check_logits(values)
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


def _check_logits(values: np.ndarray) -> None:
    """-inf is a class that is left out; nothing else that is not finite is a logit."""
    if values.max() == np.inf:
        raise ValueError("logits must not be inf where a label counts (-inf, a class of probability 0, may be)")
    if values.ndim == 2 and values.max(axis=1).min() == -np.inf:
        raise ValueError("logits must have a finite one in each row where a label counts, but got a row of -inf")


def exp(values: np.ndarray) -> np.ndarray:
    """exp of values <= 0, by a fixed sequence of IEEE operations, within 2 units in the last place.

    >>> exp(np.array([0.0, -1.0, -800.0])).tolist()
    [1.0, 0.36787944117144233, 0.0]
    """
    inside = np.maximum(values, _LOWEST)
    exponents = np.rint(inside * 1.4426950408889634)
    rest = (inside - exponents * _LN2_HIGH) - exponents * _LN2_LOW
    series = np.ones_like(rest)
    for order in range(13, 0, -1):
        series = series * rest / order + 1
    return np.where(values < _LOWEST, 0.0, np.ldexp(series, exponents.astype(np.int64)))


def log(values: np.ndarray) -> np.ndarray:
    """Natural logarithm of values >= 0, by a fixed sequence of IEEE operations; -inf at 0.

    >>> log(np.array([1.0, 0.5, 0.0])).tolist()
    [0.0, -0.6931471805599453, -inf]
    """
    mantissas, exponents = np.frexp(np.where(values > 0, values, 1.0))
    small = mantissas < 0.7071067811865476
    mantissas, exponents = np.where(small, 2 * mantissas, mantissas), exponents - small
    ratio = (mantissas - 1) / (mantissas + 1)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for order in range(23, 1, -2):
        series = (series + 1 / order) * square
    logs = exponents * _LN2_HIGH + (2 * ratio + (2 * ratio * series + exponents * _LN2_LOW))
    return np.where(values > 0, logs, -np.inf)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis of float64 logits, one at least finite: the same bits on any host and in any batch.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, -np.inf]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    powers = exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / tree_sum(powers)[..., None]


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """The probability of class 1: 1 / (1 + exp(-x)).

    >>> sigmoid(np.array([0.0, -800.0, 800.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    power = exp(-np.abs(logits))
    return np.where(logits >= 0, 1 / (1 + power), power / (1 + power))


def tree_sum(values: np.ndarray) -> np.ndarray:
    """Sums over the last axis in an order that depends on its length alone."""
    while values.shape[-1] > 1:
        if values.shape[-1] % 2:
            values = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
        half = values.shape[-1] // 2
        values = values[..., :half] + values[..., half:]
    return values[..., 0]
