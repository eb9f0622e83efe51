"""The arguments that the classification metrics share, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.constructors import finite_number, one_of

TASKS = ("classification", "binary", "multiclass", "multilabel")


def check_task(task: str) -> str:
    """The task, if it exists."""
    return one_of(task, "task", TASKS)


def check_classes(num_classes: int | None, task: str) -> int | None:
    """The declared number of classes; 2 for ``task="binary"``."""
    check_task(task)
    if num_classes is not None:
        num_classes = inputs.whole_number(num_classes, "num_classes")
        if num_classes < 1:
            raise ValueError(f"num_classes must be a whole number >= 1, but got {num_classes}")
    if task == "binary":
        if num_classes not in (None, 2):
            raise ValueError(f"task='binary' has 2 classes, but got num_classes={num_classes}")
        return 2
    if task != "multilabel" and num_classes == 1:
        raise ValueError(f"num_classes must be >= 2 for task={task!r}, but got 1")
    return num_classes


def check_top_k(top_k: int, num_classes: int | None) -> int:
    """A whole number from 1 to the number of classes, if that is known."""
    top_k = inputs.whole_number(top_k, "top_k")
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, but got {top_k}")
    if num_classes is not None and top_k > num_classes:
        raise ValueError(f"top_k must be at most num_classes={num_classes}, but got {top_k}")
    return top_k


def check_threshold(threshold: float) -> float:
    """A finite number: one between 0 and 1 is of probabilities, any other of other scores."""
    return finite_number(threshold, "threshold (in (0, 1) for probabilities, 0.0 for logits)")


def check_threshold_of_classes(threshold: float, scores: str) -> None:
    """Scores of several classes are decided by the highest, so a threshold that would decide otherwise is refused."""
    if threshold not in (0.5, 0.0):  # of two probabilities, and of two logits, the higher one is above it
        raise ValueError(
            f"threshold={threshold} decides scores of a single class, but {scores} hold a score for each "
            "class, of which the highest decides: give the scores of class 1 alone with task='binary'"
        )


def check_weights(weights: Any, weighted: bool) -> None:
    """Weights are sums of reals: a metric must know of them when its states are made, and they must then come."""
    if weights is not None and not weighted:
        raise ValueError("weights were given, but the metric was not made with weighted=True")
    if weights is None and weighted:
        raise ValueError("weights= must be given, for the metric was made with weighted=True")


def spread_weights(weights: Any, counted: np.ndarray) -> np.ndarray | None:
    """Weights as flat float64 of the shape of ``counted``, from that shape or its first axes.

    They must be finite and >= 0 where a position counts; elsewhere they may be anything.
    """
    if weights is None:
        return None
    given, shape = np.atleast_1d(inputs.to_numpy(weights, "weights")), counted.shape
    if given.shape != shape[: given.ndim]:
        raise ValueError(
            f"weights must have shape {list(shape)} or that of its first axes, but got {list(given.shape)}"
        )
    spread = np.broadcast_to(given.reshape(given.shape + (1,) * (len(shape) - given.ndim)), shape)
    kept = spread[counted]
    if not (np.isfinite(kept) & (kept >= 0)).all():
        raise ValueError("weights must be finite and >= 0 where a label counts")
    if given.dtype.kind in "iu" and kept.max(initial=0) > 2**53:
        raise ValueError("integer weights must not be above 2^53, beyond which float64 cannot tell them apart")
    return spread.astype(np.float64).reshape(-1)
