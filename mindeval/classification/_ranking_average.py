"""The base of the metrics that are one number for each ranking."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval.classification import _ranking
from mindeval.classification._ranking import Problem, Steps
from mindeval.classification._scores import ScoreMetric
from mindeval.constructors import one_of
from mindeval.exact import number
from mindeval.kernels.sort import sorted_words
from mindeval.state import ExactSum

AVERAGES = ("macro", "weighted", "micro", "none")


class RankingAverage(ScoreMetric):
    """One number for each class, and their average."""

    _value_name = ""

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        average: str = "macro",
        mode: str = "exact",
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.average = one_of(average, "average", AVERAGES)
        super().__init__(
            task, num_classes, mode, ignore_index, weighted, {"average": average}, distributed=distributed, name=name
        )

    def _of_problem(self, problem: Problem) -> float:
        raise TypeError(f"{type(self).__name__} must define _of_problem()")

    def _of_steps(self, steps: Steps) -> float:
        raise TypeError(f"{type(self).__name__} must define _of_steps()")

    def _bound_of_steps(self, steps: Steps) -> float:
        raise TypeError(f"{type(self).__name__} must define _bound_of_steps()")

    def _compute(self, states: Any) -> dict[str, Any]:
        if self.mode == "binned":
            counts = states["bins"].value
            return self._compute_binned(counts.sum(axis=0, keepdims=True) if self.average == "micro" else counts)
        if self._packs and not len(states["wide"].in_any_order):
            return self._compute_packed(sorted_words(states["packed"].in_any_order))
        problems = self._problems(states)
        if self.average == "micro":
            problems = [_joined(problems)]
        values = [self._of_problem(problem) for problem in problems]
        sizes = [(_size(problem, 0), _size(problem, 1)) for problem in problems]
        return self._described(values, sizes)

    def _compute_packed(self, packed: np.ndarray) -> dict[str, Any]:
        value, positives = self._of_packed(packed)
        return self._described([value], [(positives, packed.size - positives)])

    def _of_packed(self, packed: np.ndarray) -> tuple[float, int]:
        """The value, and the number of positives."""
        raise TypeError(f"{type(self).__name__} must define _of_packed()")

    def _compute_binned(self, counts: np.ndarray) -> dict[str, Any]:
        steps = [_ranking.histogram_steps(part) for part in counts]
        sizes = [(int(part[1].sum()), int(part[0].sum())) for part in counts]
        described = self._described([self._of_steps(part) for part in steps], sizes)
        bounds = [self._bound_of_steps(part) for part in steps]
        known = [bound for bound in bounds if not math.isnan(bound)]
        described["error_bound"] = max(known) if known else math.nan
        return described

    def _described(self, values: list[float], sizes: list[tuple]) -> dict[str, Any]:
        result: dict[str, Any] = {
            self._value_name: self._average(values, [positives for positives, _ in sizes], self.average),
            "positives": [_shown(positives) for positives, _ in sizes],
            "negatives": [_shown(negatives) for _, negatives in sizes],
        }
        if len(values) == 1:
            result["positives"], result["negatives"] = (_shown(size) for size in sizes[0])
        else:
            result["per_class"] = values
        return result


def _joined(problems: list[Problem]) -> Problem:
    """All problems as one ranking."""
    if len(problems) == 1:
        return problems[0]
    weights = None
    if problems[0].weights is not None:
        kept = [problem.weights for problem in problems if problem.weights is not None]
        weights = (np.concatenate([part[0] for part in kept]), np.concatenate([part[1] for part in kept]))
    return Problem(
        np.concatenate([problem.positives for problem in problems]),
        np.concatenate([problem.negatives for problem in problems]),
        weights,
    )


def _size(problem: Problem, side: int) -> int | Fraction:
    """The number of positives or negatives, or the exact sum of their weights."""
    if problem.weights is None:
        return (problem.positives, problem.negatives)[side].size
    weight = ExactSum()
    weight.add(problem.weights[side])
    return weight.fraction()


def _shown(size: int | Fraction) -> int | float:
    return size if isinstance(size, int) else number(size)
