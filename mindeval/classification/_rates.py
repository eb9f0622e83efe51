"""The base of all metrics that are a ratio of class totals: precision, recall, F, the Jaccard index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.classification import _totals
from mindeval.classification._decisions import (
    check_classes,
    check_task,
    check_threshold,
    check_weights,
    decide,
    decide_flags,
    named_errors,
)
from mindeval.classification._totals import ClassTotals
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum, State

_NOTHING = ClassTotals(0, 0, 0)


class ClassRate(Metric):
    """A ratio of class totals and its averages. A subclass names its value and gives the formula.

    The arguments are documented at ``Precision``.
    """

    higher_is_better = True
    _value_name = ""

    @named_errors
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
        self.task = check_task(task)
        self.num_classes = check_classes(num_classes, task)
        self.average = _totals.check_average(average, task)
        self.top_k, self.threshold = inputs.whole_number(top_k, "top_k"), check_threshold(threshold)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        self.zero_division = float(zero_division)
        self.classes = _check_chosen(classes, self.num_classes)
        self.weighted = bool(weighted)
        if (
            labels_present_only is None
        ):  # scikit-learn: the classes that occur, but every column of a multilabel problem
            labels_present_only = task != "multilabel"
        self.labels_present_only = bool(labels_present_only)
        if self.top_k < 1:
            raise ValueError(f"top_k must be >= 1, but got {top_k}")
        if self.zero_division not in (0.0, 1.0) and not math.isnan(self.zero_division):
            raise ValueError(f"zero_division must be 0, 1 or nan, but got {zero_division}")
        states: dict[str, State] = {"classes": _totals.totals_state(self.num_classes, self.weighted)}
        if average == "samples":
            states["row_values"] = ExactSum()
            states["row_weights"] = ExactSum() if self.weighted else Count()
        super().__init__(states=states, settings=self._described(), distributed=distributed, name=name)

    def _described(self) -> dict[str, Any]:
        """The settings of the signature: the main ones always, the rare ones where they are not the default."""
        described = {**self._own_settings(), "task": self.task, "average": self.average, "ignore": self.ignore_index}
        rare = {
            "num_classes": (self.num_classes, None),
            "classes": (self.classes, None),
            "top_k": (self.top_k, 1),
            "threshold": (self.threshold, 0.5),
            "zero_division": (self.zero_division, 0.0),
            "present_only": (self.labels_present_only, self.task != "multilabel"),
            "weighted": (self.weighted, False),
        }
        return described | {name: value for name, (value, default) in rare.items() if value != default}

    def _own_settings(self) -> dict[str, Any]:
        return {}

    def _formula(self, totals: ClassTotals) -> tuple[_totals.Total, _totals.Total]:
        """Numerator and denominator."""
        raise TypeError(f"{type(self).__name__} must define _formula()")

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        if self.task != "multilabel":
            decisions = decide(
                predictions,
                labels,
                mask,
                weights,
                task=self.task,
                num_classes=self.num_classes,
                threshold=self.threshold,
                top_k=self.top_k,
                ignore_index=self.ignore_index,
            )
            totals = _totals.count_totals(decisions, self.num_classes, self.weighted)
            return {"classes": totals, "samples": decisions.samples()}
        flags = decide_flags(
            predictions,
            labels,
            mask,
            weights,
            num_classes=self.num_classes,
            threshold=self.threshold,
            ignore_index=self.ignore_index,
        )
        totals = _totals.count_flag_totals(flags, self.weighted, self.num_classes)
        contribution = {"classes": totals, "samples": flags.samples}
        if self.average == "samples":
            contribution |= self._row_values(flags)
        return contribution

    def _row_values(self, flags: Any) -> dict[str, Any]:
        values = _totals.per_sample(flags, self._formula, self.zero_division)
        known = ~np.isnan(values)
        if not self.weighted:
            return {"row_values": values[known], "row_weights": int(known.sum())}
        return {"row_values": (values * flags.weights)[known], "row_weights": flags.weights[known]}

    def _compute(self, states: Any) -> dict[str, Any]:
        table = _totals.read_totals(states["classes"])
        known = self.num_classes or 1 + max(table, default=-1)
        average = _totals.resolve_average(self.average, self.task, known)
        value = self._value(states, table, known, average)
        return {self._value_name: value, "average": average, "per_class": self._per_class(table, known)}

    def _value(self, states: Any, table: dict[int, ClassTotals], known: int, average: str) -> float:
        if average == "samples":
            weights = states["row_weights"].fraction() if self.weighted else states["row_weights"].value
            return _totals.ratio(states["row_values"].fraction(), weights, self.zero_division)
        if average == "binary":
            return _totals.ratio(*self._formula(table.get(1, _NOTHING)), self.zero_division)
        chosen = _totals.chosen_classes(table, self.classes, known, self.labels_present_only)
        return _totals.average_over_classes(table, self._formula, average, chosen, self.zero_division)

    def _per_class(self, table: dict[int, ClassTotals], known: int) -> dict[str, list]:
        """The figures of each class, as columns: of all classes if there are few, else of those that were seen."""
        places = list(range(known)) if known <= _totals.DENSE_CLASSES else [c for c in table if table[c].seen]
        rows = [table.get(place, _NOTHING) for place in places]
        formulas: dict[str, _totals.Formula] = {"precision": _totals.precision, "recall": _totals.recall}
        formulas |= {"f1": _totals.f_beta, self._value_name: self._formula}
        number = float if self.weighted else int
        return {
            "class": places,
            **{
                name: [_totals.ratio(*formula(row), self.zero_division) for row in rows]
                for name, formula in formulas.items()
            },
            "support": [number(row.labelled) for row in rows],
            "predicted": [number(row.predicted) for row in rows],
        }


def _check_chosen(classes: Sequence[int] | None, num_classes: int | None) -> list[int] | None:
    if classes is None:
        return None
    chosen = sorted({int(place) for place in classes})
    if not chosen or chosen[0] < 0 or (num_classes is not None and chosen[-1] >= num_classes):
        bounds = ">= 0" if num_classes is None else f"in [0, {num_classes})"
        raise ValueError(f"classes must be class ids {bounds}, but got {list(classes)}")
    return chosen
