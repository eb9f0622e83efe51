"""The Jaccard index (intersection over union) of class decisions."""

from __future__ import annotations

from mindeval.classification import _totals
from mindeval.classification._rates import ClassRate
from mindeval.classification._totals import ClassTotals, Total


class JaccardIndex(ClassRate):
    r"""The Jaccard index :math:`\mathrm{TP} / (\mathrm{TP} + \mathrm{FP} + \mathrm{FN})`, or intersection over union.

    Inputs, arguments, ``result()`` (key ``jaccard``) and errors are those of ``Precision``; the definition is that of
    scikit-learn's ``jaccard_score``. With labels ``[B, H, W]`` and ``average="macro"`` it is the mean IoU of
    segmentation.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> jaccard = JaccardIndex(average="macro")
    >>> jaccard.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> jaccard.eval()  # the mean of 1/2, 1/2 and 1
    0.6666666666666666
    """

    _value_name = "jaccard"

    def _formula(self, totals: ClassTotals) -> tuple[Total, Total]:
        return _totals.jaccard(totals)
