"""The three totals of each class (decided rightly, decided, labelled), how they are kept, and averages over classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Callable, NamedTuple, Union

import numpy as np

from mindeval.classification._decisions import Decisions, Flags
from mindeval.state import Counts, ExactSum, Grouped, State

Total = Union[int, Fraction]
AVERAGES = ("auto", "binary", "micro", "macro", "weighted", "samples", "none")
DENSE_CLASSES = 4096  # with more, or with an unknown number, only classes that were seen are kept
_FINE_BITS = 128
_PAIRS = 1 << 12  # up to this many (label, prediction) pairs one bincount of pairs is cheaper than three of classes


class ClassTotals(NamedTuple):
    """What is known of one class: numbers of positions, or exact sums of their weights."""

    correct: Total
    predicted: Total
    labelled: Total

    @property
    def seen(self) -> bool:
        """Whether the class occurs among labels or predictions."""
        return bool(self.predicted or self.labelled)


def totals_state(num_classes: int | None, weighted: bool) -> State:
    """What ``count_totals`` adds to: int64 [C, 3], or groups for the classes seen, or exact sums of weights."""
    if weighted:
        return Grouped(ExactSum(), None if num_classes is None else range(3 * num_classes))
    if num_classes is not None and num_classes <= DENSE_CLASSES:
        return Counts((num_classes, 3))
    return Grouped(Counts(3))


def count_totals(decisions: Decisions, num_classes: int | None, weighted: bool) -> Any:
    """What a batch adds to the state of ``totals_state``."""
    if weighted:
        return _weighted_totals(decisions)
    limit = decisions.limit
    sparse: dict[int, np.ndarray] = {}
    if limit is not None and limit**2 <= _PAIRS:
        pairs = decisions.pairs()
        counts = np.stack([pairs.diagonal(), pairs.sum(axis=0), pairs.sum(axis=1)], axis=1)
        return counts if num_classes is not None else dict(enumerate(counts))
    if limit is not None and limit <= DENSE_CLASSES:
        counts = decisions.totals()
    else:
        counts = _add_blocks(decisions, sparse)
    if num_classes is not None and num_classes <= DENSE_CLASSES:
        return counts
    present = [*np.flatnonzero(counts.any(axis=1)).tolist(), *range(decisions.classes - 1, decisions.classes)]
    groups = {place: counts[place] if place < len(counts) else np.zeros(3, np.int64) for place in present if place >= 0}
    for place, three in sparse.items():
        groups[place] = groups.get(place, 0) + three
    return groups


def _add_blocks(decisions: Decisions, sparse: dict[int, np.ndarray]) -> np.ndarray:
    """The totals of low classes, int64 [classes, 3]; blocks with high ones are added to ``sparse``."""
    counts = np.zeros((max(decisions.classes, 1), 3), np.int64)
    for predictions, labels, _ in decisions.blocks():
        size = decisions.limit or 1 + int(max(predictions.max(), labels.max()))
        if size > DENSE_CLASSES:
            _add_sparse(sparse, predictions, labels)
            continue
        if size > len(counts):
            counts = np.concatenate([counts, np.zeros((size - len(counts), 3), np.int64)])
        counts[:size] += _dense_totals(predictions, labels, size)
    return counts


def _dense_totals(predictions: np.ndarray, labels: np.ndarray, size: int) -> np.ndarray:
    if size * size <= _PAIRS:
        pairs = np.bincount(labels * size + predictions, minlength=size * size).reshape(size, size)
        return np.stack([pairs.diagonal(), pairs.sum(axis=0), pairs.sum(axis=1)], axis=1)
    right = labels[labels == predictions]
    return np.stack([np.bincount(ids, minlength=size) for ids in (right, predictions, labels)], axis=1)


def _add_sparse(groups: dict[int, np.ndarray], predictions: np.ndarray, labels: np.ndarray) -> None:
    for column, ids in enumerate((labels[labels == predictions], predictions, labels)):
        for place, count in zip(*(part.tolist() for part in np.unique(ids, return_counts=True))):
            groups.setdefault(place, np.zeros(3, np.int64))[column] += count


def _weighted_totals(decisions: Decisions) -> dict[int, Any]:
    groups: dict[int, list] = {}
    if decisions.classes:
        groups[3 * decisions.classes - 1] = []
    for predictions, labels, weights in decisions.blocks():
        assert weights is not None
        right = labels == predictions
        for column, ids, part in ((0, labels[right], weights[right]), (1, predictions, weights), (2, labels, weights)):
            for place in np.unique(ids).tolist():
                groups.setdefault(3 * place + column, []).append(part[ids == place])
    return {key: np.concatenate([np.zeros(0), *parts]) for key, parts in groups.items()}


def count_flag_totals(flags: Flags, weighted: bool, num_classes: int | None) -> Any:
    """What a multilabel batch adds to the state of ``totals_state``: the classes are the labels' columns."""
    truth, decided = flags.labels & flags.counted, flags.predictions & flags.counted
    columns = (truth & decided, decided, truth)
    width = truth.shape[1]
    if weighted:
        assert flags.weights is not None
        return {
            3 * place + column: flags.weights[marks[:, place]]
            for column, marks in enumerate(columns)
            for place in range(width)
        }
    counts = np.stack([np.count_nonzero(marks, axis=0) for marks in columns], axis=1).astype(np.int64)
    return counts if num_classes is not None and width <= DENSE_CLASSES else dict(enumerate(counts))


