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
        self.value = int(saved)


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
        self.value = self.value + array.astype(np.int64)

    def merge(self, other: Counts) -> None:
        self.value = self.value + other.value

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def pack(self, world: int) -> np.ndarray:
        if self.size:
            check_fits(max(int(self.value.max()), -int(self.value.min())), world)
        return self.value.reshape(-1)

    def unpack(self, words: np.ndarray) -> None:
        self.value = np.array(words, np.int64).reshape(self.shape)

    def state(self) -> list:
        return self.value.tolist()

    def load(self, saved: Any) -> None:
        self.value = np.asarray(saved, np.int64).reshape(self.shape)


_INT64_LIMIT = 2**63


def check_fits(magnitude: int, world: int) -> None:
    if magnitude * world >= _INT64_LIMIT:
        raise OverflowError(f"a count of {magnitude} does not fit an int64 sum over {world} ranks")
