"""Count and Counts: whole numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindeval.state.base import State


class Count(State):
    """A non-negative integer of any size.

    >>> count = Count()
    >>> count.add(3)
    >>> count.value
    3
    """

    def __init__(self) -> None:
        self.value = 0

    def zero(self) -> Count:
        return Count()

    def add(self, contribution: Any) -> None:
        number = int(contribution)
        if number != contribution or number < 0:
            raise ValueError(f"a Count takes whole numbers >= 0, but got {contribution!r}")
        self.value += number

    def merge(self, other: Count) -> None:
        self.value += other.value

    @property
    def size(self) -> int:
        return 1

    def pack(self, world: int) -> np.ndarray:
        check_fits(self.value, world)
        return np.array([self.value], np.int64)

    def unpack(self, words: np.ndarray) -> None:
        self.value = int(words[0])

    def state(self) -> int:
        return self.value

    def load(self, saved: int) -> None:
        self.value = loaded_count(saved)


class Counts(State):
    """An int64 array of counts of a shape that is known at construction.

    >>> counts = Counts((2,))
    >>> counts.add(np.array([1, 2]))
    >>> counts.value
    array([1, 2])
    """

    def __init__(self, shape: int | tuple[int, ...]) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self.value = np.zeros(self.shape, np.int64)

    def zero(self) -> Counts:
        return Counts(self.shape)

    @property
    def layout(self) -> str:
        return f"Counts{list(self.shape)}"

    def add(self, contribution: Any) -> None:
        array = np.asarray(contribution)
        if array.shape != self.shape or array.dtype.kind not in "iub":
            raise ValueError(
                f"Counts takes integers of shape {list(self.shape)}, but got {array.dtype} {list(array.shape)}"
            )
        if array.size and (array.min() < 0 or int(array.max()) >= _INT64_LIMIT):
            raise ValueError(f"Counts takes numbers in [0, 2^63), but got {array.min()} to {array.max()}")
        self._take(self.value + array.astype(np.int64))

    def _take(self, value: np.ndarray) -> None:
        if value.size and value.min() < 0:  # the sum of two numbers below 2^63 that is not one itself
            raise OverflowError("counts of 2^63 and more do not fit int64")
        self.value = value

    def check_merge(self, other: Counts) -> None:
        if self.size:
            check_fits(int(self.value.max()) + int(other.value.max()), 1)

    def merge(self, other: Counts) -> None:
        self._take(self.value + other.value)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def pack(self, world: int) -> np.ndarray:
        if self.size:
            check_fits(int(self.value.max()), world)
        return self.value.reshape(-1)

    def unpack(self, words: np.ndarray) -> None:
        self.value = np.array(words, np.int64).reshape(self.shape)

    def state(self) -> list:
        return self.value.tolist()

    def load(self, saved: Any) -> None:
        loaded = np.asarray(saved)
        if loaded.shape != self.shape or (loaded.size and (loaded.dtype.kind != "i" or loaded.min() < 0)):
            raise ValueError(f"saved counts must be integers >= 0 of shape {list(self.shape)}, but got {saved!r}")
        self.value = loaded.astype(np.int64)


_INT64_LIMIT = 2**63


def check_fits(magnitude: int, world: int) -> None:
    if magnitude * world >= _INT64_LIMIT:
        raise OverflowError(f"a count of {magnitude} does not fit an int64 sum over {world} ranks")


def loaded_count(saved: Any) -> int:
    """A saved count, checked."""
    if isinstance(saved, bool) or not isinstance(saved, int) or saved < 0:
        raise ValueError(f"a saved count must be an int >= 0, but got {saved!r}")
    return saved
