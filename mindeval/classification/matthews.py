"""Matthews correlation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mindeval import rounding
from mindeval.classification._agreement import Agreement, margins
from mindeval.exact import number


class MatthewsCorrCoef(Agreement):
    r"""Matthews correlation of labels and decisions, in [-1, 1].

    With c right ones of s, and class k labelled :math:`t_k` and decided :math:`p_k` times,
    :math:`(c s - \sum_k t_k p_k) / \sqrt{(s^2 - \sum_k p_k^2)(s^2 - \sum_k t_k^2)}`. The products are exact integers
    of any size, and the value is rounded once. Where all labels, or all decisions, are of one class it is 0, as in
    scikit-learn.

    Inputs are those of ``Precision``; for multilabel each label of each row is one binary decision. ``result()``:
    ``matthews_corrcoef`` and ``total``.

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked; it never changes the value.
        threshold: see ``Precision``.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``, see ``Precision``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``Precision``.

    The definition is that of Gorodkin, *Comparing two K-category assignments by a K-category correlation coefficient*
    (Comput. Biol. Chem. 28, 2004), and of scikit-learn's ``matthews_corrcoef``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> correlation = MatthewsCorrCoef()
    >>> correlation.update([2, 1, 0, 1], [2, 1, 0, 0])
    >>> correlation.eval()
    0.7
    """

    def _results(self, states: Any) -> dict[str, Any]:
        table, total = margins(states)
        rows = table.values()
        covariance = total * sum(row.correct for row in rows) - sum(row.labelled * row.predicted for row in rows)
        of_labels = total**2 - sum(row.labelled**2 for row in rows)
        of_decisions = total**2 - sum(row.predicted**2 for row in rows)
        value = 0.0
        if of_labels and of_decisions:
            value = rounding.sqrt(Fraction(covariance) ** 2 / (Fraction(of_labels) * of_decisions))
        return {
            "matthews_corrcoef": -value if covariance < 0 else value,
            "total": number(total) if self.weighted else int(total),
        }
