"""The three totals of each class (decided rightly, decided, labelled), how they are kept, and averages over classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import repeat
from typing import Any, Callable, NamedTuple, Union

import numpy as np

from mindeval.classification._decisions import Decisions
from mindeval.classification._flags import Flags
from mindeval.constructors import one_of
from mindeval.state import Counts, ExactSum, Grouped, State

Total = Union[int, Fraction]
AVERAGES = ("auto", "binary", "micro", "macro", "weighted", "samples", "none")
DENSE_CLASSES = 4096  # with more, or with an unknown number, only classes that were seen are kept
_FINE_BITS = 128
_PAIRS = 1 << 12  # up to this many (label, prediction) pairs, one count of pairs is cheaper than three of classes


class ClassTotals(NamedTuple):
    """What is known of one class: numbers of positions, or exact sums of their weights."""

    correct: Total
    predicted: Total
    labelled: Total
    met: bool = False  # with a weight of 0 at least

    @property
    def seen(self) -> bool:
        """Whether the class occurs among labels or predictions."""
        return self.met or bool(self.predicted or self.labelled)


NOTHING = ClassTotals(0, 0, 0)
_COLUMNS = 4  # keys of a class's sums of weights: correct, predicted, labelled, and a mark that the class exists


def totals_state(num_classes: int | None, weighted: bool) -> State:
    """What ``count_totals`` adds to: int64 [C, 3], or groups for the classes seen, or exact sums of weights."""
    if weighted:
        return Grouped(ExactSum())
    if num_classes is not None and num_classes <= DENSE_CLASSES:
        return Counts((num_classes, 3))
    return Grouped(Counts(3))


def count_totals(decisions: Decisions, num_classes: int | None, weighted: bool) -> Any:
    """What a batch adds to the state of ``totals_state``."""
    if weighted:
        return _weighted_totals(decisions)
    limit = decisions.limit
    sparse: dict[int, np.ndarray] = {}
    if limit is None or limit > DENSE_CLASSES:
        counts = _add_blocks(decisions, sparse)
    elif limit**2 <= min(_PAIRS, decisions.labels.size):
        counts = _totals_of_pairs(decisions.pairs())
    else:
        counts = decisions.totals()
    if num_classes is not None and num_classes <= DENSE_CLASSES:
        return counts
    present = [*np.flatnonzero(counts.any(axis=1)).tolist(), *range(decisions.classes - 1, decisions.classes)]
    groups = {place: counts[place] if place < len(counts) else np.zeros(3, np.int64) for place in present if place >= 0}
    for place, three in sparse.items():
        groups[place] = groups.get(place, 0) + three
    return groups


def _add_blocks(decisions: Decisions, sparse: dict[int, np.ndarray]) -> np.ndarray:
    """The totals of low classes, int64 [classes, 3]; blocks with high ones are added to ``sparse``."""
    counts = np.zeros((1, 3), np.int64)
    for predictions, labels, _ in decisions.blocks():
        size = 1 + int(max(predictions.max(), labels.max()))
        if size > DENSE_CLASSES:
            _add_sparse(sparse, predictions, labels)
            continue
        if size > len(counts):
            counts = np.concatenate([counts, np.zeros((size - len(counts), 3), np.int64)])
        counts[:size] += _dense_totals(predictions, labels, size)
    return counts


def _dense_totals(predictions: np.ndarray, labels: np.ndarray, size: int) -> np.ndarray:
    if size * size <= _PAIRS:
        return _totals_of_pairs(np.bincount(labels * size + predictions, minlength=size * size).reshape(size, size))
    right = labels[labels == predictions]
    return np.stack([np.bincount(ids, minlength=size) for ids in (right, predictions, labels)], axis=1)


def _totals_of_pairs(pairs: np.ndarray) -> np.ndarray:
    return np.stack([pairs.diagonal(), pairs.sum(axis=0), pairs.sum(axis=1)], axis=1)


def _add_sparse(groups: dict[int, np.ndarray], predictions: np.ndarray, labels: np.ndarray) -> None:
    for column, ids in enumerate((labels[labels == predictions], predictions, labels)):
        for place, count in zip(*(part.tolist() for part in np.unique(ids, return_counts=True))):
            groups.setdefault(place, np.zeros(3, np.int64))[column] += count


def _weighted_totals(decisions: Decisions) -> dict[int, Any]:
    groups: dict[int, list] = {}
    if decisions.classes:
        groups[_COLUMNS * decisions.classes - 1] = []
    for predictions, labels, weights in decisions.blocks():
        assert weights is not None
        right = labels == predictions
        for column, ids, part in ((0, labels[right], weights[right]), (1, predictions, weights), (2, labels, weights)):
            for place, own in by_class(ids, part):
                groups.setdefault(_COLUMNS * place + column, []).append(own)
    return {key: np.concatenate([np.zeros(0), *parts]) for key, parts in groups.items()}


def by_class(ids: np.ndarray, values: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each class and its values, by one sort however many classes there are."""
    order = np.argsort(ids, kind="stable")
    places, starts = np.unique(ids[order], return_index=True)
    return zip(places.tolist(), np.split(values[order], starts[1:]))


