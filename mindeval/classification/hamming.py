"""The Hamming loss: the share of labels that were decided wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.classification._decisions import (
    check_classes,
    check_task,
    check_threshold,
    check_weights,
    decide,
    decide_flags,
    named_errors,
)
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum


class HammingLoss(Metric):
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

    @named_errors
    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        threshold: float = 0.5,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        self.threshold, self.weighted = check_threshold(threshold), bool(weighted)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        settings = {"task": task, "ignore": self.ignore_index, "threshold": self.threshold}
        total = ExactSum() if self.weighted else Count()
        super().__init__(
            states={"wrong": total.zero(), "total": total},
            settings=settings | ({"weighted": True} if self.weighted else {}),
            distributed=distributed,
            name=name,
        )

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        options: dict[str, Any] = {
            "num_classes": self.num_classes,
            "threshold": self.threshold,
            "ignore_index": self.ignore_index,
        }
        if self.task == "multilabel":
            flags = decide_flags(predictions, labels, mask, weights, **options)
            wrong = (flags.predictions != flags.labels) & flags.counted
            spread = None if flags.weights is None else np.broadcast_to(flags.weights[:, None], wrong.shape)
            parts, samples = [(wrong[flags.counted], None if spread is None else spread[flags.counted])], flags.samples
        else:
            decisions = decide(predictions, labels, mask, weights, task=self.task, **options)
            parts = [(block.predictions != block.labels, block.weights) for block in decisions.blocks()]
            samples = decisions.samples()
        if not self.weighted:
            wrong_labels = sum(int(np.count_nonzero(wrong)) for wrong, _ in parts)
            return {"wrong": wrong_labels, "total": sum(wrong.size for wrong, _ in parts), "samples": samples}
        wrong = np.concatenate([np.zeros(0, bool), *(wrong for wrong, _ in parts)])
        weight = np.concatenate([np.zeros(0), *(part for _, part in parts if part is not None)])
        return {"wrong": weight[wrong], "total": weight, "samples": samples}

    def _compute(self, states: Any) -> dict[str, Any]:
        wrong, total = states["wrong"], states["total"]
        if not self.weighted:
            value = wrong.value / total.value
            return {"hamming_loss": value, "wrong": wrong.value, "total": total.value}
        weight = total.fraction()
        value = float(wrong.fraction() / weight) if weight else float("nan")
        return {"hamming_loss": value, "wrong": wrong.over(), "total": total.over()}
