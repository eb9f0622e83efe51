"""Checks of what the callbacks are made with."""

from __future__ import annotations

import math
import os
from typing import Any

from mindeval.inputs import whole_number
from mindeval.training.numbers import as_float


def whole(value: Any, least: int, what: str) -> int:
    """An int that is large enough; True and 3.0 are none."""
    number = whole_number(value, what)
    if number < least:
        raise ValueError(f"{what} must be an int of at least {least}, but got {value!r}")
    return number


def not_negative(value: Any, what: str) -> float:
    """A finite number that is not below 0."""
    number = None if isinstance(value, str) else as_float(value)
    if number is None:
        raise TypeError(f"{what} must be a number >= 0, but got {value!r}")
    if not 0 <= number < math.inf:
        raise ValueError(f"{what} must be a number >= 0, but got {value!r}")
    return number


def flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, but got {value!r}")
    return value


def name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be a name, but got {value!r}")
    return value


def on_error(value: Any, what: str) -> str:
    if not isinstance(value, str) or value not in ("raise", "log"):
        raise ValueError(f"{what} must be 'raise' or 'log', but got {value!r}")
    return value


def file_path(value: Any, what: str) -> str | os.PathLike:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what} must be a path, but got {value!r}")
    return value
