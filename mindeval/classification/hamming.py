"""The Hamming loss: the share of labels that were decided wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import exact
from mindeval.classification import _totals
from mindeval.classification._decision_metric import DecisionMetric, flat
from mindeval.classification._decisions import Decisions
from mindeval.classification._flags import Flags
from mindeval.state import Count, ExactSum, State


class HammingLoss(DecisionMetric):
    r"""The share of labels that were decided wrongly: of all labels of all rows for multilabel, 1 - accuracy otherwise.

    Inputs are those of ``Precision``. ``result()``: ``hamming_loss``, ``wrong`` and ``total`` (numbers of labels, or
    sums of their weights).

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes (of labels, for multilabel), if it is to be checked.
        threshold: see ``Precision``.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=``, see ``Precision``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``Precision``.

    The definition is that of scikit-learn's ``hamming_loss``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> loss = HammingLoss(task="multilabel")
    >>> loss.update([[0.9, 0.2], [0.1, 0.7]], [[1, 1], [0, 1]])
    >>> loss.eval()
    0.25
    """

    higher_is_better = False

    def _empty_states(self) -> dict[str, State]:
        total: State = ExactSum() if self.weighted else Count()
        return {"wrong": total.zero(), "total": total}

    def _of_flags(self, flags: Flags) -> dict[str, Any]:
        return self._of_decisions(flat(flags, self.ignore_index))

    def _of_decisions(self, decisions: Decisions) -> dict[str, Any]:
        parts = [(block.predictions != block.labels, block.weights) for block in decisions.blocks()]
        if not self.weighted:
            wrong_labels = sum(int(np.count_nonzero(wrong)) for wrong, _ in parts)
            return {"wrong": wrong_labels, "total": sum(wrong.size for wrong, _ in parts)}
        wrong = np.concatenate([np.zeros(0, bool), *(wrong for wrong, _ in parts)])
        weight = np.concatenate([np.zeros(0), *(part for _, part in parts if part is not None)])
        return {"wrong": weight[wrong], "total": weight}

    def _results(self, states: Any) -> dict[str, Any]:
        wrong, total = exact.total(states["wrong"]), exact.total(states["total"])
        plain: Any = exact.number if self.weighted else int
        return {"hamming_loss": _totals.ratio(wrong, total, float("nan")), "wrong": plain(wrong), "total": plain(total)}
