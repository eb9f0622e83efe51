"""The calibration error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs, rounding
from mindeval.classification import _softmax
from mindeval.classification._calibration_bins import MOST_BINS, binned, read_bins, states_of
from mindeval.classification._logit_rows import LogitRows
from mindeval.classification._probabilities import Probabilities
from mindeval.classification._probability_metric import ProbabilityMetric
from mindeval.constructors import one_of
from mindeval.state import State

NORMS = {"l1": "ece", "max": "mce", "l2": "rmsce"}
_KERNEL_ERROR = 2e-5  # relative; 1.3e-5 was seen of block-wise operators on devices, on the CPU it is below 4e-7


class CalibrationError(ProbabilityMetric):
    r"""How far confidence is from accuracy: expected (ECE), maximum (MCE) and root mean square calibration error.

    Positions are sorted by confidence into M equal bins :math:`B_m = ((m-1)/M, m/M]`; the float64 nearest to an edge
    m/M stands for it, as 0.1 for 1/10. Confidence 1.0 is in the last bin and 0.0 in the first. With :math:`g_m =
    |\mathrm{acc}(B_m) - \mathrm{conf}(B_m)|`: ECE :math:`\sum_m \frac{|B_m|}{n} g_m`, MCE :math:`\max_m g_m` over bins
    that are not empty, RMSCE :math:`\sqrt{\sum_m \frac{|B_m|}{n} g_m^2}`. Sums are exact and each value is rounded
    once; a bin holds up to 5e11 positions over all ranks, and more are an ``OverflowError``.

    Multiclass: confidence is the highest probability, and right is whether its class (the lowest id among equals) is
    the label. Binary and multilabel: confidence is the probability of class 1, and right is whether the label is 1,
    as in scikit-learn's ``calibration_curve``.

    Logits of several classes are read twice where they are: for the highest of each row, and for its probability by
    ``kernels.token_nll``, within 3.2e-7 of itself (float32, float16, bfloat16) or 1e-12 (float64). Where that is too
    near to the edge of a bin to tell the bin, the row's softmax is taken in float64.

    ``update(probabilities, labels[, mask])``: probabilities ``[..., C]``, or for binary of class 1 in the labels'
    shape (or ``[..., 1]``, or ``[..., 2]``); multilabel ``[..., L]`` as labels.

    ``result()``: ``ece``, ``mce``, ``rmsce`` (the one asked for first), and ``bins``: columns ``count``,
    ``accuracy`` and ``confidence`` (None where empty), which make a reliability diagram.

    Args:
        task: "classification" (binary or multiclass, by the shape), "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked.
        n_bins: the number of bins, from 1 to 65,536.
        norm: which value ``eval()`` gives: "l1" (ECE), "max" (MCE) or "l2" (RMSCE).
        from_logits: True if logits are given in place of probabilities; nothing is guessed.
        ignore_index: the label of positions that do not count.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes do not match, a label is out of range, or
            probabilities are NaN, outside [0, 1] or of a sum that is off 1 by more than 0.05; from logits: if one is
            NaN or inf, or all of a row are -inf; if sample ids are given, which sums cannot honour.

    Where ``task`` is not said, one-hot labels get a ``RuntimeWarning``: they would be labels of binary problems.

    The definition is that of Guo et al., *On Calibration of Modern Neural Networks* (ICML 2017).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> calibration = CalibrationError(n_bins=2)
    >>> calibration.update([[0.75, 0.25], [0.25, 0.75], [1.0, 0.0]], [0, 0, 0])
    >>> calibration.eval()  # one bin: three times 1, 1/4 and 1/4 confident of class 1, which never was right
    0.3333333333333333
    """

    higher_is_better = False

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
        self.norm = one_of(norm, "norm", tuple(NORMS))
        self.n_bins = inputs.whole_number(n_bins, "n_bins", at_least=1)
        if self.n_bins > MOST_BINS:
            raise ValueError(f"n_bins must be at most {MOST_BINS}, but got {n_bins}")
        super().__init__(task, num_classes, from_logits, ignore_index, distributed=distributed, name=name)

    def _own_settings(self) -> dict[str, Any]:
        return {"bins": self.n_bins, "norm": self.norm}

    def _empty_states(self) -> dict[str, State]:
        return states_of(self.n_bins)

    def _of_batch(self, batch: Probabilities) -> dict[str, Any]:
        confidence, right = confidences(batch, self.n_bins, self.from_logits)
        edges = np.arange(1, self.n_bins) / self.n_bins  # rounded once, as those of np.linspace are not
        places = np.searchsorted(edges, confidence, side="left")
        return binned(confidence, right, places, self.n_bins)

    def _results(self, states: Any) -> dict[str, Any]:
        bins = read_bins(states)
        gaps = [(part.positions, abs(part.right - part.confidence)) for part in bins if part.positions]
        total = sum(count for count, _ in gaps)
        values = {
            "ece": float(sum((gap for _, gap in gaps), Fraction(0)) / total),
            "mce": max(float(gap / count) for count, gap in gaps),
            "rmsce": rounding.sqrt(sum((gap * gap / count for count, gap in gaps), Fraction(0)) / total),
        }
        first = NORMS[self.norm]
        columns = {
            "count": [part.positions for part in bins],
            "accuracy": [part.right / part.positions if part.positions else None for part in bins],
            "confidence": [float(part.confidence / part.positions) if part.positions else None for part in bins],
        }
        return {first: values.pop(first), **values, "bins": columns}


def confidences(batch: Probabilities, n_bins: int, from_logits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Confidence, float64 [n], and whether the confident class is the label, bool [n]."""
    values, labels = batch.values, batch.labels
    if isinstance(values, LogitRows):
        best = values.best()
        confidence = np.minimum(_softmax.exp(-values.losses(best)), 1.0)
        for places, block in values.blocks(np.flatnonzero(_unsure(confidence, n_bins))):
            confidence[places] = _softmax.highest_of_softmax(block)
        return confidence, best == labels
    if values.ndim == 1:
        return (_softmax.sigmoid(values) if from_logits else values), labels == 1
    best = values.argmax(axis=1)
    return values[np.arange(len(best)), best], best == labels


def _unsure(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """Whether the kernel's error could have moved a confidence over the edge between two bins."""
    nearest = np.rint(confidence * n_bins)
    inside = (nearest > 0) & (nearest < n_bins)
    return inside & (np.abs(confidence - nearest / n_bins) <= _KERNEL_ERROR * confidence)
