"""ROC and precision-recall curves, and the area under given points."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import exact, inputs
from mindeval.classification import _ranking
from mindeval.classification._ranking import Steps
from mindeval.classification._scores import ScoreMetric


class _Curve(ScoreMetric):
    """A curve for each class."""

    _value_name = ""

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        mode: str = "exact",
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        super().__init__(task, num_classes, mode, ignore_index, weighted, {}, distributed=distributed, name=name)

    def _value(self, steps: Steps) -> float:
        raise TypeError(f"{type(self).__name__} must define _value()")

    def _points(self, steps: Steps) -> dict[str, list]:
        raise TypeError(f"{type(self).__name__} must define _points()")

    def _compute(self, states: Any) -> dict[str, Any]:
        steps = self._steps(states)
        value = self._average([self._value(part) for part in steps], [1] * len(steps), "macro")
        points = [self._points(part) for part in steps]
        if len(points) == 1:
            return {self._value_name: value, **points[0]}
        return {self._value_name: value, **{name: [part[name] for part in points] for name in points[0]}}


class ROC(_Curve):
    """The ROC curve: false positive rate against true positive rate, for each threshold from the highest down.

    Inputs, arguments, modes and errors are those of ``AUROC`` (without ``average``). The value of ``eval()`` is the
    area (the macro mean, for several classes). ``result()``: ``auroc``, ``false_positive_rate``,
    ``true_positive_rate`` and ``thresholds``: lists, or lists of lists for several classes. The first point is (0,
    0) at threshold inf, as in scikit-learn's ``roc_curve(..., drop_intermediate=False)``: every distinct score is a
    point. In bins, each point lies on the exact curve, and thresholds are the lower edges of bins (float32). A rate
    over nothing is nan.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> roc = ROC()
    >>> roc.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> roc.eval(), roc.result()["true_positive_rate"]
    (0.75, [0.0, 0.5, 0.5, 1.0, 1.0])
    >>> roc.result()["thresholds"]
    [inf, 0.8, 0.4, 0.35, 0.1]
    """

    _value_name = "auroc"

    def _value(self, steps: Steps) -> float:
        return _ranking.area_of_steps(steps)

    def _points(self, steps: Steps) -> dict[str, list]:
        return {
            "false_positive_rate": _rates(np.concatenate([[0], steps.false_positives])),
            "true_positive_rate": _rates(np.concatenate([[0], steps.true_positives])),
            "thresholds": [math.inf, *steps.thresholds.tolist()],
        }


class PrecisionRecallCurve(_Curve):
    """Precision against recall for each threshold.

    Inputs, arguments, modes and errors are those of ``AUROC`` (without ``average``). The value of ``eval()`` is the
    average precision (the macro mean, for several classes). ``result()``: ``average_precision``, ``precision``,
    ``recall`` and ``thresholds``: lists, or lists of lists for several classes, in the order of rising thresholds as
    scikit-learn's ``precision_recall_curve`` gives them; the last point, without a threshold, is precision 1 at
    recall 0. Without positives recall is nan.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> curve = PrecisionRecallCurve()
    >>> curve.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> round(curve.eval(), 4), curve.result()["recall"]
    (0.8333, [1.0, 1.0, 0.5, 0.5, 0.0])
    """

    _value_name = "average_precision"
    _needs = "a positive label is"

    def _value(self, steps: Steps) -> float:
        return _ranking.average_precision(steps)

    def _points(self, steps: Steps) -> dict[str, list]:
        reached = steps.reached
        with np.errstate(invalid="ignore"):  # weights may all be 0 down to a threshold: 0 / 0, as scikit-learn 0
            precision = np.where(reached > 0, steps.true_positives / np.where(reached > 0, reached, 1), 0.0)
        return {
            "precision": [*precision[::-1].tolist(), 1.0],
            "recall": [*_rates(steps.true_positives)[::-1], 0.0],
            "thresholds": steps.thresholds[::-1].tolist(),
        }


def _rates(counts: np.ndarray) -> list[float]:
    total = counts[-1] if counts.size else 0
    return (counts / total).tolist() if total else [math.nan] * counts.size


def auc(x: Any, y: Any) -> float:
    """The area under a curve of given points, by the trapezoidal rule.

    Args:
        x: numbers [n], n >= 2, nowhere falling or nowhere rising.
        y: numbers [n].

    Raises:
        ValueError: if the shapes differ, there are fewer than two points, x turns round, or a number is not finite.

    The definition is that of scikit-learn's ``auc``; the sum is exact, of numbers of any magnitude and of integers of
    64 bits, and rounded once. For scores and labels use ``AUROC``, which counts in integers.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> auc([0.0, 0.5, 1.0], [0.0, 0.75, 1.0])
    0.625
    """
    across, up = inputs.to_numpy(x, "x"), inputs.to_numpy(y, "y")
    if across.ndim != 1 or across.shape != up.shape or across.size < 2:
        raise ValueError(
            f"x and y must have one shape [n] with n >= 2, but got {list(across.shape)} and {list(up.shape)}"
        )
    across, up = (part.astype(np.int64) if part.dtype.kind == "b" else part for part in (across, up))
    if not (np.isfinite(across).all() and np.isfinite(up).all()):
        raise ValueError("x and y must be finite, but got NaN or infinity")
    before, after = across[:-1], across[1:]
    if not ((after >= before).all() or (after <= before).all()):
        raise ValueError("x must be nowhere falling or nowhere rising, but it turns round")
    steps, heights = exact.differences(after, before), [*exact.float_parts(up[1:]), *exact.float_parts(up[:-1])]
    double = exact.product_sums(2)
    double.add(exact.joined(*(exact.products(a, b) for a, b in itertools.product(steps, heights))))
    return exact.number(abs(Fraction(exact.total(double))) / 2)
