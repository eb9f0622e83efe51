"""From predictions (class ids, probabilities or logits) and labels to decided classes, checked and in blocks.

What is done with the decisions lives in _totals.py and in the metrics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

import numpy as np

from mindeval import inputs
from mindeval.classification._arguments import check_threshold_of_classes, spread_weights
from mindeval.classification._class_scores import above_threshold, highest
from mindeval.classification._labels import is_one_hot, warn_of_one_hot, whole_labels
from mindeval.kernels.count import count_classes, count_pairs

BLOCK = 1 << 15  # labels of a block: a few int64 blocks of this size stay in the second-level cache


class Block(NamedTuple):
    """Positions that count: decided class, label, and weight (None: all weigh 1) of each."""

    predictions: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None


class Decisions:
    """The decided class and the label of each position of a batch.

    Args:
        predictions: class ids, flat.
        labels: class ids, flat, ignored ones among them.
        counted: bool, flat: the positions that count; None where ``ignore_index`` alone decides.
        weights: float64, flat, or None.
        ignore_index: the label of positions that do not count.
        limit: class ids must be below this (None: no limit is known).
        classes: the number of classes that is known from the shape of the scores or was declared (0: unknown).
        rows: the length of the first axis.
    """

    def __init__(
        self,
        predictions: np.ndarray,
        labels: np.ndarray,
        counted: np.ndarray | None,
        weights: np.ndarray | None,
        ignore_index: int,
        limit: int | None,
        classes: int,
        rows: int,
    ) -> None:
        self.predictions, self.labels, self.counted, self.weights = predictions, labels, counted, weights
        self.ignore_index, self.limit, self.classes, self.rows = ignore_index, limit, classes, rows
        self._seen = 0  # positions that blocks() gave

    def blocks(self) -> Iterator[Block]:
        """The positions that count, int64, checked, a block at a time: no copy of the whole is made."""
        self._seen = 0  # a metric may go over them twice
        for start in range(0, self.labels.size, BLOCK):
            part = slice(start, start + BLOCK)
            labels = self.labels[part].astype(np.int64, copy=False)
            predictions = self.predictions[part].astype(np.int64, copy=False)
            weights = None if self.weights is None else self.weights[part]
            keep = None if self.counted is None else self.counted[part]
            if keep is None and (self.ignore_index >= 0 or not _inside(labels, self.limit)):
                keep = labels != self.ignore_index
            if keep is not None and not keep.all():
                labels, predictions = labels[keep], predictions[keep]
                weights = None if weights is None else weights[keep]
            if labels.size:
                if keep is not None:
                    check_range(labels, self.limit, "labels", self.ignore_index)
                check_range(predictions, self.limit, "predictions", None)
                self._seen += labels.size
                yield Block(predictions, labels, weights)

    def pairs(self) -> np.ndarray:
        """How often each decision met each label, int64 [limit, limit]: row = label."""
        return self._counts(count_pairs)

    def totals(self) -> np.ndarray:
        """How often each class was decided rightly, decided, and the label: int64 [limit, 3]."""
        return self._counts(count_classes)

    def _counts(self, count: Callable) -> np.ndarray:
        result = count(self.predictions, self.labels, self.limit, self.ignore_index, self.counted)
        if result is None:
            for _ in self.blocks():  # raises, and says which class is out of range
                pass
            raise RuntimeError("predictions or labels changed while they were counted")
        self._seen = int(result.sum() if count is count_pairs else result[:, 2].sum())
        return result

    def samples(self) -> int:
        """Rows of the first axis with a position that counts, once they were all given or counted."""
        if self.labels.size == self.rows:
            return self._seen
        counted = self.labels != self.ignore_index if self.counted is None else self.counted
        return int(counted.reshape(self.rows, -1).any(axis=1).sum()) if self.rows else 0


def decide(
    predictions: Any,
    labels: Any,
    mask: Any = None,
    weights: Any = None,
    *,
    task: str = "classification",
    num_classes: int | None = None,
    threshold: float = 0.5,
    top_k: int = 1,
    ignore_index: int = -100,
) -> Decisions:
    """Decided classes and labels of a batch of binary or multiclass predictions.

    Args:
        predictions: class ids of the labels' shape; or scores (probabilities or logits) of the labels' shape with
            one more axis, the classes (or of shape [N, classes] for N labels in all), of which the highest score is
            decided, the lowest id among equals. For ``task="binary"`` floats of the labels' shape (or with a last
            axis of length 1) are scores of class 1, decided by ``threshold``.
        labels: class ids of any shape.
        mask: bool of the labels' shape, True where a position counts.
        weights: numbers >= 0 of the labels' shape, or of its first axes.
        task: "classification", "binary" or "multiclass".
        num_classes: the declared number of classes.
        threshold: see ``above_threshold``.
        top_k: with scores, a label among the ``top_k`` highest is decided; if it is not, the highest.
        ignore_index: the label of positions that do not count.

    Raises:
        ValueError, TypeError: if shapes, dtypes or ranges do not fit; see the messages.

    Warns where ``task="classification"`` takes what looks one-hot for ids. That is no error, for a batch of ids may
    look so by chance, and whether a batch is taken must not depend on how the data was cut.
    """
    wanted = np.atleast_1d(whole_labels(labels, mask))
    given = inputs.to_numpy(predictions, "predictions")
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one label, but got labels of shape {list(wanted.shape)}")
    if given.ndim == 0:
        given = given.reshape(1)
    elif np.ndim(labels) == 0 and given.ndim == 1:
        given = given[None] if given.size > 1 or task == "multiclass" else given
    limit = 2 if task == "binary" else num_classes
    counted = _counted(wanted, mask, ignore_index)
    flat_weights = None
    if weights is not None:
        flat_weights = spread_weights(weights, wanted != ignore_index if counted is None else counted)
    if task == "binary" and given.shape == (*wanted.shape, 1):
        given = given[..., 0]
    classes = limit or 0
    if given.shape == wanted.shape:
        decided = read_decided(given, predictions, wanted, ignore_index, counted, task, threshold)
        if top_k != 1:
            raise ValueError(
                f"top_k={top_k} needs scores of every class, but got class ids of shape {list(given.shape)}"
            )
    elif given.ndim > 1 and (given.shape[:-1] == wanted.shape or given.shape[:-1] == (wanted.size,)):
        classes = _check_width(given.shape[-1], limit, top_k)
        check_threshold_of_classes(threshold, f"predictions {list(given.shape)}")
        limit = classes
        decided = highest(given, wanted, wanted != ignore_index if counted is None else counted, top_k)
    else:
        raise ValueError(
            f"predictions must have the shape of labels {list(wanted.shape)} (class ids) or that with an axis of "
            f"classes at the end (scores), but got {list(given.shape)}"
        )
    flat_counted = None if counted is None else counted.reshape(-1)
    return Decisions(
        decided.reshape(-1), wanted.reshape(-1), flat_counted, flat_weights, ignore_index, limit, classes, len(wanted)
    )


def read_decided(
    given: np.ndarray,
    predictions: Any,
    labels: np.ndarray,
    ignore_index: int,
    counted: np.ndarray | None,
    task: str,
    threshold: float,
) -> np.ndarray:
    """Decided classes from predictions of the labels' shape: ids, or for ``task="binary"`` scores of class 1.

    Args:
        given: the predictions as an array; where a label does not count they may hold anything.
        predictions: as the caller gave them, for their dtype.
        labels, ignore_index, counted, task, threshold: see ``decide``.
    """
    if given.dtype.kind in "ib":
        decided = given
    else:
        flags = labels != ignore_index if counted is None else counted
        if given.dtype.kind == "u":
            decided = inputs.class_ids(np.where(flags, given, given.dtype.type(0)), "predictions")
        elif task == "binary":
            decided = above_threshold(given, threshold, flags)
        else:
            decided = _ids_where_counted(given, labels, task, flags)
            inputs.check_ids_apart(decided, str(getattr(predictions, "dtype", given.dtype)).lower(), "predictions")
    if task == "classification":
        warn_of_one_hot(decided, labels)
    return decided


def _ids_where_counted(given: np.ndarray, labels: np.ndarray, task: str, counted: np.ndarray) -> np.ndarray:
    try:
        return inputs.class_ids(np.where(counted, given, 0), "predictions")
    except ValueError as error:
        hint = "; scores of class 1 need task='binary'" if task == "classification" else ""
        if is_one_hot(labels):
            hint = "; labels that are one-hot must become class ids: labels.argmax(-1)"
        raise ValueError(f"{error}{hint}") from None


def _counted(labels: np.ndarray, mask: Any, ignore_index: int) -> np.ndarray | None:
    return None if mask is None else inputs.boolean_mask(mask, labels.shape) & (labels != ignore_index)


def _check_width(width: int, limit: int | None, top_k: int) -> int:
    if limit is not None and width != limit:
        raise ValueError(f"predictions must have {limit} scores on the last axis, but got {width}")
    if width < 2:
        raise ValueError(
            f"scores of at least 2 classes are needed on the last axis, but got {width}; see task='binary'"
        )
    if top_k > width:
        raise ValueError(f"top_k={top_k} is more than the {width} classes")
    return width


def _inside(ids: np.ndarray, limit: int | None) -> bool:
    if ids.dtype.kind == "b" or not ids.size:
        return True
    unsigned = ids.astype(np.int64, copy=False).view(np.uint64)  # a negative id is a huge one
    return int(unsigned.max()) < (2**63 if limit is None else limit)


def check_counted(ids: np.ndarray, counted: np.ndarray, limit: int | None, what: str, ignore_index: int | None) -> None:
    """``check_range`` of the ids that count, which are looked for only if there is an id to complain of."""
    if not _inside(ids, limit):
        check_range(ids[counted], limit, what, ignore_index)


def check_range(ids: np.ndarray, limit: int | None, what: str, ignore_index: int | None) -> None:
    """Raise a ValueError unless all ids lie in [0, limit), or are not negative where there is no limit."""
    if _inside(ids, limit):
        return
    wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
    bounds = ">= 0" if limit is None else f"in [0, {limit})"
    besides = "" if ignore_index is None else f" or {ignore_index} (ignored)"
    raise ValueError(f"{what} must be class ids {bounds}{besides}, but got {wrong}")
