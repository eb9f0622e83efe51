"""Errors of constructors that begin with the name of the metric."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def errors_of(metric: str) -> Iterator[None]:
    """Let the errors in the block begin with "For 'PassAtK', ...".

    >>> with errors_of("PassAtK"):
    ...     raise ValueError("k must be an int")
    Traceback (most recent call last):
    ValueError: For 'PassAtK', k must be an int
    """
    try:
        yield
    except (TypeError, ValueError, KeyError) as error:
        if str(error).startswith("For '"):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"For '{metric}', {error}") from error


def one_of(value: Any, what: str, known: tuple) -> Any:
    """The value, if it is one of those known.

    >>> one_of("b", "mode", ("a", "b"))
    'b'
    """
    if not isinstance(value, (str, type(None))) or value not in known:
        raise ValueError(f"{what} must be one of {list(known)}, but got {value!r}")
    return value


def flag(value: Any, what: str) -> bool:
    """The value, if it is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, but got {value!r}")
    return value
