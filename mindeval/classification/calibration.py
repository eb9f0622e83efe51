"""How good probabilities are: calibration error, Brier score and log loss."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs, kernels, rounding
from mindeval.classification import _probabilities
from mindeval.classification._decisions import check_classes, check_task, check_weights, named_errors
from mindeval.classification._probabilities import Probabilities, read_probabilities
from mindeval.metric import Metric
from mindeval.state import Count, Counts, ExactSum, Grouped

NORMS = {"l1": "ece", "max": "mce", "l2": "rmsce"}


class CalibrationError(Metric):
    r"""How far confidence is from accuracy: expected (ECE), maximum (MCE) and root mean square calibration error.

    Positions are sorted by confidence into M equal bins :math:`B_m = ((m-1)/M, m/M]`; confidence 1.0 is in the last
    bin and 0.0 in the first. With :math:`g_m = |\mathrm{acc}(B_m) - \mathrm{conf}(B_m)|`: ECE
    :math:`\sum_m \frac{|B_m|}{n} g_m`, MCE :math:`\max_m g_m` over bins that are not empty, RMSCE
    :math:`\sqrt{\sum_m \frac{|B_m|}{n} g_m^2}`. Sums are exact and each value is rounded once.

    Multiclass: confidence is the highest probability, and right is whether its class (the lowest id among equals) is
    the label. Binary and multilabel: confidence is the probability of class 1, and right is whether the label is 1,
    as in scikit-learn's ``calibration_curve``.

    ``update(probabilities, labels[, mask])``: probabilities ``[..., C]``, or for binary of class 1 in the labels'
    shape (or ``[..., 1]``, or ``[..., 2]``); multilabel ``[..., L]`` as labels.

    ``result()``: ``ece``, ``mce``, ``rmsce`` (the one asked for first), and ``bins``: columns ``count``,
    ``accuracy`` and ``confidence`` (None where empty), which make a reliability diagram.

    Args:
        task: "classification" (binary or multiclass, by the shape), "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked.
        n_bins: the number of bins.
        norm: which value ``eval()`` gives: "l1" (ECE), "max" (MCE) or "l2" (RMSCE).
        from_logits: True if logits are given in place of probabilities; nothing is guessed.
        ignore_index: the label of positions that do not count.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes do not match, a label is out of range, or
            probabilities are NaN, outside [0, 1] or do not sum to 1.

    The definition is that of Guo et al., *On Calibration of Modern Neural Networks* (ICML 2017).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> calibration = CalibrationError(n_bins=2)
    >>> calibration.update([[0.75, 0.25], [0.25, 0.75], [1.0, 0.0]], [0, 0, 0])
    >>> calibration.eval()  # one bin: three times 1, 1/4 and 1/4 confident of class 1, which never was right
    0.3333333333333333
    """

    higher_is_better = False

    @named_errors
    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        n_bins: int = 15,
        norm: str = "l1",
        from_logits: bool = False,
        ignore_index: int = -100,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        if norm not in NORMS:
            raise ValueError(f"norm must be one of {list(NORMS)}, but got {norm!r}")
        n_bins = inputs.whole_number(n_bins, "n_bins")
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1, but got {n_bins}")
        self.n_bins, self.norm = n_bins, norm
        self.from_logits, self.ignore_index = bool(from_logits), inputs.whole_number(ignore_index, "ignore_index")
        super().__init__(
            states={"bins": Counts((n_bins, 2)), "confidence": Grouped(ExactSum(), range(n_bins))},
            settings={
                "task": task,
                "num_classes": self.num_classes,
                "bins": n_bins,
                "norm": norm,
                "input": "logits" if self.from_logits else "probabilities",
                "ignore": self.ignore_index,
            },
            distributed=distributed,
            name=name,
        )

    def _contribution(
        self, probabilities: Any, labels: Any, mask: Any = None, sample_ids: Any = None
    ) -> dict[str, Any]:
        batch = read_probabilities(
            probabilities,
            labels,
            mask,
            None,
            task=self.task,
            num_classes=self.num_classes,
            ignore_index=self.ignore_index,
            from_logits=self.from_logits,
        )
        confidence, right = confidences(batch, self.from_logits)
        edges = np.linspace(0, 1, self.n_bins + 1)[1:-1]
        places = np.searchsorted(edges, confidence, side="left")
        counts = np.stack([np.bincount(part, minlength=self.n_bins) for part in (places, places[right])], axis=1)
        sums = {int(place): confidence[places == place] for place in np.unique(places)}
        return {"bins": counts, "confidence": sums, "samples": batch.samples}

    def _compute(self, states: Any) -> dict[str, Any]:
        counts, sums = states["bins"].value.tolist(), states["confidence"].value
        total = sum(count for count, _ in counts)
        gaps = [(count, abs(right - sums[place].fraction())) for place, (count, right) in enumerate(counts) if count]
        values = {
            "ece": float(sum(gap for _, gap in gaps) / total),
            "mce": max(float(gap / count) for count, gap in gaps),
            "rmsce": rounding.sqrt(sum(gap * gap / count for count, gap in gaps) / total),
        }
        first = NORMS[self.norm]
        bins = {
            "count": [count for count, _ in counts],
            "accuracy": [right / count if count else None for count, right in counts],
            "confidence": [sums[place].over(count) if count else None for place, (count, _) in enumerate(counts)],
        }
        return {first: values.pop(first), **values, "bins": bins}


def confidences(batch: Probabilities, from_logits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Confidence, float64 [n], and whether the confident class is the label, bool [n]."""
    if batch.values.ndim == 1:
        return (_probabilities.sigmoid(batch.values) if from_logits else batch.values), batch.labels == 1
    best = batch.values.argmax(axis=1)
    if from_logits:
        highest = _probabilities.exp(-kernels.token_nll(batch.values, best).nll) if len(best) else np.zeros(0)
    else:
        highest = batch.values[np.arange(len(best)), best]
    return np.minimum(highest, 1.0), best == batch.labels


