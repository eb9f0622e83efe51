"""State: what every state offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


class State:
    """What every state offers.

    ``add`` takes a contribution, ``merge`` another state of the same layout, which it leaves as it is. ``pack`` gives
    the int64 words whose element-wise sum over the ranks ``unpack`` turns into the merged state. A state is *dynamic*
    when its number of words is not known beforehand (rows, groups that are discovered): its ranks first exchange
    ``announce()`` and ``absorb`` what all announced.
    """

    dynamic = False

    def zero(self) -> State:
        """An empty state of the same layout."""
        raise TypeError(f"{type(self).__name__} must define zero()")

    @property
    def layout(self) -> str:
        """The kind and shape of the state: ranks whose layouts differ cannot be summed."""
        return type(self).__name__

    def add(self, contribution: Any) -> None:
        raise TypeError(f"{type(self).__name__} must define add()")

    def merge(self, other: Any) -> None:
        raise TypeError(f"{type(self).__name__} must define merge()")

    def check_merge(self, other: Any) -> None:
        """Raise a ValueError where ``merge`` could not take the other state; ``merge`` itself then never fails."""

    def pack(self, world: int) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define pack()")

    def unpack(self, words: np.ndarray) -> None:
        raise TypeError(f"{type(self).__name__} must define unpack()")

    @property
    def size(self) -> int:
        """The number of int64 words of ``pack``."""
        raise TypeError(f"{type(self).__name__} must define size")

    def announce(self) -> bytes:
        raise TypeError(f"{type(self).__name__} has nothing to announce")

    def absorb(self, announced: list[bytes]) -> None:
        raise TypeError(f"{type(self).__name__} has nothing to absorb")

    def state(self) -> Any:
        """The content as JSON-ready data."""
        raise TypeError(f"{type(self).__name__} must define state()")

    def load(self, saved: Any) -> None:
        """Replace the content by what ``state()`` gave."""
        raise TypeError(f"{type(self).__name__} must define load()")


def check_names(given: Any, expected: Iterable[Any], must_be: str) -> None:
    """Raise a ValueError that names which entries of a dict are missing, and which are unknown.

    >>> check_names({"units": 1, "total": 2}, ("units", "nan"), "a saved sum must have")
    Traceback (most recent call last):
    ValueError: a saved sum must have ['units', 'nan']: missing are ['nan'], unknown are ['total']
    """
    known = dict.fromkeys(expected)
    if not isinstance(given, Mapping):
        raise ValueError(f"{must_be} {_shown(list(known))}, but got {given!r:.80}")
    missing = [name for name in known if name not in given]
    unknown = [name for name in given if name not in known]
    parts = [f"{what} are {_shown(names)}" for what, names in (("missing", missing), ("unknown", unknown)) if names]
    if parts:
        raise ValueError(f"{must_be} {_shown(list(known))}: {', '.join(parts)}")


def _shown(names: list[Any], most: int = 8) -> str:
    return str(names) if len(names) <= most + 1 else f"{str(names[:most])[:-1]}, ... {len(names)} in all]"
