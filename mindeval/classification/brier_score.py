"""The Brier score."""

from __future__ import annotations

import numpy as np

from mindeval.classification import _probabilities
from mindeval.classification._probabilities import Probabilities
from mindeval.classification._probability_metric import MeanLoss


class BrierScore(MeanLoss):
    r"""The Brier score, mean squared error of probabilities: lower is better.

    Binary and multilabel: :math:`\frac1n\sum_i (p_i - y_i)^2` in [0, 1]; for two columns the mean of both. Three
    classes and more: :math:`\frac1n\sum_i \sum_c (p_{ic} - [y_i = c])^2` in [0, 2]. These are the defaults of
    scikit-learn's ``brier_score_loss`` (``scale_by_half="auto"``).

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
        if batch.values.ndim == 1:
            values = _probabilities.sigmoid(batch.values) if self.from_logits else batch.values
            squares = (values - batch.labels) ** 2
            return squares if batch.of_class_0 is None else (squares + (batch.of_class_0 - (1 - batch.labels)) ** 2) / 2
        values = _probabilities.softmax(batch.values) if self.from_logits else batch.values
        misses = values - (np.arange(values.shape[1]) == batch.labels[:, None])
        squares = _probabilities.tree_sum(misses * misses)
        return squares / 2 if values.shape[1] == 2 else squares
