"""The area under the ROC curve."""

from __future__ import annotations

import numpy as np

from mindeval.classification import _ranking
from mindeval.classification._ranking import Problem, Steps
from mindeval.classification._ranking_average import RankingAverage


class AUROC(RankingAverage):
    r"""The area under the ROC curve: the share of pairs of a positive and a negative that the scores order rightly.

    Ties count half: :math:`\bigl(\#\{s_+ > s_-\} + \tfrac12 \#\{s_+ = s_-\}\bigr) / (P N)`. The pairs are counted in
    integers, so the value is exact and rounded once.

    ``update(scores, labels[, mask[, sample_ids]])``, and ``weights=`` by keyword:

    =========== =========================================================== =======================================
    task        scores                                                      labels
    =========== =========================================================== =======================================
    binary      of class 1, in the labels' shape, or with a last axis of    0, 1 or ``ignore_index``, any shape
                1; or a last axis of 2: class 1 minus class 0, exactly
    multiclass  ``[..., C]``: each class against the rest                   class ids or ``ignore_index``
    both        ``[N, 2]`` or ``[N, C]``: the same, flattened               of N elements in all
    multilabel  ``[..., L]``                                                ``[..., L]``: 0, 1 or ``ignore_index``
    =========== =========================================================== =======================================

    Scores are any numbers but NaN, probabilities or logits: only their order matters and nothing is made of them.
    Logits of several classes are compared across rows as they are; for the order of probabilities give softmax.

    ``mode="exact"`` keeps each score: 8 bytes, and 8 more with sample ids (multiclass adds 8 for each row's label). 16
    more are kept of a binary score that one word does not hold: the difference of two columns that float64 would round,
    an infinity, or a magnitude below 2^-511 or from 2^512.
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
        ValueError: for unknown arguments; ``update``: if shapes do not match, a label is out of range, a score is NaN,
            integers lie beyond 2^53, two columns have no difference (infinities of one sign), an id came with two
            contents, or ids came for some rows only; ``eval``: see ``Metric.eval``.

    With labels of one kind only the value is nan, with a ``RuntimeWarning``. One-hot labels get one too, where neither
    ``task`` nor more than two ``num_classes`` were said: they would be labels of one binary problem.

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