def count_flag_totals(flags: Flags, weighted: bool, num_classes: int | None) -> Any:
    """What a multilabel batch adds to the state of ``totals_state``: the classes are the labels' columns."""
    truth, decided = flags.labels & flags.counted, flags.predictions & flags.counted
    columns = (truth & decided, decided, truth)
    width = truth.shape[1]
    if weighted:
        assert flags.weights is not None
        groups = {_COLUMNS * width - 1: np.zeros(0)}
        for column, marks in enumerate(columns):
            for place in np.flatnonzero(marks.any(axis=0)).tolist():
                groups[_COLUMNS * place + column] = flags.weights[marks[:, place]]
        return groups
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
        place, column = divmod(key, _COLUMNS)
        row = table.setdefault(place, [0, 0, 0, False])
        if column < 3:
            row[column], row[3] = member.fraction(), True
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
    pairs: Iterable[tuple[Total, Total]],
    zero_division: float,
    weights: Iterable[Total] | None = None,
    absent: int = 0,
) -> float:
    """The mean of quotients, weighted or not, rounded once.

    A quotient over 0 is worth ``zero_division``, or is left out where that is nan; so is the mean of nothing. Where
    all weights are 0 it is the plain mean, as in scikit-learn. ``absent``: how many quotients of 0 over 0, of weight
    0, there are besides.

    The addends are cut 128 bits below the highest one, far below what a float can show; exact fractions would grow
    with every class.
    """
    numbers: Iterable[Total] = repeat(1) if weights is None else weights
    known = [
        (pair if pair[1] else (int(zero_division), 1), n)
        for pair, n in zip(pairs, numbers)
        if pair[1] or not math.isnan(zero_division)
    ]
    weight = sum(n for _, n in known) if weights is not None else 0
    if weight:
        total, unit = _cut_sum([_quotient(n * above, below) for (above, below), n in known])
        return ratio(total, weight * unit, zero_division)
    quotients, count = [_quotient(*pair) for pair, _ in known], len(known)
    if absent and not math.isnan(zero_division):
        quotients, count = [*quotients, (absent * int(zero_division), 1)], count + absent
    total, unit = _cut_sum(quotients)
    return ratio(total, count * unit, zero_division)


def _quotient(above: Total, below: Total) -> tuple[int, int]:
    """Two integers of the same quotient."""
    if isinstance(above, int) and isinstance(below, int):
        return above, below
    exact = Fraction(above) / below
    return exact.numerator, exact.denominator


def _cut_sum(quotients: list[tuple[int, int]]) -> tuple[int, int]:
    """The sum of quotients >= 0, each cut 128 bits or more below the highest of them: its numerator, and its unit."""
    highest = max((above.bit_length() - below.bit_length() for above, below in quotients if above), default=0)
    bits = _FINE_BITS + max(0, -highest)
    return sum((above << bits) // below for above, below in quotients), 1 << bits


def chosen_classes(
    table: Mapping[int, ClassTotals], classes: Iterable[int] | None, known: int, present_only: bool
) -> tuple[list[ClassTotals], int]:
    """The totals of the classes that enter an average, and how many more there are without any.

    They are those asked for; else those seen; else all that are known to exist.
    """
    if classes is not None:
        rows = [table.get(place, NOTHING) for place in classes]
        return rows, 0
    rows = [totals for totals in table.values() if totals.seen]
    return rows, 0 if present_only else known - len(rows)


def average_over_classes(
    rows: list[ClassTotals], absent: int, formula: Formula, average: str, zero_division: float
) -> float:
    """The average of a formula over classes: micro, macro or weighted by labels."""
    if average == "micro":
        correct, predicted, labelled = (sum(column) for column in list(zip(*rows))[:3]) if rows else (0, 0, 0)
        return ratio(*formula(ClassTotals(correct, predicted, labelled)), zero_division)
    weights = [row.labelled for row in rows] if average == "weighted" else None
    return mean_ratio([formula(row) for row in rows], zero_division, weights, absent)


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


def check_average(average: str, task: str, num_classes: int | None) -> str:
    """The average, if it exists and suits the task and the declared number of classes."""
    one_of(average, "average", AVERAGES)
    if average == "samples" and task != "multilabel":
        raise ValueError(f"average='samples' needs task='multilabel', but got task={task!r}")
    if average == "binary" and task in ("multiclass", "multilabel"):
        raise ValueError(f"average='binary' needs two classes, but got task={task!r}")
    if average == "binary" and num_classes not in (None, 2):
        raise ValueError(f"average='binary' needs two classes, but got num_classes={num_classes}")
    return average


def per_sample(flags: Flags, formula: Formula, zero_division: float) -> np.ndarray:
    """The formula on each row of a multilabel batch, float64."""
    truth, decided = flags.labels & flags.counted, flags.predictions & flags.counted
    sizes = np.stack([np.count_nonzero(marks, axis=1) for marks in (truth & decided, decided, truth)], axis=1)
    distinct, places = np.unique(sizes, axis=0, return_inverse=True)
    values = [ratio(*formula(ClassTotals(*row)), zero_division) for row in distinct.tolist()]
    return np.array(values, np.float64)[places.reshape(-1)]
