"""The confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import exact
from mindeval.classification import _totals
from mindeval.classification._arguments import check_classes
from mindeval.classification._cell_counts import CellCounts, counted_places, is_few
from mindeval.classification._decision_metric import DecisionMetric
from mindeval.classification._decisions import Decisions
from mindeval.classification._flags import Flags
from mindeval.classification._totals import Total
from mindeval.constructors import one_of
from mindeval.state import Count, ExactSum, Grouped, State

_MOST_CELLS = 1 << 27  # 1 GiB of int64; a matrix of a whole vocabulary is asked for by mistake only
_LARGE = 1 << 31
_MOST_SHOWN = 1024  # classes up to which a sparse matrix is shown in full
NORMALIZATIONS = (None, "true", "pred", "all")


class ConfusionMatrix(DecisionMetric):
    r"""How often each class was decided for each label: row = label, column = decision, as in scikit-learn.

    Inputs are those of ``Precision``. The value of ``eval()`` is the accuracy, trace over total, for a score is one
    number. ``result()``: ``accuracy``, ``total``, and ``matrix``: lists of integers, or of floats if normalised;
    ``[L][2][2]`` for multilabel, as scikit-learn's ``multilabel_confusion_matrix``. Without ``num_classes`` only the
    cells that occur are kept, so memory is that of the pairs seen: ``cells`` then lists ``[label, decision,
    count]``, never normalised, and ``matrix`` is None above 1,024 classes.

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
        self.normalize = one_of(normalize, "normalize", NORMALIZATIONS)
        size = check_classes(num_classes, task) or 0
        self._dense = size > 0 and task != "multilabel" and not weighted
        if self._dense and size**2 > _MOST_CELLS:
            raise ValueError(
                f"num_classes={num_classes} asks for a dense matrix of {size**2:,} cells, the most is "
                f"{_MOST_CELLS:,}: leave it out to keep only the cells that occur"
            )
        super().__init__(task, num_classes, threshold, ignore_index, weighted, distributed=distributed, name=name)

    def _own_settings(self) -> dict[str, Any]:
        return {"normalize": self.normalize}

    def _empty_states(self) -> dict[str, State]:
        if self._dense:
            return {"cells": CellCounts((int(self.num_classes or 0),) * 2)}
        return {"cells": WeightedCells() if self.weighted else Grouped(Count())}

    def _of_decisions(self, decisions: Decisions) -> dict[str, Any]:
        if not self._dense:
            return {"cells": _sparse_cells(decisions, self.weighted)}
        size = int(self.num_classes or 0)
        few = is_few(decisions.labels.size, size**2)
        return {"cells": _few_cells(decisions, size) if few else decisions.pairs()}

    def _of_flags(self, flags: Flags) -> dict[str, Any]:
        return {"cells": _flag_cells(flags)}

    def _results(self, states: Any) -> dict[str, Any]:
        number: Any = exact.number if self.weighted else int
        if self._dense:
            return self._of_dense(states["cells"].value.tolist())
        cells: dict[tuple[int, ...], Total] = {
            tuple(int(part) for part in key.split(",")): exact.total(state)
            for key, state in states["cells"].value.items()
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


class WeightedCells(Grouped):
    """An exact sum of weights for each cell; what is added are whole numbers of units, so that cells cost little."""

    def __init__(self) -> None:
        super().__init__(ExactSum())

    def zero(self) -> WeightedCells:
        return WeightedCells()

    def add(self, contribution: Any) -> None:
        for key, units in contribution.items():
            member: Any = self._member(key)
            member.units += units


def _few_cells(decisions: Decisions, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The flat places of the cells that occur, and how often they do."""
    return counted_places([block.labels * size + block.predictions for block in decisions.blocks()])


def _sparse_cells(decisions: Decisions, weighted: bool) -> dict[str, int]:
    """How often each cell that occurs did, or the units of its weights. One sort tells the cells apart."""
    cells: dict[str, int] = {}
    if decisions.classes:
        corner = decisions.classes - 1  # says how many classes there are
        cells[f"{corner},{corner}"] = 0
    blocks = list(decisions.blocks())
    if not blocks:
        return cells
    ids = np.concatenate([*(block.labels for block in blocks), *(block.predictions for block in blocks)])
    names = None
    if ids.max() >= _LARGE:  # the product of two would not fit
        names, ids = np.unique(ids, return_inverse=True)
    size = int(ids.max()) + 1
    labels, predictions = ids[: ids.size // 2], ids[ids.size // 2 :]
    keys, places, counts = np.unique(labels * size + predictions, return_inverse=True, return_counts=True)
    rows, columns = (part if names is None else names[part] for part in np.divmod(keys, size))
    values = counts.tolist()
    if weighted:
        weights = np.concatenate([block.weights for block in blocks if block.weights is not None])
        values = exact.units_by_group(places, weights, keys.size)
    cells.update({f"{row},{column}": value for row, column, value in zip(rows.tolist(), columns.tolist(), values)})
    return cells


def _flag_cells(flags: Flags) -> dict[str, int]:
    cells: dict[str, int] = {}
    for column in range(flags.labels.shape[1]):
        keep = flags.counted[:, column]
        places = 2 * flags.labels[keep, column] + flags.predictions[keep, column]
        if flags.weights is None:
            values = np.bincount(places, minlength=4).tolist()
        else:
            values = exact.units_by_group(places, flags.weights[keep], 4)
        cells.update({f"{column},{place // 2},{place % 2}": value for place, value in enumerate(values)})
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


def _plain(matrix: list[list[Any]], number: Any) -> list[list[Any]]:
    return [[number(cell) if isinstance(cell, (int, Fraction)) else cell for cell in row] for row in matrix]


def _share(part: Total, total: Total) -> float:
    return _totals.ratio(part, total, float("nan"))
