"""Log loss, from probabilities or logits."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval.classification import _softmax
from mindeval.classification._logit_rows import LogitRows
from mindeval.classification._probabilities import Probabilities
from mindeval.classification._probability_metric import MeanLoss
from mindeval.constructors import finite_number


class LogLoss(MeanLoss):
    r"""Log loss (cross-entropy) :math:`-\frac1n\sum_i \log p_i(y_i)` in nats, from probabilities or logits.

    Of two columns the label's own is taken, so a small probability of class 0 keeps its digits. Probabilities are
    clipped to [eps, 1 - eps] first, as scikit-learn's ``log_loss`` does with the eps of float64. From logits nothing is
    clipped: the loss is a log-sum-exp, and inf where the label's logit is -inf. Logits of several classes are read
    where they are by ``kernels.token_nll``, within 3.2e-7 nat (float32, float16, bfloat16) or 1e-12 (float64).

    Inputs are those of ``CalibrationError``. ``result()``: ``log_loss`` and ``weight`` (labels, or the sum of weights).

    Args:
        task: "classification" (binary or multiclass, by the shape), "binary", "multiclass" or "multilabel" (each
            label is a binary problem).
        num_classes: the number of classes, if it is to be checked.
        from_logits: True if logits are given in place of probabilities.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or its first axes.
        eps: where probabilities are clipped, in [0, 0.5). With 0 a probability of 0 for a label makes the loss inf.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``CalibrationError``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> loss = LogLoss()
    >>> loss.update([[0.5, 0.5], [0.75, 0.25]], [0, 1])
    >>> loss.eval()  # (ln 2 + ln 4) / 2
    1.0397207708399179
    """

    _value_name = "log_loss"

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        from_logits: bool = False,
        ignore_index: int = -100,
        weighted: bool = False,
        eps: float = 2.0**-52,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.eps = finite_number(eps, "eps")
        if not 0 <= self.eps < 0.5:
            raise ValueError(f"eps must lie in [0, 0.5), but got {eps}")
        super().__init__(task, num_classes, from_logits, ignore_index, weighted, distributed=distributed, name=name)

    def _own_settings(self) -> dict[str, Any]:
        return {} if self.from_logits else {"eps": self.eps}

    def _losses(self, batch: Probabilities) -> np.ndarray:
        values, labels = batch.values, batch.labels
        if isinstance(values, LogitRows):
            return values.losses(labels)
        if self.from_logits:
            away = np.where(labels == 1, -values, values)  # log(1 + exp(away))
            power = _softmax.exp(-np.abs(away))
            return np.maximum(away, 0.0) + _log_of_one_plus(power)
        if values.ndim == 1:
            values = np.where(labels == 1, values, 1 - values if batch.of_class_0 is None else batch.of_class_0)
        else:
            values = values[np.arange(labels.size), labels]
        return -_softmax.log(np.clip(values, self.eps, 1 - self.eps))


def _log_of_one_plus(values: np.ndarray) -> np.ndarray:
    """log(1 + x) for x in [0, 1] without the loss of small x."""
    sums = 1 + values
    parts = sums - 1
    return np.where(parts > 0, _softmax.log(sums) * values / np.where(parts > 0, parts, 1.0), values)
