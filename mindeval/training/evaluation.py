"""Evaluation: what one evaluation gave. How it is made, kept and decided on is in the callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np

from mindeval import inputs


class Evaluation(NamedTuple):
    """What one evaluation gave: its step, values by name, and which of them are better when higher (None: unknown)."""

    step: int
    metrics: dict[str, Any]
    higher_is_better: dict[str, bool | None]


def evaluation_of(step: int, values: Mapping[str, Any], higher: Mapping[str, bool | None] | None = None) -> Evaluation:
    metrics = {name: _number(value) for name, value in values.items()}
    directions = {n: (higher or {}).get(n, getattr(value, "higher_is_better", None)) for n, value in metrics.items()}
    return Evaluation(step, metrics, directions)


def _number(value: Any) -> Any:
    """A Score as it is; what is one number as a float."""
    if isinstance(value, float):
        return value
    if isinstance(value, (ms.Tensor, np.ndarray, np.generic)) and np.size(inputs.to_numpy(value, "a value")) == 1:
        return float(inputs.to_numpy(value, "a value").reshape(()))
    return value
