"""What counts as one number in histories and scores."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np


def as_float(value: Any) -> float | None:
    """A real number, or an array or a Tensor of one, as a float; None for anything else, bool among it.

    A whole number beyond the floats is infinite.

    >>> as_float(np.float32(0.5)), as_float(np.array([2])), as_float(True), as_float("1")
    (0.5, 2.0, None, None)
    """
    value = as_array_or_number(value)
    if isinstance(value, np.ndarray):
        if value.size != 1:
            return None
        value = value.reshape(())[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def as_array_or_number(value: Any) -> Any:
    """A MindSpore Tensor as an array; anything else as it is."""
    if type(value).__module__.split(".")[0] == "mindspore" and hasattr(value, "asnumpy"):
        from mindeval import inputs  # imports MindSpore, which histories do without

        return inputs.to_numpy(value, "a value")
    return value
