"""The confusion matrix, and the two measures of agreement: Matthews correlation and Cohen's kappa."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs, rounding
from mindeval.classification import _totals
from mindeval.classification._decisions import (
    Decisions,
    check_classes,
    check_task,
    check_threshold,
    check_weights,
    decide,
    decide_flags,
    named_errors,
)
from mindeval.classification._totals import ClassTotals, Total
from mindeval.metric import Metric
from mindeval.state import Count, Counts, ExactSum, Grouped

_MOST_CELLS = 1 << 27  # 1 GiB of int64; a matrix of a whole vocabulary is asked for by mistake only
_MOST_SHOWN = 1024  # classes up to which a sparse matrix is shown in full
NORMALIZATIONS = (None, "true", "pred", "all")


class ConfusionMatrix(Metric):
    r"""How often each class was decided for each label: row = label, column = decision, as in scikit-learn.

    Inputs are those of ``Precision``. The value of ``eval()`` is the accuracy, trace over total, for a score is one
    number. ``result()``: ``accuracy``, ``total``, and ``matrix``: lists of integers, or of floats if normalised;
    ``[L][2][2]`` for multilabel, as scikit-learn's ``multilabel_confusion_matrix``. Without ``num_classes`` only the
    cells that occur are kept, so memory is that of the pairs seen: ``cells`` then lists ``[label, decision,
    count]``, and ``matrix`` is None above 1,024 classes.

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes: asks for the dense matrix.
        normalize: None, or a row, column or the whole sums to 1: "true" (over labels), "pred" (over decisions),
            "all". A row or column of zeros stays 0.
        threshold: see ``Precision``.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``, see ``Precision``; cells are then sums of weights.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments, or more than 2^27 dense cells; ``update``: see ``Precision``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> confusion = ConfusionMatrix(num_classes=3)
    >>> confusion.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> confusion.eval(), confusion.result()["matrix"]
    (0.75, [[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    """

    higher_is_better = True

    @named_errors
    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        normalize: str | None = None,
        threshold: float = 0.5,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        if normalize not in NORMALIZATIONS:
            raise ValueError(f"normalize must be one of {list(NORMALIZATIONS)}, but got {normalize!r}")
        self.normalize, self.threshold = normalize, check_threshold(threshold)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        self.weighted = bool(weighted)
        self._dense = self.num_classes is not None and task != "multilabel" and not self.weighted
        size = self.num_classes or 0
        if self._dense and size**2 > _MOST_CELLS:
            raise ValueError(
                f"num_classes={num_classes} asks for a dense matrix of {size**2:,} cells, the most is "
                f"{_MOST_CELLS:,}: leave it out to keep only the cells that occur"
            )
        cells = Counts((size, size)) if self._dense else Grouped(ExactSum() if self.weighted else Count())
        settings: dict[str, Any] = {
            "task": task,
            "num_classes": self.num_classes,
            "normalize": normalize,
            "ignore": self.ignore_index,
        }
        if self.threshold != 0.5:
            settings["threshold"] = self.threshold
        if self.weighted:
            settings["weighted"] = True
        super().__init__(states={"cells": cells}, settings=settings, distributed=distributed, name=name)

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        options: dict[str, Any] = {
            "num_classes": self.num_classes,
            "threshold": self.threshold,
            "ignore_index": self.ignore_index,
        }
        if self.task == "multilabel":
            flags = decide_flags(predictions, labels, mask, weights, **options)
            return {"cells": _flag_cells(flags, self.weighted), "samples": flags.samples}
        decisions = decide(predictions, labels, mask, weights, task=self.task, **options)
        cells: Any
        if self._dense:
            cells = decisions.pairs()
        else:
            cells = _sparse_cells(decisions, self.weighted)
        return {"cells": cells, "samples": decisions.samples()}

    def _compute(self, states: Any) -> dict[str, Any]:
        number = float if self.weighted else int
        if self._dense:
            return self._of_dense(states["cells"].value.tolist())
        cells: dict[tuple[int, ...], Total] = {
            tuple(int(part) for part in key.split(",")): _number(state) for key, state in states["cells"].value.items()
        }
        total: Total = sum(cells.values(), start=0)
        if self.task == "multilabel":
            width = self.num_classes or 1 + max(column for column, _, _ in cells)
            tables = [[[cells.get((c, y, p), 0) for p in (0, 1)] for y in (0, 1)] for c in range(width)]
            right = sum(table[0][0] + table[1][1] for table in tables)
            matrix = [_plain(normalized(table, self.normalize), number) for table in tables]
            return {"accuracy": _share(right, total), "total": number(total), "matrix": matrix}
        size = self.num_classes or 1 + max((max(cell) for cell in cells), default=0)
        right = sum(value for (label, decision), value in cells.items() if label == decision)
        shown = None
        if size <= _MOST_SHOWN:
            dense = [[cells.get((label, decision), 0) for decision in range(size)] for label in range(size)]
            shown = _plain(normalized(dense, self.normalize), number)
        listed = [[*cell, number(value)] for cell, value in sorted(cells.items()) if value]
        return {"accuracy": _share(right, total), "total": number(total), "matrix": shown, "cells": listed}

    def _of_dense(self, matrix: list[list[int]]) -> dict[str, Any]:
        total, trace = sum(map(sum, matrix)), sum(row[place] for place, row in enumerate(matrix))
        return {"accuracy": trace / total, "total": total, "matrix": normalized(matrix, self.normalize)}


def _sparse_cells(decisions: Decisions, weighted: bool) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    if decisions.classes:
        corner = decisions.classes - 1  # says how many classes there are
        cells[f"{corner},{corner}"] = [] if weighted else 0
    for predictions, labels, weights in decisions.blocks():
        pairs, places, counts = np.unique(
            np.stack([labels, predictions]), axis=1, return_inverse=True, return_counts=True
        )
        keys = [f"{label},{decision}" for label, decision in pairs.T.tolist()]
        if not weighted:
            for key, count in zip(keys, counts.tolist()):
                cells[key] = cells.get(key, 0) + count
            continue
        assert weights is not None
        order = np.argsort(places.reshape(-1), kind="stable")
        for key, part in zip(keys, np.split(weights[order], np.cumsum(counts)[:-1])):
            cells.setdefault(key, []).extend(part.tolist())
    return cells


def _flag_cells(flags: Any, weighted: bool) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for column in range(flags.labels.shape[1]):
        keep = flags.counted[:, column]
        truth, decided = flags.labels[keep, column], flags.predictions[keep, column]
        for label in (0, 1):
            for decision in (0, 1):
                hit = (truth == label) & (decided == decision)
                cells[f"{column},{label},{decision}"] = flags.weights[keep][hit] if weighted else int(hit.sum())
    return cells


def normalized(matrix: Sequence[Sequence[Total]], normalize: str | None) -> list[list[Total | float]]:
    """A matrix over the sums of its rows ("true"), of its columns ("pred") or of all ("all"); 0 over 0 is 0."""
    if normalize is None:
        return [list(row) for row in matrix]
    rows, columns = [sum(row) for row in matrix], [sum(column) for column in zip(*matrix)]
    everything = sum(rows)
    divisors = {
        "true": lambda row, column: rows[row],
        "pred": lambda row, column: columns[column],
        "all": lambda row, column: everything,
    }
    over = divisors[normalize]
    return [[_totals.ratio(cell, over(r, c), 0.0) for c, cell in enumerate(row)] for r, row in enumerate(matrix)]


def _number(state: Any) -> Total:
    return state.fraction() if isinstance(state, ExactSum) else state.value


def _plain(matrix: list[list[Any]], number: type) -> list[list[Any]]:
    return [[number(cell) if isinstance(cell, (int, Fraction)) else cell for cell in row] for row in matrix]


def _share(part: Total, total: Total) -> float:
    return _totals.ratio(part, total, float("nan"))


class _Agreement(Metric):
    """What Matthews correlation and Cohen's kappa share: the totals of each class, so memory is that of the classes."""

    higher_is_better = True

    @named_errors
    def __init__(
        self,
        task: str,
        num_classes: int | None,
        threshold: float,
        ignore_index: int,
        weighted: bool,
        extra: Mapping[str, Any],
        distributed: bool | str,
        name: str | None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        self.threshold, self.weighted = check_threshold(threshold), bool(weighted)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        self._classes = 2 if task == "multilabel" else self.num_classes
        settings = {**extra, "task": task, "ignore": self.ignore_index, "threshold": self.threshold}
        if self.num_classes is not None:
            settings["num_classes"] = self.num_classes
        if self.weighted:
            settings["weighted"] = True
        states = {
            "classes": _totals.totals_state(self._classes, self.weighted),
            "disagreement": ExactSum() if self.weighted else Count(),
        }
        super().__init__(states=states, settings=settings, distributed=distributed, name=name)

    def _disagreement(self, distances: np.ndarray) -> np.ndarray:
        """What the distance of a decision from its label costs, int64."""
        return np.zeros_like(distances)

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        if self.task == "multilabel":
            decisions = self._flat_flags(predictions, labels, mask, weights)
        else:
            decisions = decide(
                predictions,
                labels,
                mask,
                weights,
                task=self.task,
                num_classes=self.num_classes,
                threshold=self.threshold,
                ignore_index=self.ignore_index,
            )
        cost: Any = [] if self.weighted else 0
        for block in decisions.blocks():
            costs = self._disagreement(np.abs(block.labels - block.predictions))
            if self.weighted:
                cost.extend((costs * block.weights).tolist())
            else:
                cost += int(costs.sum())
        totals = _totals.count_totals(decisions, self._classes, self.weighted)
        return {"classes": totals, "disagreement": cost, "samples": decisions.samples()}

    def _flat_flags(self, predictions: Any, labels: Any, mask: Any, weights: Any) -> Decisions:
        flags = decide_flags(
            predictions,
            labels,
            mask,
            weights,
            num_classes=self.num_classes,
            threshold=self.threshold,
            ignore_index=self.ignore_index,
        )
        spread = None
        if flags.weights is not None:
            spread = np.broadcast_to(flags.weights[:, None], flags.labels.shape).reshape(-1)
        decided, truth, counted = (array.reshape(-1) for array in (flags.predictions, flags.labels, flags.counted))
        return Decisions(decided, truth, counted, spread, self.ignore_index, 2, 2, len(flags.labels))

    def _margins(self, states: Any) -> tuple[list[ClassTotals], Total]:
        rows = list(_totals.read_totals(states["classes"]).values())
        return rows, sum(row.labelled for row in rows)


class MatthewsCorrCoef(_Agreement):
    r"""Matthews correlation of labels and decisions, in [-1, 1].

    With c right ones of s, and class k labelled :math:`t_k` and decided :math:`p_k` times,
    :math:`(c s - \sum_k t_k p_k) / \sqrt{(s^2 - \sum_k p_k^2)(s^2 - \sum_k t_k^2)}`. The products are exact integers
    of any size, and the value is rounded once. Where all labels, or all decisions, are of one class it is 0, as in
    scikit-learn.

    Inputs are those of ``Precision``; for multilabel each label of each row is one binary decision. ``result()``:
    ``matthews_corrcoef`` and ``total``.

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked; it never changes the value.
        threshold: see ``Precision``.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``, see ``Precision``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``Precision``.

    The definition is that of Gorodkin, *Comparing two K-category assignments by a K-category correlation coefficient*
    (Comput. Biol. Chem. 28, 2004), and of scikit-learn's ``matthews_corrcoef``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> correlation = MatthewsCorrCoef()
    >>> correlation.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> correlation.eval()
    0.7
    """

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        threshold: float = 0.5,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        super().__init__(task, num_classes, threshold, ignore_index, weighted, {}, distributed, name)

    def _compute(self, states: Any) -> dict[str, Any]:
        rows, total = self._margins(states)
        covariance = total * sum(row.correct for row in rows) - sum(row.labelled * row.predicted for row in rows)
        of_labels = total**2 - sum(row.labelled**2 for row in rows)
        of_decisions = total**2 - sum(row.predicted**2 for row in rows)
        value = 0.0
        if of_labels and of_decisions:
            value = rounding.sqrt(Fraction(covariance) ** 2 / (Fraction(of_labels) * of_decisions))
        return {
            "matthews_corrcoef": -value if covariance < 0 else value,
            "total": float(total) if self.weighted else int(total),
        }


class CohenKappa(_Agreement):
    r"""Cohen's kappa, agreement beyond chance: :math:`1 - \sum w_{ij} x_{ij} / \sum w_{ij} e_{ij}`.

    :math:`x_{ij}` counts label i decided as j, :math:`e_{ij} = t_i p_j / s` is what chance would give, and
    :math:`w_{ij}` is 1 for i != j, or the distance :math:`|i - j|` or its square. Both sums come from totals of each
    class and one integer, so nothing overflows and memory is that of the classes. Where the sum for chance is 0 (all
    labels and decisions of one class) it is nan, with a warning.

    Inputs are those of ``Precision``; for multilabel each label of each row is one binary decision. ``result()``:
    ``cohen_kappa`` and ``total``.

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked; it never changes the value.
        weights: None, "linear" or "quadratic". Distances are those of class ids, as in scikit-learn where all
            classes up to the highest occur (it counts places among the classes that occur).
        threshold: see ``Precision``.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=`` of samples, see ``Precision``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``Precision``.

    The definition is that of Cohen, *Weighted kappa* (Psychol. Bull. 70, 1968), and of scikit-learn's
    ``cohen_kappa_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> kappa = CohenKappa()
    >>> kappa.update([0, 0, 1, 1], [0, 1, 1, 1])
    >>> kappa.eval()
    0.5
    """

    @named_errors
    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        weights: str | None = None,
        threshold: float = 0.5,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if weights not in (None, "linear", "quadratic"):
            raise ValueError(f"weights must be None, 'linear' or 'quadratic', but got {weights!r}")
        self.weights = weights
        extra = {"weights": weights}
        super().__init__(task, num_classes, threshold, ignore_index, weighted, extra, distributed, name)

    def _disagreement(self, distances: np.ndarray) -> np.ndarray:
        if self.weights is None:
            return (distances != 0).astype(np.int64)
        return distances if self.weights == "linear" else distances * distances

    def _compute(self, states: Any) -> dict[str, Any]:
        table = _totals.read_totals(states["classes"])
        rows, total = self._margins(states)
        observed = _number(states["disagreement"])
        chance = {None: _chance_of_difference, "linear": _linear_chance, "quadratic": _quadratic_chance}[self.weights](
            list(table), rows, total
        )
        if not chance:
            warnings.warn(
                f"'{self.name}': labels and decisions are all of one class, so kappa is undefined (nan)",
                RuntimeWarning,
                stacklevel=3,
            )
        value = float(1 - Fraction(observed) * total / chance) if chance else float("nan")
        return {"cohen_kappa": value, "total": float(total) if self.weighted else int(total)}


def _chance_of_difference(places: list[int], rows: list[ClassTotals], total: Total) -> Total:
    return total * total - sum(row.labelled * row.predicted for row in rows)


def _quadratic_chance(places: list[int], rows: list[ClassTotals], total: Total) -> Total:
    """sum (i - j)^2 t_i p_j, from the first two moments of both margins."""
    label_moment, label_square = _moments(places, [row.labelled for row in rows])
    decision_moment, decision_square = _moments(places, [row.predicted for row in rows])
    return total * label_square + total * decision_square - 2 * label_moment * decision_moment


def _moments(places: list[int], counts: list[Total]) -> tuple[Total, Total]:
    return sum(i * n for i, n in zip(places, counts)), sum(i * i * n for i, n in zip(places, counts))


def _linear_chance(places: list[int], rows: list[ClassTotals], total: Total) -> Total:
    """sum |i - j| t_i p_j: between two neighbouring classes pass all pairs with one end on either side."""
    chance: Total = 0
    labels_below: Total = 0
    decisions_below: Total = 0
    for place, row, following in zip(places, rows, places[1:]):
        labels_below += row.labelled
        decisions_below += row.predicted
        crossing = labels_below * (total - decisions_below) + decisions_below * (total - labels_below)
        chance += (following - place) * crossing
    return chance
