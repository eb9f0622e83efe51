"""The base of the metrics that add up decisions or losses: what all of them take, show and check."""

from __future__ import annotations

from typing import Any

from mindeval import inputs
from mindeval.classification._arguments import check_classes, check_task
from mindeval.classification._widths import check_widths, widths_states
from mindeval.metric import Metric
from mindeval.state import State


class TaskMetric(Metric):
    """A metric of one of the tasks. A subclass says which states it has, and what they are worth.

    What it needs of its own arguments it sets before it calls ``__init__``. The arguments are documented at
    ``Precision``.
    """

    def __init__(
        self,
        task: str,
        num_classes: int | None,
        ignore_index: int,
        weighted: bool,
        *,
        distributed: bool | str,
        name: str | None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        self.weighted = weighted
        states = {**self._empty_states(), **widths_states(self.task, self.num_classes)}
        super().__init__(states=states, settings=self._described(), distributed=distributed, name=name)

    def _described(self) -> dict[str, Any]:
        """The settings of the signature: the main ones always, the rare ones where they are not the default."""
        rare = {"num_classes": (self.num_classes, None), "weighted": (self.weighted, False)}
        return {**self._own_settings(), "task": self.task, "ignore": self.ignore_index} | unusual(rare)

    def _own_settings(self) -> dict[str, Any]:
        """What the signature shows besides the arguments of all."""
        return {}

    def _empty_states(self) -> dict[str, State]:
        raise TypeError(f"{type(self).__name__} must define _empty_states()")

    def _results(self, states: Any) -> dict[str, Any]:
        """``_compute`` of sound states."""
        raise TypeError(f"{type(self).__name__} must define _results()")

    def _compute(self, states: Any) -> dict[str, Any]:
        check_widths(states)
        return self._results(states)


def unusual(rare: dict[str, tuple]) -> dict[str, Any]:
    """The values, of name -> (value, default), that are not the default."""
    return {name: value for name, (value, default) in rare.items() if value != default}