def read_totals(state: Any) -> dict[int, ClassTotals]:
    """Class -> its totals, from any state of ``totals_state``, in the order of the classes."""
    if isinstance(state, Counts):
        return {place: ClassTotals(*row) for place, row in enumerate(state.value.tolist())}
    if isinstance(state.template, Counts):
        return {place: ClassTotals(*member.value.tolist()) for place, member in state.value.items()}
    table: dict[int, list] = {}
    for key, member in state.value.items():
        table.setdefault(key // 3, [0, 0, 0])[key % 3] = member.fraction()
    return {place: ClassTotals(*row) for place, row in table.items()}


def ratio(numerator: Total, denominator: Total, otherwise: float) -> float:
    """The quotient, rounded once; ``otherwise`` for a denominator of 0."""
    return float(numerator / denominator) if denominator else float(otherwise)


Formula = Callable[[ClassTotals], tuple[Total, Total]]  # -> numerator and denominator


def precision(totals: ClassTotals) -> tuple[Total, Total]:
    return totals.correct, totals.predicted


def recall(totals: ClassTotals) -> tuple[Total, Total]:
    return totals.correct, totals.labelled


def f_beta(totals: ClassTotals, square: Total = 1) -> tuple[Total, Total]:
    """F: (1 + b^2) correct / (predicted + b^2 labelled), given b^2."""
    return (1 + square) * totals.correct, totals.predicted + square * totals.labelled


def exact_square(beta: float) -> Total:
    """beta^2 without rounding."""
    square = Fraction(beta) ** 2
    return int(square) if square.denominator == 1 else square


def jaccard(totals: ClassTotals) -> tuple[Total, Total]:
    return totals.correct, totals.predicted + totals.labelled - totals.correct


def mean_ratio(
    pairs: Iterable[tuple[Total, Total]], zero_division: float, weights: Iterable[Total] | None = None
) -> float:
    """The mean of quotients, weighted or not, rounded once.

    A quotient over 0 is worth ``zero_division``, or is left out where that is nan; so is the mean of nothing.

    The quotients are whole multiples of 2^-128, far below what a float can show; exact fractions would grow with
    every class.
    """
    pairs = list(pairs)
    numbers = [1] * len(pairs) if weights is None else list(weights)
    total: Total = 0
    weight: Total = 0
    for (numerator, denominator), number in zip(pairs, numbers):
        if denominator:
            if isinstance(numerator, int) and isinstance(denominator, int):
                units = (numerator << _FINE_BITS) // denominator
            else:
                units = _fine(Fraction(numerator) / denominator)
        elif math.isnan(zero_division):
            continue
        else:
            units = int(zero_division) << _FINE_BITS
        total += number * units
        weight += number
    return ratio(total, weight * (1 << _FINE_BITS), zero_division)


def _fine(value: Fraction) -> int:
    return (value.numerator << _FINE_BITS) // value.denominator


def chosen_classes(
    table: Mapping[int, ClassTotals], classes: Iterable[int] | None, known: int | None, present_only: bool
) -> list[int]:
    """The classes that enter an average: those asked for; else those seen; else all that are known to exist."""
    if classes is not None:
        return list(classes)
    if present_only:
        return [place for place, totals in table.items() if totals.seen]
    return list(range(known if known is not None else 1 + max(table, default=-1)))


def average_over_classes(
    table: Mapping[int, ClassTotals], formula: Formula, average: str, chosen: list[int], zero_division: float
) -> float:
    """The average of a formula over the chosen classes: micro, macro or weighted by labels."""
    rows = [table.get(place, ClassTotals(0, 0, 0)) for place in chosen]
    if average == "micro":
        return ratio(
            *formula(ClassTotals(*(sum(column) for column in zip(*rows)) if rows else (0, 0, 0))), zero_division
        )
    weights = [row.labelled for row in rows] if average == "weighted" else None
    return mean_ratio([formula(row) for row in rows], zero_division, weights)


def resolve_average(average: str, task: str, classes: int) -> str:
    """What "auto" and "none" are worth.

    "auto" is binary for ``task="binary"`` and where ``task="classification"`` has no class above 1, and macro
    otherwise; "none" is the macro mean.
    """
    if average == "none":
        return "macro"
    if average == "auto":
        return "binary" if task == "binary" or (task == "classification" and classes <= 2) else "macro"
    if average == "binary" and classes > 2:
        raise ValueError(f"average='binary' is for two classes, but {classes} classes were seen or declared")
    return average


def check_average(average: str, task: str) -> str:
    """The average, if it exists and suits the task."""
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {list(AVERAGES)}, but got {average!r}")
    if average == "samples" and task != "multilabel":
        raise ValueError(f"average='samples' needs task='multilabel', but got task={task!r}")
    if average == "binary" and task in ("multiclass", "multilabel"):
        raise ValueError(f"average='binary' needs two classes, but got task={task!r}")
    return average


def per_sample(flags: Flags, formula: Formula, zero_division: float) -> np.ndarray:
    """The formula on each row of a multilabel batch, float64."""
    truth, decided = flags.labels & flags.counted, flags.predictions & flags.counted
    sizes = np.stack([np.count_nonzero(marks, axis=1) for marks in (truth & decided, decided, truth)], axis=1)
    distinct, places = np.unique(sizes, axis=0, return_inverse=True)
    values = [ratio(*formula(ClassTotals(*row)), zero_division) for row in distinct.tolist()]
    return np.array(values, np.float64)[places.reshape(-1)]
