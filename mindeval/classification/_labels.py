"""Labels as users give them: whole numbers of any dtype, and what to say where they look one-hot."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mindeval import inputs


def whole_labels(labels: Any, mask: Any = None) -> np.ndarray:
    """Labels: integers as they are (no copy is made of int32), floats as int64 if they are whole numbers.

    Where the mask is False they may be anything, NaN too, and become 0.
    """
    array = inputs.to_numpy(labels, "labels")
    if array.dtype.kind in "ib":
        return array
    if mask is None:
        return inputs.class_ids(labels, "labels")
    array = _zero_where_masked(array, mask)
    ids = inputs.class_ids(array, "labels")
    if array.dtype.kind == "f":
        inputs.check_ids_apart(ids, str(getattr(labels, "dtype", array.dtype)).lower(), "labels")
    return ids


def _zero_where_masked(labels: np.ndarray, mask: Any) -> np.ndarray:
    """A mask that does not fit, which is refused later, changes nothing."""
    flags = inputs.to_numpy(mask, "mask")
    if flags.dtype.kind != "b" or flags.ndim == 0 or flags.shape != labels.shape[: flags.ndim]:
        return labels
    return np.where(flags.reshape(flags.shape + (1,) * (labels.ndim - flags.ndim)), labels, labels.dtype.type(0))


def warn_of_one_hot(predictions: np.ndarray, labels: np.ndarray) -> None:
    """Warn where ids of one shape [N, L] look like one-hot rows. No error: a batch of ids may look so by chance."""
    if is_one_hot(labels) and is_one_hot(predictions):
        warnings.warn(
            f"predictions and labels {list(labels.shape)} look one-hot, but are taken for ids of class 0 and 1: "
            "give argmax(-1) of both, or say task='multilabel' (if they are ids, task='multiclass' or 'binary')",
            RuntimeWarning,
            stacklevel=3,
        )


def warn_of_one_hot_labels(labels: np.ndarray) -> None:
    """Warn where labels [N, L], which come with as many scores, look like one-hot rows.

    No error: labels of binary problems may look so by chance, and whether a batch is taken must not depend on how the
    data was cut.
    """
    if is_one_hot(labels):
        warnings.warn(
            f"labels {list(labels.shape)} look one-hot, but are taken for {labels.size} labels of binary problems: "
            f"give labels.argmax(-1), with num_classes={labels.shape[1]} for curves, or say task='multilabel' "
            "(task='binary' if they are binary labels)",
            RuntimeWarning,
            stacklevel=3,
        )


def is_one_hot(values: np.ndarray) -> bool:
    """Whether whole numbers [N, L] of several rows are 0 but for one 1 in each row."""
    if values.ndim != 2 or len(values) < 2 or values.shape[1] < 2 or not _one_hot_rows(values[:1]):
        return False
    return _one_hot_rows(values)


def _one_hot_rows(values: np.ndarray) -> bool:
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all())
