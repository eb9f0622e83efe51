"""The bases of the metrics of probabilities: their arguments, how a batch is read, and means of losses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import exact, inputs
from mindeval.classification._arguments import check_weights
from mindeval.classification._probabilities import Probabilities, read_probabilities
from mindeval.classification._task_metric import TaskMetric
from mindeval.classification._widths import widths_added
from mindeval.state import Count, ExactSum, State


class ProbabilityMetric(TaskMetric):
    """A metric of probabilities or logits. A subclass says besides what a batch adds to its states."""

    higher_is_better = False

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
        self.from_logits = from_logits
        super().__init__(task, num_classes, ignore_index, weighted, distributed=distributed, name=name)

    def _described(self) -> dict[str, Any]:
        return {**super()._described(), "input": "logits" if self.from_logits else "probabilities"}

    def _of_batch(self, batch: Probabilities) -> dict[str, Any]:
        """What a batch adds to the states."""
        raise TypeError(f"{type(self).__name__} must define _of_batch()")

    def _contribution(
        self, probabilities: Any, labels: Any, mask: Any = None, sample_ids: Any = None
    ) -> dict[str, Any]:
        return self._of_inputs(probabilities, labels, mask, sample_ids, None)

    def _of_inputs(self, probabilities: Any, labels: Any, mask: Any, sample_ids: Any, weights: Any) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
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
        width = widths_added(self._states, batch.width)
        return {**self._of_batch(batch), **width, "samples": batch.samples}


class MeanLoss(ProbabilityMetric):
    """The mean of a loss of probabilities."""

    _value_name = ""

    def _empty_states(self) -> dict[str, State]:
        if self.weighted:
            return {"total": exact.product_sums(2), "weight": ExactSum()}
        return {"total": ExactSum(), "weight": Count()}

    def _contribution(
        self, probabilities: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        return self._of_inputs(probabilities, labels, mask, sample_ids, weights)

    def _losses(self, batch: Probabilities) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _losses()")

    def _of_batch(self, batch: Probabilities) -> dict[str, Any]:
        losses, weights = self._losses(batch), batch.weights
        if weights is None:
            return {"total": losses, "weight": losses.size}
        finite = np.isfinite(losses)
        total = exact.products(losses[finite], weights[finite])
        return {"total": exact.joined(total, {0: losses[~finite & (weights > 0)]}), "weight": weights}

    def _results(self, states: Any) -> dict[str, Any]:
        total, weight = states["total"], exact.total(states["weight"])
        value = float("nan")
        if weight:
            beyond = exact.non_finite(total)
            value = exact.number(Fraction(exact.total(total)) / weight) if beyond is None else beyond
        return {self._value_name: value, "weight": exact.number(weight) if self.weighted else int(weight)}
