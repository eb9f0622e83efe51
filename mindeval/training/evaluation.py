"""Evaluation: what one evaluation gave. How it is made, kept and decided on is in the callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mindeval.training.numbers import as_float


class Evaluation(NamedTuple):
    """What one evaluation gave: its step, values by name, and which of them are better when higher (None: unknown)."""

    step: int
    metrics: dict[str, Any]
    higher_is_better: dict[str, bool | None]


def evaluation_of(step: int, values: Mapping[str, Any], higher: Mapping[str, bool | None] | None = None) -> Evaluation:
    """Of values by name; ``higher`` says which are better when higher, where the values do not say it themselves."""
    metrics = {name: _number(value) for name, value in values.items()}
    directions = {n: (higher or {}).get(n, getattr(value, "higher_is_better", None)) for n, value in metrics.items()}
    return Evaluation(step, metrics, directions)


def _number(value: Any) -> Any:
    """A Score or a number of Python as it is; what is one number as a float."""
    number = None if isinstance(value, (int, float)) else as_float(value)
    return value if number is None else number
