"""ROC and precision-recall curves, the area under the one and the average precision of the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.classification import _ranking
from mindeval.classification._arguments import named_errors
from mindeval.classification._ranking import Problem, Steps
from mindeval.classification._scores import ScoreMetric, sorted_words

AVERAGES = ("macro", "weighted", "micro", "none")


class _RankingAverage(ScoreMetric):
    """One number for each class, and their average."""

    _value_name = ""

    @named_errors
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
        if average not in AVERAGES:
            raise ValueError(f"average must be one of {list(AVERAGES)}, but got {average!r}")
        self.average = average
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
        if self._packs and not len(states["unpacked"].value):
            return self._compute_packed(sorted_words(states["packed"]))
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
            "positives": [positives for positives, _ in sizes],
            "negatives": [negatives for _, negatives in sizes],
        }
        if len(values) == 1:
            result["positives"], result["negatives"] = sizes[0]
        else:
            result["per_class"] = values
        return result


class AUROC(_RankingAverage):
    r"""The area under the ROC curve: the share of pairs of a positive and a negative that the scores order rightly.

    Ties count half: :math:`\bigl(\#\{s_+ > s_-\} + \tfrac12 \#\{s_+ = s_-\}\bigr) / (P N)`. The pairs are counted in
    integers, so the value is exact and rounded once.

    ``update(scores, labels[, mask[, sample_ids]])``, and ``weights=`` by keyword:

    =========== =========================================================== =======================================
    task        scores                                                      labels
    =========== =========================================================== =======================================
    binary      of class 1, in the labels' shape, or with a last axis of    0, 1 or ``ignore_index``, any shape
                1; or a last axis of 2: class 1 minus class 0 is the score
    multiclass  ``[..., C]``: each class against the rest                   class ids or ``ignore_index``
    multilabel  ``[..., L]``                                                ``[..., L]``: 0, 1 or ``ignore_index``
    =========== =========================================================== =======================================

    Scores are any numbers but NaN, probabilities or logits: only their order matters and nothing is made of them.
    Logits of several classes are compared across rows as they are; for the order of probabilities give softmax.

    ``mode="exact"`` keeps each score: 8 bytes, and 8 more with sample ids (multiclass adds 8 for each row's label).
    ``mode="binned"`` keeps 65,536 counts for positives and negatives each (1 MiB for each class), by the top 16 bits of
    the float32 score: sign, exponent, 7 bits of mantissa. Scores that share a bin count as tied, so the value is off
    by at most half the share of pairs in one bin; ``result()["error_bound"]`` is that bound. Bins are finest near 0, so
    concentrated scores do best as logits, not as probabilities near 1.

    ``result()``: ``auroc``; ``positives`` and ``negatives``; for several classes, these as lists and ``per_class``;
    in bins ``error_bound``.

    Args:
        task: "classification" (binary, or multiclass where ``num_classes`` is above 2), "binary", "multiclass" or
            "multilabel".
        num_classes: the number of classes (or labels); required for multiclass and multilabel.
        average: over classes: "macro", "weighted" (by positives), "micro" (all classes' scores in one ranking) or
            "none" (the value is the macro mean; read ``per_class``). Classes without a positive or a negative are
            left out.
        mode: "exact" or "binned".
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or its first axes; in
            exact mode only. Weighted curves are summed in float64 in one fixed order.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    With ``sample_ids``, one for each label (for each row, for multilabel), rows that padding repeated count once.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes do not match, a label is out of range, or a score is
            NaN; ``eval``: if an id came with two contents, and see ``Metric.eval``.

    With labels of one kind only the value is nan, with a ``RuntimeWarning``.

    The definition is that of Hanley & McNeil, *The meaning and use of the area under a ROC curve* (Radiology 143,
    1982), and of scikit-learn's ``roc_auc_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> auroc = AUROC()
    >>> auroc.update([0.1, 0.4, 0.35], [0, 0, 1])
    >>> auroc.update([0.8], [1])
    >>> auroc.eval()
    0.75
    """

    _value_name = "auroc"

    def _of_problem(self, problem: Problem) -> float:
        return _ranking.area(problem)

    def _of_packed(self, packed: np.ndarray) -> tuple[float, int]:
        return _ranking.area_of_packed(packed)

    def _of_steps(self, steps: Steps) -> float:
        return _ranking.area_of_steps(steps)

    def _bound_of_steps(self, steps: Steps) -> float:
        return _ranking.area_error_bound(steps)


class AveragePrecision(_RankingAverage):
    r"""Average precision :math:`\sum_n (R_n - R_{n-1}) P_n`: precision at each threshold, weighted by the gain of
    recall.

    Inputs, arguments, modes and errors are those of ``AUROC``; without positives the value is nan, with a
    ``RuntimeWarning``. ``result()``: ``average_precision``, and what ``AUROC`` has. In bins each bin is one
    threshold, and ``error_bound`` holds for any order inside the bins. The definition is that of scikit-learn's
    ``average_precision_score``: there is no interpolation.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> precision = AveragePrecision()
    >>> precision.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> precision.eval()  # (1 + 2/3) / 2
    0.8333333333333333
    """

    _value_name = "average_precision"

    def _of_problem(self, problem: Problem) -> float:
        return _ranking.average_precision(_ranking.steps_of(problem))

    def _of_packed(self, packed: np.ndarray) -> tuple[float, int]:
        steps = _ranking.steps_of_packed(packed)
        return _ranking.average_precision(steps), int(steps.true_positives[-1])

    def _of_steps(self, steps: Steps) -> float:
        return _ranking.average_precision(steps)

    def _bound_of_steps(self, steps: Steps) -> float:
        return _ranking.average_precision_error_bound(steps)


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

    def _value(self, steps: Steps) -> float:
        return _ranking.average_precision(steps)

    def _points(self, steps: Steps) -> dict[str, list]:
        reached = steps.true_positives + steps.false_positives
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


def _joined(problems: list[Problem]) -> Problem:
    """All problems as one ranking."""
    weights = None
    if problems[0].weights is not None:
        kept = [problem.weights for problem in problems if problem.weights is not None]
        weights = (np.concatenate([part[0] for part in kept]), np.concatenate([part[1] for part in kept]))
    return Problem(
        np.concatenate([problem.positives for problem in problems]),
        np.concatenate([problem.negatives for problem in problems]),
        weights,
    )


def _size(problem: Problem, side: int) -> int | float:
    if problem.weights is not None:
        return math.fsum(problem.weights[side].tolist())
    return (problem.positives, problem.negatives)[side].size


def auc(x: Any, y: Any) -> float:
    """The area under a curve of given points, by the trapezoidal rule.

    Args:
        x: numbers [n], n >= 2, nowhere falling or nowhere rising.
        y: numbers [n].

    Raises:
        ValueError: if the shapes differ, there are fewer than two points, x turns round, or a number is NaN.

    The definition is that of scikit-learn's ``auc``; the sum is exact but for the rounding of each trapezoid. For
    scores and labels use ``AUROC``, which counts in integers.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> auc([0.0, 0.5, 1.0], [0.0, 0.75, 1.0])
    0.625
    """
    across, up = (inputs.to_numpy(values, what).astype(np.float64) for values, what in ((x, "x"), (y, "y")))
    if across.ndim != 1 or across.shape != up.shape or across.size < 2:
        raise ValueError(
            f"x and y must have one shape [n] with n >= 2, but got {list(across.shape)} and {list(up.shape)}"
        )
    steps = np.diff(across)
    if np.isnan(across).any() or np.isnan(up).any():
        raise ValueError("x and y must not be NaN")
    if not ((steps >= 0).all() or (steps <= 0).all()):
        raise ValueError("x must be nowhere falling or nowhere rising, but it turns round")
    return abs(math.fsum((steps * (up[1:] + up[:-1]) / 2).tolist()))
