"""The base of all metrics that are a ratio of class totals: precision, recall, F, the Jaccard index."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindeval import exact, inputs
from mindeval.classification import _totals
from mindeval.classification._arguments import check_classes
from mindeval.classification._decision_metric import DecisionMetric
from mindeval.classification._decisions import Decisions
from mindeval.classification._flags import Flags
from mindeval.classification._task_metric import unusual
from mindeval.classification._totals import NOTHING, ClassTotals
from mindeval.state import Count, ExactSum, State


class ClassRate(DecisionMetric):
    """A ratio of class totals and its averages. A subclass names its value and gives the formula.

    The arguments are documented at ``Precision``.
    """

    higher_is_better = True
    _value_name = ""

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        average: str = "auto",
        top_k: int = 1,
        threshold: float = 0.5,
        ignore_index: int = -100,
        zero_division: float = 0.0,
        labels_present_only: bool | None = None,
        classes: Sequence[int] | None = None,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.average = _totals.check_average(average, task, check_classes(num_classes, task))
        if labels_present_only is None:  # scikit-learn: classes that occur, but every column of a multilabel problem
            labels_present_only = task != "multilabel"
        self.labels_present_only = labels_present_only
        self.zero_division = _check_zero_division(zero_division)
        self.classes = _check_chosen(classes, num_classes, average)
        super().__init__(
            task, num_classes, threshold, ignore_index, weighted, top_k=top_k, distributed=distributed, name=name
        )

    def _empty_states(self) -> dict[str, State]:
        states: dict[str, State] = {"classes": _totals.totals_state(self.num_classes, self.weighted)}
        if self.average == "samples":
            states["row_values"] = exact.product_sums(2) if self.weighted else ExactSum()
            states["row_weights"] = ExactSum() if self.weighted else Count()
        return states

    def _own_settings(self) -> dict[str, Any]:
        rare = {
            "classes": (self.classes, None),
            "zero_division": (self.zero_division, 0.0),
            "present_only": (self.labels_present_only, self.task != "multilabel"),
        }
        return {**self._formula_settings(), "average": self.average} | unusual(rare)

    def _formula_settings(self) -> dict[str, Any]:
        return {}

    def _formula(self, totals: ClassTotals) -> tuple[_totals.Total, _totals.Total]:
        """Numerator and denominator."""
        raise TypeError(f"{type(self).__name__} must define _formula()")

    def _of_decisions(self, decisions: Decisions) -> dict[str, Any]:
        return {"classes": _totals.count_totals(decisions, self.num_classes, self.weighted)}

    def _of_flags(self, flags: Flags) -> dict[str, Any]:
        width = flags.labels.shape[1]
        if self.classes is not None and self.classes[-1] >= width:
            raise ValueError(f"classes must be columns of rows of {width} labels, but got {self.classes}")
        added = {"classes": _totals.count_flag_totals(flags, self.weighted, self.num_classes)}
        return added | self._of_rows(flags) if self.average == "samples" else added

    def _of_rows(self, flags: Flags) -> dict[str, Any]:
        values = _totals.per_sample(flags, self._formula, self.zero_division)
        known = ~np.isnan(values)
        if flags.weights is None:
            return {"row_values": values[known], "row_weights": int(known.sum())}
        weights = flags.weights[known]
        return {"row_values": exact.products(values[known], weights), "row_weights": weights}

    def _results(self, states: Any) -> dict[str, Any]:
        table = _totals.read_totals(states["classes"])
        known = self.num_classes or 1 + max(table, default=-1)
        average = self.average
        if self.classes is not None and average == "auto":
            average = "macro"  # of the classes asked for, however many there are
        average = _totals.resolve_average(average, self.task, known)
        value = self._value(states, table, known, average)
        return {self._value_name: value, "average": average, "per_class": self._per_class(table, known)}

    def _value(self, states: Any, table: dict[int, ClassTotals], known: int, average: str) -> float:
        if average == "samples":
            values, weights = exact.total(states["row_values"]), exact.total(states["row_weights"])
            return _totals.ratio(values, weights, self.zero_division)
        if average == "binary":
            return _totals.ratio(*self._formula(table.get(1, NOTHING)), self.zero_division)
        rows, absent = _totals.chosen_classes(table, self.classes, known, self.labels_present_only)
        return _totals.average_over_classes(rows, absent, self._formula, average, self.zero_division)

    def _per_class(self, table: dict[int, ClassTotals], known: int) -> dict[str, list]:
        """The figures of each class, as columns: of all classes if there are few, else of those that were seen."""
        places = list(range(known)) if known <= _totals.DENSE_CLASSES else [c for c in table if table[c].seen]
        rows = [table.get(place, NOTHING) for place in places]
        formulas: dict[str, _totals.Formula] = {"precision": _totals.precision, "recall": _totals.recall}
        formulas |= {"f1": _totals.f_beta, self._value_name: self._formula}
        number = exact.number if self.weighted else int
        return {
            "class": places,
            **{
                name: [_totals.ratio(*formula(row), self.zero_division) for row in rows]
                for name, formula in formulas.items()
            },
            "support": [number(row.labelled) for row in rows],
            "predicted": [number(row.predicted) for row in rows],
        }


def _check_zero_division(value: float) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or (value not in (0, 1) and value == value):
        raise ValueError(f"zero_division must be 0, 1 or nan, but got {value!r}")
    return float(value)


def _check_chosen(classes: Sequence[int] | None, num_classes: int | None, average: str) -> list[int] | None:
    if classes is None:
        return None
    if average in ("binary", "samples"):
        raise ValueError(f"classes are those of micro, macro and weighted averages, but got average={average!r}")
    if not isinstance(classes, (list, tuple, range, set, np.ndarray)):
        raise TypeError(f"classes must be a list of class ids, but got {classes!r}")
    chosen = sorted({inputs.whole_number(place, "each of classes") for place in classes})
    if not chosen or chosen[0] < 0 or (num_classes is not None and chosen[-1] >= num_classes):
        bounds = ">= 0" if num_classes is None else f"in [0, {num_classes})"
        raise ValueError(f"classes must be class ids {bounds}, but got {list(classes)}")
    return chosen
