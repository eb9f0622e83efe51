"""Precision, recall, F1 and F-beta of binary, multiclass and multilabel decisions."""

from __future__ import annotations

from typing import Any

from mindeval.classification import _totals
from mindeval.classification._rates import ClassRate
from mindeval.classification._totals import ClassTotals, Total
from mindeval.constructors import finite_number


class Precision(ClassRate):
    r"""Precision :math:`\mathrm{TP} / (\mathrm{TP} + \mathrm{FP})`: the share of decisions for a class that are right.

    ``update(predictions, labels[, mask])``, and ``weights=`` by keyword:

    ============ ====================================================== ===========================================
    task         predictions                                            labels
    ============ ====================================================== ===========================================
    multiclass   ids of the labels' shape, or scores ``[..., C]``       class ids of any shape, or ``ignore_index``
    binary       0/1 of the labels' shape; scores of class 1 (floats    0, 1 or ``ignore_index``
                 of the labels' shape, or ``[..., 1]``); ``[..., 2]``
    multilabel   0/1 or scores, ``[..., L]``                            0, 1 or ``ignore_index``, ``[..., L]``
    ============ ====================================================== ===========================================

    Scores may be probabilities or logits of any float dtype; they are compared on the host, so on a card give
    ``logits.argmax(-1)`` in place of logits over a large vocabulary. ``task="classification"`` is multiclass, and
    binary where only the classes 0 and 1 exist. One-hot rows are not class ids: give ``argmax(-1)`` of them. Counts are
    integers, and each ratio is rounded once.

    ``result()``: ``precision``; ``average``: the one that was taken; and ``per_class``: columns ``class``,
    ``precision``, ``recall``, ``f1``, ``support`` (labels of the class) and ``predicted`` (decisions for it).

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes (of labels, for multilabel). Where it is not given, only classes that
            occur are kept, so memory is that of the classes seen; above 4,096 it is so in any case.
        average: "binary" (class 1), "micro" (all decisions together), "macro" (mean over classes), "weighted" (mean
            over classes, each weighing its labels), "samples" (mean over the rows of a multilabel problem), "none"
            (the value is the macro mean, for a score is one number; read ``per_class``), or "auto": "binary" for
            ``task="binary"``, and for ``task="classification"`` with two classes; "macro" otherwise. **Without**
            ``num_classes`` **the data decide which of the two it is**: whether a class above 1 occurs anywhere in
            all of them. Declare ``num_classes`` (or ``average``) to have it fixed.
        top_k: with scores, a label among the ``top_k`` highest counts as decided.
        threshold: decides scores of a single class: above it is 1. A finite number; between 0 and 1 the scores must be
            probabilities; for logits say 0.0. Where there is a score for each class the highest decides, and thresholds
            but 0.5 and 0.0, which decide alike between two, are refused.
        ignore_index: the label of positions that do not count.
        zero_division: the value where the denominator is 0: 0, 1, or nan, which leaves the class out of the mean. A
            weighted mean of classes without any label is their plain mean, as in scikit-learn.
        labels_present_only: True: a macro mean is over the classes that occur among labels or decisions, so it does not
            depend on ``num_classes``; this is scikit-learn's default and ours. False: over all ``num_classes``, which
            must be given, as scikit-learn's ``labels=range(num_classes)``. A multilabel problem has every column by
            default, as there.
        classes: the classes that enter micro, macro and weighted averages (scikit-learn's ``labels=``); "auto" is macro
            with them, and "binary" and "samples" are refused.
        weighted: True if every ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or of its first
            axes (rows, for multilabel). Sums of weights are exact. A class that occurs with a weight of 0 occurs.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes do not match, a label or a class id is out of range,
            ids have fractions, scores are NaN, probabilities lie outside [0, 1], multilabel rows have another width
            than before, sample ids are given (counts cannot tell repeated samples: mask them), or weights are given to
            a metric that is not ``weighted``, or not given to one that is; ``eval``: see ``Metric.eval``.
        TypeError: ``update``: for texts, or a mask that is not boolean.

    Definitions as in scikit-learn's ``precision_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> precision = Precision(average="macro")
    >>> precision.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> precision.eval()
    0.8333333333333334
    >>> precision.result()["per_class"]["precision"]
    [1.0, 0.5, 1.0]
    """

    _value_name = "precision"

    def _formula(self, totals: ClassTotals) -> tuple[Total, Total]:
        return _totals.precision(totals)


class Recall(ClassRate):
    r"""Recall :math:`\mathrm{TP} / (\mathrm{TP} + \mathrm{FN})`: the share of a class's labels that were decided so.

    Inputs, arguments, ``result()`` and errors are those of ``Precision``; the definition is that of scikit-learn's
    ``recall_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> recall = Recall(average="none")
    >>> recall.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> recall.eval().parts["per_class"]["recall"]
    [0.5, 1.0, 1.0]
    """

    _value_name = "recall"

    def _formula(self, totals: ClassTotals) -> tuple[Total, Total]:
        return _totals.recall(totals)


class FBetaScore(ClassRate):
    r"""F-beta :math:`(1+\beta^2) P R / (\beta^2 P + R)`: the harmonic mean of precision and recall, recall weighing
    beta^2.

    It is computed from counts as :math:`(1+\beta^2)\mathrm{TP} / ((1+\beta^2)\mathrm{TP} + \beta^2\mathrm{FN} +
    \mathrm{FP})`, so it is undefined (``zero_division``) only for a class that occurs neither among labels nor among
    decisions. A macro value is the mean of the classes' F, as in scikit-learn, not the F of mean precision and mean
    recall.

    Other inputs, arguments, ``result()`` (key ``fbeta``) and errors are those of ``Precision``; the definition is
    that of scikit-learn's ``fbeta_score``.

    Args:
        beta: > 0; above 1 recall weighs more.
        task: and all further arguments: see ``Precision``.

    Raises:
        ValueError: if beta is not a finite number > 0, and see ``Precision``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> score = FBetaScore(2.0, average="macro")
    >>> score.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> round(score.eval(), 4)
    0.7963
    """

    _value_name = "fbeta"

    def __init__(
        self, beta: float = 1.0, task: str = "classification", num_classes: int | None = None, **options: Any
    ) -> None:
        self.beta = finite_number(beta, "beta")
        if self.beta <= 0:
            raise ValueError(f"beta must be a finite number > 0, but got {beta}")
        self._square = _totals.exact_square(self.beta)
        super().__init__(task, num_classes, **options)

    def _formula_settings(self) -> dict[str, Any]:
        return {"beta": self.beta}

    def _formula(self, totals: ClassTotals) -> tuple[Total, Total]:
        return _totals.f_beta(totals, self._square)


class F1Score(ClassRate):
    r"""F1 :math:`2 P R / (P + R) = 2\mathrm{TP} / (2\mathrm{TP} + \mathrm{FN} + \mathrm{FP})`.

    Inputs, arguments, ``result()`` (key ``f1``) and errors are those of ``Precision``; the definition is that of
    scikit-learn's ``f1_score``, see ``FBetaScore``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> f1 = F1Score(task="classification", num_classes=2)
    >>> f1.update([0, 0, 1, 1, 0], [0, 1, 0, 1, 0])
    >>> f1.eval()
    0.5
    """

    _value_name = "f1"

    def _formula(self, totals: ClassTotals) -> tuple[Total, Total]:
        return _totals.f_beta(totals)