class _MeanScore(Metric):
    """The mean of a loss of probabilities: Brier score and log loss."""

    higher_is_better = False
    _value_name = ""

    @named_errors
    def __init__(
        self,
        task: str,
        num_classes: int | None,
        from_logits: bool,
        ignore_index: int,
        weighted: bool,
        extra: dict[str, Any],
        distributed: bool | str,
        name: str | None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        self.from_logits, self.weighted = bool(from_logits), bool(weighted)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        settings = {"task": task, "num_classes": self.num_classes, **extra}
        settings["input"] = "logits" if self.from_logits else "probabilities"
        settings["ignore"] = self.ignore_index
        if self.weighted:
            settings["weighted"] = True
        states = {"total": ExactSum(), "weight": ExactSum() if self.weighted else Count()}
        super().__init__(states=states, settings=settings, distributed=distributed, name=name)

    def _losses(self, batch: Probabilities) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _losses()")

    def _contribution(
        self, probabilities: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        batch = read_probabilities(
            probabilities,
            labels,
            mask,
            weights,
            task=self.task,
            num_classes=self.num_classes,
            ignore_index=self.ignore_index,
            from_logits=self.from_logits,
        )
        losses, weight = self._losses(batch), batch.weights
        if not self.weighted:
            return {"total": losses, "weight": losses.size, "samples": batch.samples}
        assert weight is not None
        return {"total": np.where(weight > 0, losses, 0.0) * weight, "weight": weight, "samples": batch.samples}

    def _compute(self, states: Any) -> dict[str, Any]:
        total, weight = states["total"], states["weight"]
        divisor = weight.fraction() if self.weighted else Fraction(weight.value)
        if total.non_finite is not None or not divisor:
            value = total.non_finite if divisor else float("nan")
        else:
            value = float(total.fraction() / divisor)
        return {self._value_name: value, "weight": float(divisor) if self.weighted else weight.value}


class BrierScore(_MeanScore):
    r"""The Brier score, mean squared error of probabilities: lower is better.

    Binary and multilabel: :math:`\frac1n\sum_i (p_i - y_i)^2` in [0, 1]. Multiclass:
    :math:`\frac1n\sum_i \sum_c (p_{ic} - [y_i = c])^2` in [0, 2]. These are the defaults of scikit-learn's
    ``brier_score_loss`` (``scale_by_half="auto"``).

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

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        from_logits: bool = False,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        super().__init__(task, num_classes, from_logits, ignore_index, weighted, {}, distributed, name)

    def _losses(self, batch: Probabilities) -> np.ndarray:
        if batch.values.ndim == 1:
            values = _probabilities.sigmoid(batch.values) if self.from_logits else batch.values
            return (values - batch.labels) ** 2
        values = _probabilities.softmax(batch.values) if self.from_logits else batch.values
        misses = values - (np.arange(values.shape[1]) == batch.labels[:, None])
        return _probabilities.tree_sum(misses * misses)


class LogLoss(_MeanScore):
    r"""Log loss (cross-entropy) :math:`-\frac1n\sum_i \log p_i(y_i)` in nats, from probabilities or logits.

    Probabilities are clipped to [eps, 1 - eps] first, as scikit-learn's ``log_loss`` does with the eps of float64. From
    logits nothing is clipped: the loss is a log-sum-exp, and inf where the label's logit is -inf.

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

    @named_errors
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
        if not 0 <= eps < 0.5:
            raise ValueError(f"eps must lie in [0, 0.5), but got {eps}")
        self.eps = float(eps)
        extra = {} if from_logits else {"eps": self.eps}
        super().__init__(task, num_classes, from_logits, ignore_index, weighted, extra, distributed, name)

    def _losses(self, batch: Probabilities) -> np.ndarray:
        values, labels = batch.values, batch.labels
        if self.from_logits and values.ndim == 2:
            return kernels.token_nll(values, labels).nll if labels.size else np.zeros(0)
        if self.from_logits:
            away = np.where(labels == 1, -values, values)  # log(1 + exp(away))
            power = _probabilities.exp(-np.abs(away))
            return np.maximum(away, 0.0) + _log_of_one_plus(power)
        if values.ndim == 1:
            values = np.where(labels == 1, values, 1 - values)
        else:
            values = values[np.arange(labels.size), labels]
        return -_probabilities.log(np.clip(values, self.eps, 1 - self.eps))


def _log_of_one_plus(values: np.ndarray) -> np.ndarray:
    """log(1 + x) for x in [0, 1] without the loss of small x."""
    sums = 1 + values
    parts = sums - 1
    return np.where(parts > 0, _probabilities.log(sums) * values / np.where(parts > 0, parts, 1.0), values)
