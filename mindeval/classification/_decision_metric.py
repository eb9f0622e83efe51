"""The base of the metrics that count decisions: their arguments, and how a batch is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.classification._arguments import check_classes, check_threshold, check_top_k, check_weights
from mindeval.classification._decisions import Decisions, decide
from mindeval.classification._flags import Flags, decide_flags
from mindeval.classification._task_metric import TaskMetric, unusual
from mindeval.classification._widths import widths_added


class DecisionMetric(TaskMetric):
    """A metric that adds up what was decided.

    A subclass says besides what decisions and flags add to its states. The arguments are documented at ``Precision``.
    """

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        threshold: float = 0.5,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        top_k: int = 1,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.top_k, self.threshold = check_top_k(top_k, check_classes(num_classes, task)), check_threshold(threshold)
        super().__init__(task, num_classes, ignore_index, weighted, distributed=distributed, name=name)

    def _described(self) -> dict[str, Any]:
        return super()._described() | unusual({"top_k": (self.top_k, 1), "threshold": (self.threshold, 0.5)})

    def _of_decisions(self, decisions: Decisions) -> dict[str, Any]:
        """What a batch of binary or multiclass decisions adds to the states."""
        raise TypeError(f"{type(self).__name__} must define _of_decisions()")

    def _of_flags(self, flags: Flags) -> dict[str, Any]:
        """What a batch of multilabel decisions adds to the states."""
        raise TypeError(f"{type(self).__name__} must define _of_flags()")

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        check_weights(weights, self.weighted)
        options: dict[str, Any] = {
            "num_classes": self.num_classes,
            "threshold": self.threshold,
            "ignore_index": self.ignore_index,
        }
        if self.task == "multilabel":
            flags = decide_flags(predictions, labels, mask, weights, **options)
            width = widths_added(self._states, flags.labels.shape[1])
            return {**self._of_flags(flags), **width, "samples": flags.samples}
        decisions = decide(predictions, labels, mask, weights, task=self.task, top_k=self.top_k, **options)
        return {**self._of_decisions(decisions), "samples": decisions.samples()}


def flat(flags: Flags, ignore_index: int) -> Decisions:
    """Each label of each row as one binary decision."""
    spread = None
    if flags.weights is not None:
        spread = np.broadcast_to(flags.weights[:, None], flags.labels.shape).reshape(-1)
    decided, truth, counted = (array.reshape(-1) for array in (flags.predictions, flags.labels, flags.counted))
    return Decisions(decided, truth, counted, spread, ignore_index, 2, 2, len(flags.labels))
