"""The Brier score."""

from __future__ import annotations

import numpy as np

from mindeval.classification import _softmax
from mindeval.classification._logit_rows import LogitRows, check_logits
from mindeval.classification._probabilities import Probabilities
from mindeval.classification._probability_metric import MeanLoss


class BrierScore(MeanLoss):
    r"""The Brier score, mean squared error of probabilities: lower is better.

    Binary and multilabel: :math:`\frac1n\sum_i (p_i - y_i)^2` in [0, 1]; for two columns the mean of both. Three
    classes and more: :math:`\frac1n\sum_i \sum_c (p_{ic} - [y_i = c])^2` in [0, 2]. These are the defaults of
    scikit-learn's ``brier_score_loss`` (``scale_by_half="auto"``).

    Logits of several classes are turned into a float64 softmax a few rows at a time, at least one: the memory besides
    them is bounded by a row, not by the batch.

    Inputs are those of ``CalibrationError``. ``result()``: ``brier_score`` and ``weight`` (labels, or the sum of
    weights).

    Args:
        task: "classification" (binary or multiclass, by the shape), "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked.
        from_logits: True if logits are given in place of probabilities.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or its first axes.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``CalibrationError``.

    The definition is that of Brier, *Verification of forecasts expressed in terms of probability* (Mon. Weather Rev.
    78, 1950).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> brier = BrierScore()
    >>> brier.update([0.75, 0.5], [1, 0])
    >>> brier.eval()
    0.15625
    """

    _value_name = "brier_score"

    def _losses(self, batch: Probabilities) -> np.ndarray:
        values, labels = batch.values, batch.labels
        if isinstance(values, LogitRows):
            parts = [_of_logits(block, labels[places]) for places, block in values.blocks()]
            return np.concatenate([np.zeros(0), *parts])
        if values.ndim == 2:
            return _of_classes(values, labels)
        values = _softmax.sigmoid(values) if self.from_logits else values
        squares = (values - labels) ** 2
        return squares if batch.of_class_0 is None else (squares + (batch.of_class_0 - (1 - labels)) ** 2) / 2


def _of_logits(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    check_logits(logits)
    return _of_classes(_softmax.softmax(logits), labels)


def _of_classes(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The score of each row [n, C]."""
    misses = probabilities.copy()
    misses[np.arange(labels.size), labels] -= 1
    squares = _softmax.tree_sum(misses * misses)
    return squares / 2 if probabilities.shape[1] == 2 else squares
