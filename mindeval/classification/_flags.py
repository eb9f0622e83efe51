"""From multilabel predictions and labels to decided and true flags, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs
from mindeval.classification._arguments import spread_weights
from mindeval.classification._class_scores import above_threshold
from mindeval.classification._labels import whole_labels


class Flags(NamedTuple):
    """A multilabel batch, [rows, labels] each: the decided flags, the true flags, and which of them count."""

    predictions: np.ndarray
    labels: np.ndarray
    counted: np.ndarray
    weights: np.ndarray | None
    samples: int


def decide_flags(
    predictions: Any,
    labels: Any,
    mask: Any = None,
    weights: Any = None,
    *,
    num_classes: int | None = None,
    threshold: float = 0.5,
    ignore_index: int = -100,
) -> Flags:
    """Decided and true flags of a multilabel batch: both inputs [..., L], the labels 0 or 1.

    Integer or boolean predictions are flags; floats are scores, decided by ``threshold``. ``mask`` has the labels'
    shape, or that without the last axis. Rows of which no label counts are left out.

    Raises:
        ValueError, TypeError: if shapes, dtypes or ranges do not fit; see the messages.
    """
    wanted = whole_labels(labels, mask)
    given = inputs.to_numpy(predictions, "predictions")
    if wanted.ndim == 0 or given.shape != wanted.shape:
        raise ValueError(
            "multilabel predictions and labels must have one shape [..., labels], but got "
            f"{list(given.shape)} against {list(wanted.shape)}"
        )
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one label, but got labels of shape {list(wanted.shape)}")
    if num_classes is not None and wanted.shape[-1] != num_classes:
        raise ValueError(
            f"labels must have num_classes={num_classes} labels on the last axis, but got {list(wanted.shape)}"
        )
    wanted = wanted[None] if wanted.ndim == 1 else wanted
    given = given.reshape(wanted.shape)
    counted = wanted != ignore_index
    if mask is not None:
        per_row = np.shape(mask) == wanted.shape[:-1]
        flags = inputs.boolean_mask(mask, wanted.shape[:-1] if per_row else wanted.shape)
        counted = counted & (flags[..., None] if per_row else flags)
    _check_flags(wanted[counted], "labels")
    if given.dtype.kind == "f":
        decided = above_threshold(given, threshold, counted)
    else:
        _check_flags(given[counted], "predictions")
        decided = given.astype(bool)
    width = wanted.shape[-1]
    row_weights = spread_weights(weights, counted.any(axis=-1))
    rows_counted = counted.reshape(len(wanted), -1).any(axis=1)
    decided, truth, counted = (array.reshape(-1, width) for array in (decided, wanted == 1, counted))
    keep = counted.any(axis=1)
    if not keep.all():
        decided, truth, counted = decided[keep], truth[keep], counted[keep]
        row_weights = None if row_weights is None else row_weights[keep]
    return Flags(decided, truth, counted, row_weights, int(rows_counted.sum()))


def _check_flags(values: np.ndarray, what: str) -> None:
    if values.dtype.kind != "b" and values.size and (values.min() < 0 or values.max() > 1):
        wrong = values.min() if values.min() < 0 else values.max()
        raise ValueError(f"multilabel {what} must be 0 or 1, but got {wrong}")
