"""What the constructors of all metrics have in common: flags are checked, and errors say whose they are."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def checked(init: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` whose parameters annotated ``bool`` or ``bool | None`` take nothing else, and whose errors begin
    with the name of the class.

    >>> class Rate:
    ...     @checked
    ...     def __init__(self, lowercase: bool = False): ...
    >>> Rate(lowercase="no")
    Traceback (most recent call last):
    TypeError: For 'Rate', lowercase must be True or False, but got 'no'
    """
    signature = inspect.signature(init)
    flags = {
        name: (bool,) if parameter.annotation in ("bool", bool) else (bool, type(None))
        for name, parameter in signature.parameters.items()
        if parameter.annotation in ("bool", bool, "bool | None")
    }

    @functools.wraps(init)
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        try:
            arguments = signature.bind(self, *given, **named).arguments
            for flag, kinds in flags.items():
                if not isinstance(arguments.get(flag, False), kinds):
                    raise TypeError(f"{flag} must be True or False, but got {arguments[flag]!r}")
            init(self, *given, **named)
        except (TypeError, ValueError) as error:
            if str(error).startswith("For '"):
                raise
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"For '{type(self).__name__}', {error}") from error

    return __init__


def one_of(value: Any, what: str, known: Sequence[Any]) -> Any:
    """The value, if it is one of those known (names, and None).

    >>> one_of("b", "mode", ("a", "b"))
    'b'
    """
    if not isinstance(value, (str, type(None))) or value not in known:
        raise ValueError(f"{what} must be one of {list(known)}, but got {value!r}")
    return value


def finite_number(value: Any, what: str) -> float:
    """A real number as a finite float; bool and text are refused.

    >>> finite_number(np.int32(2), "beta")
    2.0
    """
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise ValueError(f"{what} must be a finite number, but got {value!r}")
