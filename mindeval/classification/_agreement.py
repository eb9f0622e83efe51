"""The base of the measures of agreement: Matthews correlation and Cohen's kappa."""

from __future__ import annotations

from typing import Any

from mindeval.classification import _totals
from mindeval.classification._decision_metric import DecisionMetric, flat
from mindeval.classification._decisions import Decisions
from mindeval.classification._flags import Flags
from mindeval.classification._totals import ClassTotals, Total
from mindeval.state import State


class Agreement(DecisionMetric):
    """A measure of the totals of each class: memory is that of the classes. Multilabel flags are binary decisions."""

    higher_is_better = True

    def _empty_states(self) -> dict[str, State]:
        return {"classes": _totals.totals_state(self._number_of_classes, self.weighted)}

    @property
    def _number_of_classes(self) -> int | None:
        return 2 if self.task == "multilabel" else self.num_classes

    def _of_decisions(self, decisions: Decisions) -> dict[str, Any]:
        return {"classes": _totals.count_totals(decisions, self._number_of_classes, self.weighted)}

    def _of_flags(self, flags: Flags) -> dict[str, Any]:
        return self._of_decisions(flat(flags, self.ignore_index))


def margins(states: Any) -> tuple[dict[int, ClassTotals], Total]:
    """The totals of each class, and the number (or weight) of all decisions."""
    table = _totals.read_totals(states["classes"])
    return table, sum(row.labelled for row in table.values())
