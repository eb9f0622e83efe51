"""Multilabel rows of undeclared width: all must have one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mindeval.state import Count, Grouped, State


class Widths(Grouped):
    """How many updates had rows of each width. An update or a merge that brings a second width is refused."""

    def __init__(self) -> None:
        super().__init__(Count())

    def zero(self) -> Widths:
        return Widths()

    def check_merge(self, other: Any) -> None:
        _check_one({**self.value, **other.value})


def widths_states(task: str, num_classes: int | None) -> dict[str, State]:
    """The state a metric needs to see that multilabel rows of undeclared width have one."""
    return {"widths": Widths()} if task == "multilabel" and num_classes is None else {}


def widths_added(states: Mapping[str, State], width: int) -> dict[str, Any]:
    """What an update adds to ``widths_states``."""
    return {"widths": {width: 1}} if "widths" in states else {}


def check_widths(states: Mapping[str, Any]) -> None:
    """Raise a ValueError if rows of two widths came together from several ranks."""
    if "widths" in states:
        _check_one(states["widths"].value)


def _check_one(widths: Iterable[Any]) -> None:
    seen = sorted(widths)
    if len(seen) > 1:
        raise ValueError(
            f"multilabel rows must have one width, but got rows of {seen[0]} labels and of {seen[1]}: say num_classes="
        )
