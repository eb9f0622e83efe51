"""Average precision: the area under the precision-recall curve, without interpolation."""

from __future__ import annotations

import numpy as np

from mindeval.classification import _ranking
from mindeval.classification._ranking import Problem, Steps
from mindeval.classification._ranking_average import RankingAverage


class AveragePrecision(RankingAverage):
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
    _needs = "a positive label is"

    def _of_problem(self, problem: Problem) -> float:
        return _ranking.average_precision(_ranking.steps_of(problem))

    def _of_packed(self, packed: np.ndarray) -> tuple[float, int]:
        steps = _ranking.steps_of_packed(packed)
        return _ranking.average_precision(steps), int(steps.true_positives[-1])

    def _of_steps(self, steps: Steps) -> float:
        return _ranking.average_precision(steps)

    def _bound_of_steps(self, steps: Steps) -> float:
        return _ranking.average_precision_error_bound(steps)
